"""Which server does a command talk to, and with what does it serve one?"""

import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, NamedTuple

from temporalio.client import Client
from temporalio.worker import Worker

from swf_temporal.cli.reachability import watched
from swf_temporal.errors import UsageError
from swf_temporal.events.sinks import HttpSink
from swf_temporal.functions.calling import Functions
from swf_temporal.functions.causes import causes
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.performing import Calls
from swf_temporal.temporal.client import configured, connect
from swf_temporal.temporal.conventions import DEFAULT_PORT
from swf_temporal.temporal.reaching import Server, is_free, server_of
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.troubles import trouble_of
from swf_temporal.temporal.worker import Capacity, make_worker

_log = logging.getLogger("swf")

_REFUSED = ("Worker validation failed", "Workflow worker failed", "Activity worker failed")
"""How the library's message begins where the server refuses what a worker cannot do without."""


class Serving(NamedTuple):
    """A worker, and what performs the calls that it takes."""

    worker: Worker
    functions: Functions


@asynccontextmanager
async def some_server(address: str | None, namespace: str | None) -> AsyncIterator[tuple[Server, bool]]:
    """Find a server, or start one for as long as the context lasts; tells whether it was started.

    The one at *address* or, without one, that of the environment, or one that listens on this machine. Raises
    UsageError if the one that was named does not answer.
    """
    if address or is_configured():
        yield await known_server(address, namespace), False
        return
    if not is_free(DEFAULT_PORT):
        try:
            server = await known_server(None, namespace)
        except UsageError:
            pass  # something else listens there
        else:
            yield server, False
            return
    async with local_server() as server:
        yield server, True


async def known_server(address: str | None, namespace: str | None) -> Server:
    """Return the server at *address*, or the one that the environment names. Raises UsageError if none answers."""
    return server_of(await connect(address=address, namespace=namespace))


def is_configured() -> bool:
    """Tell whether the environment, or the user's configuration of Temporal, names a server."""
    return "target_host" in configured()


@asynccontextmanager
async def working(
    client: Client,
    catalogue: Catalogue,
    functions: Mapping[str, Callable[..., Any]],
    settings: Settings,
    *,
    task_queue: str,
    only_known: bool = False,
    activities: int = Capacity().activities,
    grace: timedelta = timedelta(),
) -> AsyncIterator[Serving]:
    """Serve the definitions in *catalogue* for as long as the context lasts, and no longer than *grace* after that.

    Secrets, and the address for produced events, `SWF_SINK`, come from the environment. Raises UsageError if the server
    does not let this worker work.
    """
    calls, sink = Calls(functions, env=os.environ, settings=settings), HttpSink(os.environ.get("SWF_SINK"))
    if weak := calls.secrets.unprotected():
        _log.warning(
            "short or common secrets are hidden in results only where a value is nothing else: %s", ", ".join(weak)
        )
    worker = make_worker(
        client,
        catalogue,
        calls,
        sink,
        task_queue=task_queue,
        only_known=only_known,
        capacity=Capacity(activities=activities),
        graceful_shutdown_timeout=grace,
    )
    try:
        async with watched(client), worker:
            yield Serving(worker, calls.functions)
    except RuntimeError as error:
        if not str(error).startswith(_REFUSED):
            raise
        raise _refusal(client, error) from None
    finally:
        await calls.aclose()
        await sink.aclose()


def _refusal(client: Client, error: BaseException) -> UsageError:
    """Return what it means that a worker cannot work, which the library tells by *error* and its causes."""
    trouble = trouble_of("; ".join(map(str, (error, *causes(error)))))
    host = client.service_client.config.target_host
    text = f"no worker can serve the namespace {client.namespace!r} of the server at {host}"
    return UsageError(f"{text}: {trouble.what}", trouble.hint)
