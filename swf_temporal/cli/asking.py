"""Commands that ask something of a server."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

import typer

from swf_temporal.cli.interrupts import default_sigint

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client

Request: TypeAlias = "Callable[[Client], Awaitable[int]]"


def ask(request: Request, address: str | None, namespace: str | None, *, waits: bool = False) -> None:
    """Do what *request* does with a client of the server, and exit with the code that it returns.

    The server is the one at *address*, or the one that the environment names. What that refuses is told as a mistake.
    A request that *waits* for an instance bears by itself that the server does not answer for a while.
    """
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped

    raise typer.Exit(run_until_stopped(_asked(request, address, namespace, waits=waits)))


async def _asked(request: Request, address: str | None, namespace: str | None, *, waits: bool) -> int:
    with default_sigint():
        from swf_temporal.operations.client import Client, refusals_as_usage_errors
        from swf_temporal.sdk.logs import be_quiet
        from swf_temporal.temporal.server_timeout import FOR_REQUESTS, ServerWatch
    be_quiet()
    client = await Client.connect(address, namespace=namespace)
    with refusals_as_usage_errors():
        if waits:
            return await request(client)
        async with ServerWatch(client.temporal, FOR_REQUESTS).watching():
            return await request(client)
