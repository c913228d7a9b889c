"""Work for a request ends once its client has left."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive


class _Reception:
    """What a client sends: whoever reads its body does so here, and then it is watched."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._is_read = asyncio.Event()

    async def __call__(self) -> Message:
        message = await self._receive()
        if not message.get("more_body", False):
            self._is_read.set()
        return message

    async def departure(self) -> None:
        """Return once the client has left. Before its body is read, reading it tells."""
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def while_connected(request: Request, work: Callable[[Request], Awaitable[Response]]) -> Response:
    """Return what *work* answers. Raises ClientDisconnect if the client leaves before."""
    reception = _Reception(request.receive)
    if request.method in ("GET", "HEAD"):
        await reception()  # nobody else reads it
    working = asyncio.ensure_future(work(Request(request.scope, reception)))
    leaving = asyncio.ensure_future(reception.departure())
    both = (working, leaving)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in both:
            task.cancel()
        await asyncio.wait(both)
