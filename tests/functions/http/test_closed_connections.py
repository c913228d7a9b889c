"""A service may close a kept connection at any time, also while a request is on its way."""

import asyncio
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.http.client import Http, Request
from tests.failing import failing
from tests.functions.http.raw_server import RawServer, Script, Wire, answer
from tests.sampling import count

KEY = ("Idempotency-Key", "k-1")


def hang_up(wire: Wire) -> None:
    wire.connection.shutdown(socket.SHUT_RDWR)


def reset(wire: Wire) -> None:
    wire.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.connection.close()


def only_first(ending: Callable[[Wire], None], written: bytes = b"") -> Script:
    """Return what answers the first request of a connection, and *written* and an ending to the second."""
    known: Counter[Wire] = Counter()

    def script(wire: Wire) -> None:
        known[wire] += 1
        if known[wire] == 1:
            wire.send(answer("yes"))
        else:
            if written:
                wire.send(written)
            ending(wire)

    return script


@pytest.mark.parametrize("ending", [hang_up, reset])
@pytest.mark.parametrize(("method", "headers"), [("GET", ()), ("PUT", ()), ("DELETE", ()), ("POST", (KEY,))])
async def test_a_request_that_may_be_repeated_is_sent_again(
    server: RawServer, http: Http, ending: Callable[[Wire], None], method: str, headers: tuple[tuple[str, str], ...]
) -> None:
    server.scripts["/a"] = only_first(ending)
    request = Request(method, f"{server.url}/a", headers)
    for _ in range(3):
        assert (await http.request(request)).body == "yes"
    assert (len(server.requests), server.connections) == (5, 3)


@pytest.mark.parametrize("server", ["in the clear", "with TLS"], indirect=True)
@pytest.mark.parametrize("ending", [hang_up, reset])
@pytest.mark.parametrize(("method", "headers", "written", "options"), [
    ("POST", (), b"", {}),  # a service that has acted upon it could not tell the second one from another
    ("GET", (KEY,), b"H", {}),  # an answer has begun: the service has acted, whatever the method and the key say
    ("GET", (), b"", {"retry_on_closed_connection": False}),
])  # fmt: skip
async def test_a_request_that_may_not_be_repeated_is_sent_once(
    server: RawServer, client: Callable[..., Http], ending: Callable[[Wire], None], method: str, headers: Any, *,
    written: bytes, options: Any,
) -> None:  # fmt: skip
    http = client(**options)
    server.scripts["/a"] = only_first(ending, written)
    request = Request(method, f"{server.url}/a", headers)
    await http.request(request)
    with pytest.raises(CallFailed):
        await http.request(request)
    assert len(server.requests) == 2


async def test_the_first_request_of_a_connection_is_sent_once(server: RawServer, http: Http) -> None:
    server.scripts["/a"] = hang_up
    with pytest.raises(CallFailed):
        await http.request(Request("GET", f"{server.url}/a"))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "server", ["in the clear", "with TLS", "by a proxy in the clear", "by a proxy with TLS"], indirect=True
)
async def test_it_is_sent_again_over_a_new_connection(server: RawServer, http: Http) -> None:
    """Of connections that were used before, another one might be closed as well."""
    server.scripts["/a"] = only_first(hang_up)
    request = Request("GET", f"{server.url}/a")
    await asyncio.gather(*(http.request(request) for _ in range(5)))
    kept = server.connections
    await http.request(request)
    assert kept > 1
    assert (len(server.requests), server.connections) == (5 + 2, kept + 1)


async def test_a_client_that_closes_the_connection_itself_sends_nothing_again(server: RawServer, http: Http) -> None:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    known: Counter[Wire] = Counter()

    def script(wire: Wire) -> None:
        known[wire] += 1
        if known[wire] == 1:
            wire.send(answer("yes"))
        else:
            loop.call_soon_threadsafe(asked.set)

    server.scripts["/a"] = script
    request = Request("GET", f"{server.url}/a")
    await http.request(request)
    call = asyncio.create_task(http.request(request))
    await asked.wait()
    await http.aclose()
    with failing("ConnectionLost"):
        await call

    assert len(server.requests) == 2


async def test_no_call_fails_while_connections_are_closed_at_random(server: RawServer, http: Http) -> None:
    """At once, a little later, and while the next request is on its way; what has no key is never sent twice."""
    chance = random.Random(7)  # noqa: S311 - it decides what is tried
    known: Counter[Wire] = Counter()

    def script(path: str) -> Script:
        def respond(wire: Wire) -> None:
            known[wire] += 1
            ending = chance.choice([hang_up, reset])
            if known[wire] > 1 and chance.random() < 0.2:
                ending(wire)
                return
            wire.connection.sendall(wire.written(answer(path)))
            if chance.random() < 0.5:
                time.sleep(chance.choice([0.0, 0.001, 0.005]))
                ending(wire)

        return respond

    async def call(number: int) -> None:
        path = f"/{'key' if number % 4 else 'none'}/{number}"
        server.scripts[path] = script(path)
        request = Request("POST", server.url + path, (KEY,) if number % 4 else (), b"{}")
        async with at_once:
            if number % 4:
                assert (await http.request(request)).body == path
            else:
                with suppress(CallFailed):
                    await http.request(request)

    at_once = asyncio.Semaphore(8)
    async with asyncio.TaskGroup() as calls:
        for number in range(count(250, 10_000)):
            calls.create_task(call(number))

    received = Counter(path for _, path, _ in server.requests)
    assert {path for path, times in received.items() if times > (2 if path.startswith("/key") else 1)} == set()
    assert any(times == 2 for times in received.values())
