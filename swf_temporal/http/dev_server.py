"""A development server: a Temporal server with its UI, and a worker that follows the files of a folder."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

from swf_temporal.base.errors import MissingExtra, Problem, UsageError
from swf_temporal.base.stopping import stop_signal
from swf_temporal.http.gateway.serving import GATEWAY_PORT, gateway, is_installed
from swf_temporal.operations.client import Client
from swf_temporal.sdk.consuming import consuming
from swf_temporal.sdk.documents import missing
from swf_temporal.sdk.event_router import Router
from swf_temporal.sdk.function_modules import FollowedModules
from swf_temporal.sdk.logs import log_lines
from swf_temporal.sdk.metrics import export_metrics
from swf_temporal.sdk.rereading import LiveCatalogue
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Settings, read_settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.payloads import PLAIN, PayloadSettings
from swf_temporal.settings.values import TASK_QUEUE, Address, LogFormat
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.constants import DEFAULT_PORT
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.search_attributes import needed_by, set_up
from swf_temporal.temporal.server import local_server

Tell = Callable[[str], None]
"""Is called with news, in texts that may have several lines."""

_INTERVAL = 1.0
"""Seconds between two checks of the files."""


@dataclass(frozen=True, slots=True)
class Listening:
    """The ports of the server, its UI and the gateway, and the file of the server's database."""

    port: int
    ui_port: int
    database: Path
    gateway_port: int | None = None
    """The port of the gateway; None for the default one, or a free one if that is taken."""


@dataclass(frozen=True, slots=True)
class Development:
    live: LiveCatalogue
    functions: FollowedModules
    call_settings: Settings
    settings: WorkerSettings
    listening: Listening
    tell: Tell
    payloads: PayloadSettings = PLAIN
    events: EventSettings = field(default_factory=EventSettings)
    gateway: GatewaySettings = field(default_factory=GatewaySettings)

    async def serve(self) -> int:
        """Serve the folder until the process is asked to stop; return the exit code."""
        export_metrics(self.settings.metrics)
        stopping = stop_signal()
        at = self.listening
        async with (
            codec_for_ui(self.payloads, at.ui_port, self.tell) as codec,
            local_server(
                port=at.port, ui_port=at.ui_port, database=at.database, extra=codec, payloads=self.payloads
            ) as server,
        ):
            await self._register(server)
            router = Router(Client.of(server), self.live, self.settings.task_queue, max_hops=self.events.max_hops)
            async with AsyncExitStack() as stack:
                gateway = None
                while not stopping.is_set():
                    async with self._worker(server) as worker:
                        if gateway is None:
                            await stack.enter_async_context(consuming(self.events, self.call_settings, router))
                            gateway = await stack.enter_async_context(self._gateway(server))
                            self.tell(self._explanation(server, gateway))
                        await self._follow(worker, server, stopping)
            self.tell("stopping the server")
        return 0

    def _worker(self, server: Server) -> Worker:
        return Worker(
            Client.of(server),
            definitions=self.live,
            functions=self.functions.registry,
            settings=self.settings,
            call_settings=self.call_settings,
            events=self.events,
        )

    async def _register(self, server: Server) -> None:
        """Register the search attributes that instances set, if they do; report why if that fails."""
        if self.settings.search_attributes:
            try:
                await set_up(server.client, needed_by(self.live))
            except UsageError as error:
                self.tell(str(error))

    async def _follow(self, worker: Worker, server: Server, stopping: asyncio.Event) -> None:
        """Read files again when they change, and report the changes. Return when functions have changed."""
        seen, known = 0, list[Problem]()
        while not stopping.is_set() and not self._have_functions_changed():
            self._tell_all(self.live.refresh())
            if seen != self.live.revision:
                await self._register(server)
                before, seen, known = known, self.live.revision, await missing(self.live, worker.functions)
                self._tell_all(str(problem) for problem in known if problem not in before)
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), _INTERVAL)

    def _have_functions_changed(self) -> bool:
        try:
            changed = self.functions.refresh()
        except UsageError as error:
            self.tell(f"{error}; the previous functions are served")
            return False
        if changed:
            self.tell("the functions have changed: the worker starts again with them")
        return changed

    def _tell_all(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.tell(text)

    @asynccontextmanager
    async def _gateway(self, server: Server) -> AsyncIterator[str | None]:
        """Serve the gateway on this machine only, if its extra is installed; yield its URL."""
        if not is_installed():
            yield None
            return

        def at(port: int) -> AbstractAsyncContextManager[str]:
            settings = self.gateway.replace(address=Address(_LOOPBACK, port))
            return gateway(settings, self.live, {None: Client.of(server)}, "choose another with --gateway-port")

        wanted = self.listening.gateway_port
        async with AsyncExitStack() as stack:
            try:
                url = await stack.enter_async_context(at(GATEWAY_PORT if wanted is None else wanted))
            except UsageError:
                if wanted is not None:
                    raise
                url = await stack.enter_async_context(at(0))
            yield url

    def _explanation(self, server: Server, gateway_url: str | None) -> str:
        port, task_queue = self.listening.port, self.settings.task_queue
        example = next((workflow.id for workflow in self.live), "ID")
        command = f"swf start {example} --input '{{}}'"
        if task_queue != TASK_QUEUE:
            command += f" --task-queue {task_queue}"
        if port != DEFAULT_PORT:
            command += f" --address 127.0.0.1:{port}"
        places = [f"server 127.0.0.1:{port}", f"UI {server.ui}"]
        if gateway_url:
            places = [f"console {gateway_url}/console", *places, f"gateway {gateway_url}"]
        return f"ready: {', '.join(places)}\nstart an instance with\n  {command}"


def prepare(
    folder: Path,
    listening: Listening,
    *,
    functions: Iterable[str] = (),
    config: Path | None = None,
    strict: bool = False,
    gateway: Mapping[str, object] | None = None,
    tell: Tell,
    **options: object,
) -> Development:
    """Return a server for the definitions in *folder*, and log to stderr as its settings say. Raises UsageError.

    *functions* are Python files and modules. News is passed to *tell*, or logged if the log is in a format for
    programs. *gateway* are settings of the gateway. *options* override the settings of the worker in the
    configuration and the environment.
    """
    if listening.port == listening.ui_port:
        raise UsageError(f"--port and --ui-port are both {listening.port}", "the server and its UI have a port each")
    live = LiveCatalogue(folder, strict=strict)
    call_settings = read_settings(os.environ, local=True, file=config)
    settings = WorkerSettings.read(file=config, arguments=options)
    payloads = PayloadSettings.read(file=config)
    events = EventSettings.read(file=config)
    own = {"task_queue": settings.task_queue, "max_hops": events.max_hops, "console": True}
    at_gateway = GatewaySettings.read({}, arguments={**own, **(gateway or {})})
    # A developer does not need these: it stops at once, and opens no ports that no option asks for.
    settings = settings.replace(
        grace_period=timedelta(),
        known_definitions_only=False,
        health_port=None,
        deployment=None,
        metrics=settings.metrics if options.get("metrics") is not None else None,
    )
    offered = FollowedModules(functions, call_settings.modules)
    log_lines(settings.log_format, settings.log_level)
    if settings.log_format is LogFormat.JSON:
        tell = partial(logging.getLogger("swf").info, "%s")
    for news in live.refresh():
        tell(news)
    if not list(live):
        tell(f"there is no definition in {folder} that can be served yet")
    return Development(live, offered, call_settings, settings, listening, tell, payloads, events, at_gateway)


_LOOPBACK = "127.0.0.1"
_HINT = "it takes any free port"


@asynccontextmanager
async def codec_for_ui(
    payloads: PayloadSettings, ui_port: int, tell: Callable[[str], None]
) -> AsyncIterator[list[str]]:
    """Decode *payloads* for the UI at *ui_port* within the context; yield the options that point the UI to the decoder.

    The options are empty if nothing is encoded. Only pages of that UI are answered, and only on this machine: no token
    is needed. If the codec server is not installed, *tell* is called with what to install.
    """
    if payloads == PLAIN:
        yield []
        return
    try:
        from swf_temporal.http.codec_server.application import codec_application  # noqa: PLC0415 - of an extra
        from swf_temporal.sdk.asgi_server import asgi_server  # noqa: PLC0415 - of an extra
        from swf_temporal.settings.http import CodecServerSettings  # noqa: PLC0415 - as above
    except ImportError as error:
        tell(MissingExtra("codec-server", "payloads in the UI", error.name).line)
        yield []
        return
    origins = tuple(f"http://{host}:{ui_port}" for host in (_LOOPBACK, "localhost"))
    settings = CodecServerSettings(address=Address(_LOOPBACK, 0), origins=origins)
    application = codec_application(settings, lambda namespace: converter_of(payloads, namespace), is_logged=False)
    async with asgi_server(application, settings.address, _HINT) as address:
        yield ["--ui-codec-endpoint", f"http://{address}"]
