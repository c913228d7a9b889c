"""The server that a program works with: the one that is named, one that listens here, or one that is started."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from swf_temporal.errors import UsageError
from swf_temporal.temporal.client import configured, connect
from swf_temporal.temporal.connected_server import Server, is_free, server_of
from swf_temporal.temporal.constants import DEFAULT_PORT
from swf_temporal.temporal.server import local_server

if TYPE_CHECKING:
    from swf_temporal.payloads.settings import PayloadSettings


@asynccontextmanager
async def some_server(
    address: str | None, namespace: str | None, payloads: "PayloadSettings | None" = None
) -> AsyncIterator[tuple[Server, bool]]:
    """Find a server, or start one for as long as the context lasts; the second value tells whether it was started.

    The one at *address* or, without one, that of the environment, or one that listens on this machine. Raises
    UsageError if the one that was named does not answer.
    """
    if address or is_configured():
        yield await known_server(address, namespace, payloads), False
        return
    if not is_free(DEFAULT_PORT):
        try:
            server = await known_server(None, namespace, payloads)
        except UsageError:
            pass  # something else listens there
        else:
            yield server, False
            return
    async with local_server(payloads=payloads) as server:
        yield server, True


async def known_server(address: str | None, namespace: str | None, payloads: "PayloadSettings | None" = None) -> Server:
    """Return the server at *address*, or the one that the environment names. Raises UsageError if none answers."""
    return server_of(await connect(address=address, namespace=namespace, payloads=payloads))


def is_configured() -> bool:
    """Tell whether the environment, or the user's configuration of Temporal, names a server."""
    return "target_host" in configured()
