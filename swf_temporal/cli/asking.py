"""Commands that ask something of a server."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

import typer

from swf_temporal.cli.interrupts import default_sigint

if TYPE_CHECKING:
    from swf_temporal.app.client import Client

Request: TypeAlias = "Callable[[Client], Awaitable[int]]"


def ask(request: Request, address: str | None, namespace: str | None) -> None:
    """Do what *request* does with a client of the server, and exit with the code that it returns.

    The server is the one at *address*, or the one that the environment names. What that refuses is told as a mistake.
    """
    with default_sigint():
        from swf_temporal.app.stopping import run_until_stopped

    raise typer.Exit(run_until_stopped(_asked(request, address, namespace)))


async def _asked(request: Request, address: str | None, namespace: str | None) -> int:
    with default_sigint():
        from swf_temporal.app.client import Client, refusals_as_usage_errors
        from swf_temporal.app.logs import be_quiet
    be_quiet()
    client = await Client.connect(address, namespace=namespace)
    with refusals_as_usage_errors():
        return await request(client)
