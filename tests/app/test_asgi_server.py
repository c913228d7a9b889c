"""The server of the gateway, of the codec server, and of functions."""

import asyncio
import socket
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from swf_temporal.app import asgi_server
from swf_temporal.settings.values import Address


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_sent_at_once(host: str) -> None:
    """A packet does not wait until the one before is acknowledged."""
    with asgi_server._listening(Address(host, 0), "") as listening:
        with socket.create_connection(listening.getsockname()[:2]):
            accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_half_a_head_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection is closed after a while; that of a request that is being answered is not."""
    monkeypatch.setattr(asgi_server, "_PATIENCE", 0.5)
    may_answer = asyncio.Event()

    async def answer(_: Request) -> Response:
        await may_answer.wait()
        return PlainTextResponse("answered")

    application: Any = Starlette(routes=[Route("/", answer)])
    async with (
        asgi_server.asgi_server(application, Address("127.0.0.1", 0), "") as address,
        httpx.AsyncClient(trust_env=False, timeout=60) as client,
    ):
        asked = asyncio.create_task(client.get(f"http://{address}/"))
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"GET / HTTP/1.1\r\nhost: ")
        assert await reader.read() == b""
        writer.close()
        may_answer.set()
        assert (await asked).text == "answered"
