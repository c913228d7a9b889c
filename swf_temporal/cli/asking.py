"""How does a command ask something of a server?"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from swf_temporal.cli.interrupts import ending_at_once

if TYPE_CHECKING:
    from temporalio.client import Client

Request: TypeAlias = "Callable[[Client], Awaitable[int]]"


def ask(request: Request, address: str | None, namespace: str | None) -> None:
    """Do what *request* does with a client of the server, and exit with the code that it returns.

    The server is the one at *address*, or the one that the environment names. What that refuses is told as a mistake.
    """
    with ending_at_once():
        from swf_temporal.cli.stopping import run_until_stopped

    run_until_stopped(_asked(request, address, namespace))


async def _asked(request: Request, address: str | None, namespace: str | None) -> int:
    with ending_at_once():
        from temporalio.service import RPCError

        from swf_temporal.cli.logs import be_quiet
        from swf_temporal.errors import UsageError
        from swf_temporal.temporal.client import connect
    be_quiet()
    client = await connect(address=address, namespace=namespace)
    try:
        return await request(client)
    except RPCError as error:
        raise UsageError(f"the server refuses: {error.message}") from None
