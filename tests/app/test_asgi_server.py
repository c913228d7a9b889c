"""The server of the gateway, of the codec server and of functions, and the small one of health checks."""

import asyncio
import resource
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from swf_temporal.base import request_bodies
from swf_temporal.base.request_bodies import SlowBodyError, body_of
from swf_temporal.sdk import asgi_server, health, http_connections
from swf_temporal.settings.values import Address
from tests.cli.conftest import answer_of, free_port


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_sent_at_once(host: str) -> None:
    """A packet does not wait until the one before is acknowledged."""
    with asgi_server._listening(Address(host, 0), "") as listening:
        with socket.create_connection(listening.getsockname()[:2]):
            accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@asynccontextmanager
async def served(
    answer: Callable[[Request], Awaitable[Response]], max_held: int = http_connections.MAX_HELD_BYTES, **options: Any
) -> AsyncIterator[Address]:
    application: Any = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])
    async with asgi_server.asgi_server(application, Address("127.0.0.1", 0), "", max_held, **options) as address:
        yield address


@asynccontextmanager
async def connected(address: Address, sent: bytes, source: str = "127.0.0.1") -> AsyncIterator[asyncio.StreamReader]:
    reader, writer = await asyncio.open_connection(address.host, address.port, local_addr=(source, 0))
    try:
        writer.write(sent)
        yield reader
    finally:
        writer.transport.abort()


HALF = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nx"
WHOLE = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


def limited(monkeypatch: pytest.MonkeyPatch, files: int) -> None:
    """Let servers take it that so many files may be open."""
    monkeypatch.setattr(http_connections, "open_files", lambda: files)


@pytest.mark.parametrize("protocol", [asgi_server._PROTOCOL, H11Protocol], ids=["httptools", "h11"])
async def test_those_give_way_that_wait_longest(monkeypatch: pytest.MonkeyPatch, protocol: Any) -> None:
    """Of the address that has most of them; not those whose requests are being answered, or were authenticated."""
    limited(monkeypatch, 12)  # 9 connections
    monkeypatch.setattr(asgi_server, "_PROTOCOL", protocol)
    may_answer = asyncio.Event()

    async def answer(request: Request) -> Response:
        if request.url.path == "/known":
            request.scope[http_connections.UNDER_WAY].admit("somebody")
        if request.url.path == "/long":
            await may_answer.wait()
        return PlainTextResponse((await request.body()).decode() or "answered")

    async with served(answer) as address, AsyncExitStack() as stack:

        async def connect(sent: bytes, source: str = "127.0.0.1") -> asyncio.StreamReader:
            found = await stack.enter_async_context(connected(address, sent, source))
            await asyncio.sleep(0.05)
            return found

        working = await connect(WHOLE.replace(b"/ ", b"/long ", 1))
        known = await connect(HALF.replace(b"/ ", b"/known ", 1).replace(b": 9", b": 99999"))
        other = await connect(HALF, "127.0.0.2")
        halves = [await connect(HALF) for _ in range(6)]
        last = [await connect(WHOLE, source) for source in ("127.0.0.1", "127.0.0.2", "127.0.0.3")]
        for one in last:
            assert (await one.readline()) == b"HTTP/1.1 200 OK\r\n"
        assert [await one.read() for one in halves[:3]] == [b"", b"", b""]
        may_answer.set()
        assert (await working.readline()) == b"HTTP/1.1 200 OK\r\n"
        assert not any(one.at_eof() for one in (known, other, *halves[3:]))


async def test_a_sender_has_so_many_requests_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have theirs, as long as there is room for all together; and each that ends makes room."""
    limited(monkeypatch, 16)  # 12 connections: 6 of a sender, 9 of all
    may_answer, under_way = asyncio.Event(), asyncio.Semaphore(0)

    async def answer(request: Request) -> Response:
        try:
            request.scope[http_connections.UNDER_WAY].admit(request.url.path)
        except http_connections.TooManyRequestsError as error:
            return PlainTextResponse(str(error), 429)
        under_way.release()
        await may_answer.wait()
        return PlainTextResponse("answered")

    async with (
        served(answer) as address,
        httpx.AsyncClient(base_url=f"http://{address}", trust_env=False, timeout=60) as client,
    ):

        async def begun(path: str, number: int) -> list[asyncio.Task[httpx.Response]]:
            asked = [asyncio.create_task(client.get(path)) for _ in range(number)]
            for _ in asked:
                await under_way.acquire()
            return asked

        first = await begun("/a", 6)
        refused = await client.get("/a")
        second = await begun("/b", 3)
        full = await client.get("/b")
        may_answer.set()
        assert [(await one).status_code for one in first + second] == [200] * 9
        assert (refused.text, full.text) == (
            "too many requests of this client are in progress",
            "too many requests are in progress",
        )
        assert (await client.get("/a")).status_code == 200


@pytest.mark.parametrize("protocol", [asgi_server._PROTOCOL, H11Protocol], ids=["httptools", "h11"])
async def test_nothing_is_done_before_a_small_body_is_there(monkeypatch: pytest.MonkeyPatch, protocol: Any) -> None:
    """A large one is read by who answers, who may refuse it before it has arrived."""
    monkeypatch.setattr(asgi_server, "_PROTOCOL", protocol)
    begun: list[str] = []

    async def answer(request: Request) -> Response:
        begun.append(request.url.path)
        try:
            return PlainTextResponse(await body_of(request, 99))
        except SlowBodyError as error:
            return PlainTextResponse(str(error), 408)

    async with served(answer) as address, AsyncExitStack() as stack:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        stack.callback(writer.transport.abort)
        writer.write(HALF)
        await asyncio.sleep(0.1)
        assert begun == []
        await stack.enter_async_context(connected(address, HALF.replace(b": 9", b": 99999").replace(b"/ ", b"/large ")))
        await asyncio.sleep(0.1)
        assert begun == ["/large"]
        writer.write(b"y" * 8)
        assert (await reader.read(1000)).endswith(b"xyyyyyyyy")
        monkeypatch.setattr(request_bodies, "_SENDING", 0.01)
        late = await stack.enter_async_context(connected(address, HALF.replace(b"/ ", b"/late ")))
        assert (await late.read(1000)).startswith(b"HTTP/1.1 408 ")


async def test_bodies_under_way_have_so_many_bytes() -> None:
    """Of the sender with the most bytes, the first body gives way of those that still arrive."""
    may_answer = asyncio.Event()

    async def answer(request: Request) -> Response:
        try:
            body = await body_of(request, 1000)
        except SlowBodyError as error:
            return PlainTextResponse(str(error), 408)
        if request.url.path == "/long":
            await may_answer.wait()
        return PlainTextResponse(str(len(body)))

    def post(size: int, sent: int, path: str = "/") -> bytes:
        return f"POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {size}\r\n\r\n{'x' * sent}".encode()

    async with served(answer, max_held=80) as address, AsyncExitStack() as stack:

        async def connect(sent: bytes, source: str = "127.0.0.1") -> asyncio.StreamReader:
            found = await stack.enter_async_context(connected(address, sent, source))
            await asyncio.sleep(0.1)
            return found

        first, second = [await connect(post(50, 30)) for _ in range(2)]
        other = await connect(post(50, 15), "127.0.0.2")
        large = await connect(post(20, 20, "/long"), "127.0.0.3")
        assert await first.read() == b""  # closed, as it began before the second
        alone = await connect(post(90, 90))
        assert await second.read() == b""
        assert (await alone.read(1000)).startswith(b"HTTP/1.1 408 ")
        assert not other.at_eof()
        may_answer.set()
        assert (await large.read(1000)).endswith(b"20")


async def test_a_body_may_be_larger_than_all_are_together() -> None:
    async def answer(request: Request) -> Response:
        return PlainTextResponse(str(len(await body_of(request, 1000))))

    async with served(answer, max_held=80) as address, httpx.AsyncClient(trust_env=False) as client:
        answers = [await client.post(f"http://{address}", content=b"x" * 900) for _ in range(2)]
    assert [one.text for one in answers] == ["900", "900"]


async def test_half_a_handshake_gives_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limited(monkeypatch, 64)  # 48 connections, and 64 that shake hands
    authority = trustme.CA()
    files = tmp_path / "chain.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(files)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def answer(_: Request) -> Response:
        return PlainTextResponse("answered")

    async with served(answer, ssl_certfile=files) as address, AsyncExitStack() as stack:
        halves = [await stack.enter_async_context(connected(address, b"")) for _ in range(80)]
        async with httpx.AsyncClient(trust_env=False, verify=trusting) as client:
            assert (await client.get(f"https://{address}/")).text == "answered"
        assert [await one.read() for one in halves[:16]] == [b""] * 16
        assert not halves[-1].at_eof()


async def test_an_answer_that_is_not_read_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connections, "_PATIENCE", 1.0)
    has_ended = asyncio.Event()

    async def answer(_: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x" * 100_000
                    await asyncio.sleep(0)
            finally:
                has_ended.set()

        return StreamingResponse(pieces())

    async with served(answer) as address:
        with socket.create_connection((address.host, address.port)) as connection:
            connection.sendall(WHOLE)
            await asyncio.wait_for(has_ended.wait(), 30)
    assert has_ended.is_set()


def test_nothing_is_accepted_for_a_while_once_there_are_no_more_files() -> None:
    """The library makes as many attempts as connections may wait, and comes back for each that fails."""
    with asgi_server._listening(Address("127.0.0.1", 0), "") as listening, ExitStack() as stack:
        stack.enter_context(socket.create_connection(listening.getsockname()))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                listening.accept()
            for _ in range(2):
                with pytest.raises(BlockingIOError):
                    listening.accept()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


async def test_half_a_head_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connections, "_PATIENCE", 0.5)
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


async def _answer(_: Request) -> Response:
    return PlainTextResponse("answered")


async def test_an_answered_client_may_ask_again_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connections, "_PATIENCE", 4.0)

    async with served(_answer) as address, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        with closing(writer):
            for _ in range(2):
                writer.write(WHOLE)
                assert (await reader.readuntil(b"answered")).startswith(b"HTTP/1.1 200 ")
                async with connected(address, b"") as silent:
                    assert await silent.read() == b""
                await asyncio.sleep(2)  # in all longer than the five seconds of the library


async def test_an_answered_client_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connections, "_PATIENCE", 0.25)

    async with served(_answer) as address, connected(address, WHOLE) as reader, asyncio.timeout(60):
        assert (await reader.read()).endswith(b"answered")


def test_load_balancers_close_their_connections_first() -> None:
    assert http_connections.KEEP_ALIVE > 75  # seconds: those of load balancers are 60, and 75 of nginx


async def test_many_that_say_nothing_leave_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_MAX_WAIT", 1000)  # so that none is closed for the time that it takes

    async def answer(path: str) -> tuple[int, str]:
        return 200, path

    port, most = free_port(), health._MAX_CONNECTIONS
    async with health.answering(port, answer, "--health", "127.0.0.1"), asyncio.timeout(60):
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(most + 10)]
        try:
            assert await asyncio.to_thread(answer_of, port, "livez") == 200
            for reader, _ in silent[:10]:
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
            assert not silent[-1][0].at_eof()
        finally:
            for _, writer in silent:
                writer.transport.abort()
