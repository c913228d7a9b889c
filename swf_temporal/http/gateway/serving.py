"""Serving the gateway: on its own until the process is asked to stop, or within another program."""

import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from swf_temporal.base.errors import MissingExtra, Problem
from swf_temporal.base.stopping import stop_signal
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.known import import_everything
from swf_temporal.operations.client import Client
from swf_temporal.sdk.definitions import catalogue_of, resources_of, with_led_to
from swf_temporal.sdk.documents import in_one_line
from swf_temporal.sdk.logs import log_lines
from swf_temporal.sdk.metrics import export_metrics
from swf_temporal.sdk.rereading import RereadCatalogue, reread
from swf_temporal.sdk.serving import connected
from swf_temporal.settings.http import GatewaySettings, read_gateway_settings
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.settings.values import Address, LogFormat, LogLevel
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.connecting import refuse_unless_readable
from swf_temporal.temporal.worker import tune_gc

GATEWAY_PORT: Final = 8080
"""The default port."""
_NEEDED: Final = ("jinja2", "jwt", "starlette", "uvicorn")
"""The packages of the extra."""
_HINT: Final = "put one there, which is served then, or name another folder"
_SWITCH_SECONDS: Final = 0.001
"""How long a thread that makes a large page may keep the interpreter from the one that answers all requests."""
_PORT_HINT = "choose another with --host and --port"


_log = logging.getLogger("swf")


@dataclass(frozen=True, slots=True)
class Prepared:
    settings: GatewaySettings
    catalogue: RereadCatalogue
    payloads: PayloadSettings
    server: str | None
    namespace: str | None
    tls: Mapping[str, Path]


def prepare(  # noqa: PLR0913 - options of a gateway, most of them optional
    definitions: Iterable[Path],
    address: Address,
    *,
    origins: Sequence[str] = (),
    config: Path | None = None,
    resources: Iterable[Path] = (),
    strict: bool = False,
    tls: Mapping[str, Path] | None = None,
    server: str | None = None,
    namespace: str | None = None,
    log_format: LogFormat | None = None,
    log_level: LogLevel | None = None,
    **options: object,
) -> Prepared:
    """Return a gateway for the definitions at *definitions*, and log to stderr as the settings of workers say.

    *options* override its settings in the configuration. Raises UsageError, and InvalidDefinition.
    """
    refuse_missing_extra()
    import_everything()
    settings = read_gateway_settings(os.environ, address, origins, file=config, **options)
    paths, readable = list(definitions), resources_of(resources)
    log = WorkerSettings.read(
        file=config, with_secrets=False, arguments={"log_format": log_format, "log_level": log_level}
    )
    log_lines(log.log_format, log.log_level)

    def warn(problem: object) -> None:
        _log.warning("%s", in_one_line(problem) if isinstance(problem, Problem) else problem)

    def read(known: Container[Path]) -> Catalogue:
        warned: list[Problem] = []
        found = catalogue_of(paths, readable, warned, known=known, strict=strict)
        for problem in warned:
            warn(problem)
        return with_led_to(found, paths, readable, warn=warn, strict=strict)

    catalogue = RereadCatalogue(paths, read)
    return Prepared(settings, catalogue, PayloadSettings.read(file=config), server, namespace, tls or {})


async def serve(prepared: Prepared, ready: Callable[[str], None], *, waits: bool = True) -> int:
    """Serve until the process is asked to stop; call *ready* with the URL. Raises UsageError.

    With *waits*, wait at the start until a Temporal server answers.
    """
    export_metrics(prepared.settings.metrics, prepared.settings.address.host)
    stopping = stop_signal()
    clients = await connected(lambda: clients_of(prepared), stopping, waits=waits)
    if clients is None:
        return 0
    async with (
        gateway(prepared.settings, prepared.catalogue, clients, _PORT_HINT, prepared.tls) as url,
        reread(prepared.catalogue),
    ):
        if not list(prepared.catalogue):
            _log.warning("there is no definition in %s: no event starts anything; %s", prepared.catalogue.where, _HINT)
        tune_gc()
        sys.setswitchinterval(_SWITCH_SECONDS)
        ready(url)
        await stopping.wait()
    return 0


async def clients_of(prepared: Prepared) -> dict[str | None, Client]:
    """Return a client for each namespace of a tenant, and one for the others.

    Raises UsageError if a namespace is missing, or its instances may not be listed.
    """
    names = dict.fromkeys([None, *(one.namespace for one in prepared.settings.tenants.values())])
    clients = {
        name: await Client.connect(prepared.server, namespace=name or prepared.namespace, payloads=prepared.payloads)
        for name in names
    }
    for client in clients.values():
        await refuse_unless_readable(client.temporal)
    return clients


def is_installed() -> bool:
    return _missing() is None


def refuse_missing_extra() -> None:
    """Raise UsageError if a package that the gateway needs is missing."""
    if (missing := _missing()) is not None:
        raise MissingExtra("gateway", "the gateway", missing)


def _missing() -> str | None:
    return next((name for name in _NEEDED if find_spec(name) is None), None)


@asynccontextmanager
async def gateway(
    settings: GatewaySettings,
    catalogue: Catalogue,
    clients: Mapping[str | None, Client],
    hint: str,
    tls: Mapping[str, Path] | None = None,
) -> AsyncIterator[str]:
    """Serve within the context; yield the URL. Raises UsageError with *hint* if the address cannot be used."""
    try:
        from swf_temporal.http.gateway.application import Gateway  # noqa: PLC0415 - of an extra
        from swf_temporal.sdk.asgi_server import asgi_server  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise MissingExtra("gateway", "the gateway", error.name) from None
    application = Gateway(settings, catalogue, clients).application()
    async with asgi_server(application, settings.address, hint, **(tls or {})) as address:
        yield f"{'https' if tls else 'http'}://{address}"
