"""Serving definitions until the process is asked to stop, as `swf worker` does."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.base.errors import Problem, UsageError
from swf_temporal.base.stopping import stop_signal
from swf_temporal.sdk.definitions import catalogue_of, resources_of
from swf_temporal.sdk.documents import in_one_line, missing
from swf_temporal.sdk.function_modules import functions_of
from swf_temporal.sdk.health import health_endpoint
from swf_temporal.sdk.logs import log_lines
from swf_temporal.sdk.metrics import export_metrics
from swf_temporal.sdk.worker import Worker
from swf_temporal.sdk.worker_process import WorkerProcess
from swf_temporal.settings.calls import read_settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.worker import tune_gc, what_is_left

_T = TypeVar("_T")
_log = logging.getLogger("swf")

_PAUSE: Final = 2
"""Seconds between two attempts to connect."""
_MAX_SILENCE: Final = 150
"""The maximum number of attempts between two lines of the log: five minutes."""


async def connected(
    connect: Callable[[], Awaitable[_T]], stopping: asyncio.Event, *, waits: bool, health_port: int | None = None
) -> _T | None:
    """Return what *connect* returns once the server answers, or None if *stopping* is set before.

    Until then the process is alive on *health_port*, and not ready. Raises UsageError if the server refuses, and
    ServerUnavailableError if it does not answer and *waits* is false.
    """
    stopped = asyncio.ensure_future(stopping.wait())
    attempts, silence = 0, 1
    async with AsyncExitStack() as stack:
        stack.callback(stopped.cancel)
        while not stopped.done():
            connecting = asyncio.ensure_future(connect())
            stack.callback(connecting.cancel)
            await asyncio.wait([connecting, stopped], return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                break
            try:
                client = connecting.result()
            except ServerUnavailableError as error:
                if not waits:
                    raise
                if silence == 1 and health_port is not None:
                    await stack.enter_async_context(health_endpoint(health_port, _is_not_ready))
                attempts += 1
                if attempts == silence:
                    _log.warning("%s; waiting for it", error.message)
                    attempts, silence = 0, min(2 * silence, _MAX_SILENCE)
                await asyncio.wait([stopped], timeout=_PAUSE)
            else:
                if silence > 1:
                    _log.info("the Temporal server answers")
                return client
    return None


async def _is_not_ready() -> bool:
    return False


_OF_A_DEPLOYMENT: Final = {"build_id": "--build-id", "versioning": "--versioning"}
"""The settings that only apply to a version of a deployment, and their options."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files, folders and modules with a worker's definitions, functions and configuration."""

    definitions: Iterable[Path]
    functions: Iterable[str] = ()
    """Python files and modules."""
    config: Path | None = None
    resources: Iterable[Path] = field(default_factory=tuple)
    """Folders that definitions may read, besides their own."""
    strict: bool = False
    """Whether warnings about definitions count as errors."""


def prepare(sources: Sources, address: str | None = None, namespace: str | None = None, **options: object) -> Worker:
    """Return a worker for *sources*, and log to stderr as its settings say.

    *options* override the settings in the configuration and the environment. Raises InvalidDefinition if a definition
    cannot run, and UsageError for missing sources.
    """
    readable = resources_of(sources.resources)
    warned: list[Problem] = []
    catalogue = catalogue_of(sources.definitions, readable, warned, strict=sources.strict)
    call_settings = read_settings(os.environ, file=sources.config, resources=readable)
    place = WorkerProcess.own()
    if place is not None:
        options = {**options, "health_port": place.health_port}
    settings = WorkerSettings.read(file=sources.config, arguments=options)
    if place is not None and settings.container_endpoint is not None:
        raise UsageError("a worker with a containerEndpoint is one process", "leave --processes out")
    payloads = PayloadSettings.read(file=sources.config)
    events = EventSettings.read(file=sources.config)
    offered = functions_of(sources.functions, call_settings.modules)
    log_lines(settings.log_format, settings.log_level)
    _check_versioning(settings, options)
    for problem in warned:
        _log.warning("%s", in_one_line(problem))
    return Worker(
        address,
        namespace=namespace,
        definitions=catalogue,
        functions=offered,
        settings=settings,
        call_settings=call_settings,
        payloads=payloads,
        events=events,
    )


def _check_versioning(settings: WorkerSettings, options: Mapping[str, object]) -> None:
    """Raise UsageError for *options* that have no effect without a deployment, and log a warning for such settings."""
    for name, option in _OF_A_DEPLOYMENT.items() if settings.deployment is None else ():
        if options.get(name) is not None:
            hint = "name it with --deployment or SWF_DEPLOYMENT, or as `deployment` of the worker"
            raise UsageError(f"{option} has no effect on a worker without a deployment", hint)
        if name in settings.model_fields_set:
            _log.warning("the setting for %s has no effect on a worker without a deployment", option)


async def serve(worker: Worker, *, waits: bool = True) -> int:
    """Run *worker* until the process is asked to stop; return the exit code. Raises UsageError.

    With *waits*, wait at the start until a server answers.
    """
    export_metrics(worker.settings.metrics)
    stopping = stop_signal()
    place = WorkerProcess.own()
    watching = None if place is None else asyncio.create_task(place.stop_when_alone())  # noqa: F841 - kept alive
    if await connected(worker.connect, stopping, waits=waits, health_port=worker.settings.health_port) is None:
        return 0
    async with worker:
        tune_gc()
        _log_what_is_served(worker)
        await _log_version(worker)
        looking = asyncio.create_task(_log_what_is_missing(worker))
        await stopping.wait()
        looking.cancel()
        await asyncio.wait([looking])
        _log.info("stopping: finishing the calls in progress")
    _log.info("stopped")
    return 0


def _log_what_is_served(worker: Worker) -> None:
    only_known = worker.settings.known_definitions_only
    if not list(worker.catalogue):
        what = "nothing" if only_known else "only instances that come with their own definition"
        _log.warning("there is no definition: %s can run", what)
    for definition in worker.catalogue:
        _log.info("serving %s %s from %s", definition.id, definition.version or "", definition.source.name)
    if only_known:
        _log.info("refusing instances that come with another definition")
    client = worker.client
    _log.info(
        "working for %s, namespace %s, task queue %s", client.address, client.namespace, worker.settings.task_queue
    )


async def _log_version(worker: Worker) -> None:
    """Log the worker's version in its deployment, and what remains to be done before it gets work."""
    version = worker.settings.version
    if version is None:
        return
    others = "".join(f", those of {one} {versioning}" for one, versioning in version.versioning_of.items())
    left = await what_is_left(worker.client.temporal, version)
    log = _log.info if left is None else _log.warning
    log("serving as %s, instances %s%s: %s", version, version.versioning, others, left or "it is the current version")


async def _log_what_is_missing(worker: Worker) -> None:
    """Check the documents of all functions, so that they are cached for the first calls."""
    for problem in await missing(worker.catalogue, worker.functions):
        _log.warning("%s", in_one_line(problem))
