"""What a service sends behind the end of an answer is no answer to anything."""

import asyncio
import logging
import socket
from contextlib import suppress
from dataclasses import dataclass

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.http.client import Http, Request
from tests.functions.http.raw_server import RawServer, Script, Wire, answer

_LIMIT = 20.0
FALSE = answer("of another")
"""What must reach nobody."""
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'3\r\n"a"\r\n0\r\nX-Sum: 1\r\n\r\n'
)
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"
SAME = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
HINTS = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
LONG = answer("a" * 65460)
"""Exactly what is read at once."""
assert len(LONG) == 65536


@dataclass(frozen=True)
class Attack:
    """What a service writes for one request: at once, and once its client has the answer."""

    at_once: tuple[bytes, ...]
    later: bytes = b""
    method: str = "GET"

    def carried_out_by(self, server: RawServer) -> Script:
        def script(wire: Wire) -> None:
            wire.send(*self.at_once)
            if self.later:
                server.was_read.wait(_LIMIT)
                server.was_read.clear()
                with suppress(ConnectionError):
                    wire.send(self.later)
                server.was_sent.set()

        return script

    async def suffered(self, http: Http, server: RawServer) -> None:
        """Ask *server*, and return when all of it has arrived."""
        with suppress(CallFailed):
            await http.request(Request(self.method, f"{server.url}/two"))
        if self.later:
            server.was_read.set()
            assert await asyncio.to_thread(server.was_sent.wait, _LIMIT)
            server.was_sent.clear()


ATTACKS = {
    "two at once": Attack((answer("a") + FALSE,)),
    "two at once, in two records of TLS": Attack((answer("a"), FALSE)),
    "the second once the first was read": Attack((answer("a"),), FALSE),
    "half of a second": Attack((answer("a") + FALSE[:40],)),
    "half of a second, in two records of TLS": Attack((answer("a"), FALSE[:-1])),
    "half of a second once the first was read": Attack((answer("a"),), FALSE[:40]),
    "many": Attack((answer("a"), *[FALSE] * 20)),
    "a large one": Attack((answer("a"), answer("x" * 500_000))),
    "a first one that ends where a read ends": Attack((LONG, FALSE)),
    "after no content": Attack((EMPTY, FALSE)),
    "content of no content": Attack((EMPTY.replace(b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\n{}"),)),
    "after no content, once it was read": Attack((EMPTY,), FALSE),
    "after not modified": Attack((SAME, FALSE)),
    "after not modified, once it was read": Attack((SAME,), FALSE),
    "content of a head": Attack((HEAD, b'"a"'), method="HEAD"),
    "after a head": Attack((HEAD, FALSE), method="HEAD"),
    "after a head, once it was read": Attack((HEAD,), FALSE, method="HEAD"),
    "more content than declared": Attack((answer("a", length=1) + FALSE,)),
    "more content than declared, and nothing else": Attack((answer("a", length=2),)),
    "more content than declared, once it was read": Attack((answer("a"),), b" "),
    "after chunks and trailers": Attack((CHUNKED + FALSE,)),
    "after chunks and trailers, in two records of TLS": Attack((CHUNKED, FALSE)),
    "after chunks and trailers, once they were read": Attack((CHUNKED,), FALSE),
    "more trailers": Attack((CHUNKED + b"X-Sum: 2\r\n\r\n",)),
    "hints behind": Attack((answer("a") + HINTS,)),
    "hints behind, once the first was read": Attack((answer("a"),), HINTS),
    "a line": Attack((answer("a") + b"\r\n",)),
}
HARMLESS = {
    "an answer": Attack((answer("a"),)),
    "hints before": Attack((HINTS + answer("a"),)),
    "chunks and trailers": Attack((CHUNKED[:90], CHUNKED[90:])),
    "no content": Attack((EMPTY,)),
    "not modified": Attack((SAME,)),
    "a head": Attack((HEAD,), method="HEAD"),
    "a long one": Attack((LONG,)),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_what_is_behind_an_answer_is_dropped(
    attack: Attack, server: RawServer, http: Http, caplog: pytest.LogCaptureFixture
) -> None:
    """The connection is closed, each further call gets the answer to itself, and a person reads of it once."""
    server.scripts["/two"] = attack.carried_out_by(server)
    for number in range(2):
        await attack.suffered(http, server)
        for path in (f"/echo/{number}/a", f"/echo/{number}/b"):
            assert (await http.request(Request("GET", server.url + path))).body == path
    assert server.connections == 3
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [line.split()[0] for line in lines] == [server.url]


@pytest.mark.parametrize("exchange", HARMLESS.values(), ids=HARMLESS)
async def test_a_connection_with_nothing_behind_an_answer_is_kept(
    exchange: Attack, server: RawServer, http: Http, caplog: pytest.LogCaptureFixture
) -> None:
    server.scripts["/two"] = exchange.carried_out_by(server)
    for _ in range(3):
        await exchange.suffered(http, server)
        assert (await http.request(Request("GET", f"{server.url}/echo"))).body == "/echo"
    assert (server.connections, caplog.records) == (1, [])


@pytest.mark.parametrize(
    "server", ["in the clear", "with TLS", "by a proxy in the clear", "by a proxy with TLS"], indirect=True
)
async def test_no_neighbour_gets_the_answer(server: RawServer, http: Http) -> None:
    server.scripts["/two"] = Attack((answer("/two"), FALSE)).carried_out_by(server)
    paths = [path for number in range(30) for path in ("/two", f"/echo/{number}")]
    answers = await asyncio.gather(*(http.request(Request("GET", server.url + path)) for path in paths))
    assert [answer.body for answer in answers] == paths


@pytest.mark.parametrize("server", ["with TLS"], indirect=True)
async def test_half_a_record_of_tls_is_not_nothing(server: RawServer, http: Http) -> None:
    """What cannot be decrypted yet may become an answer, once the next request was sent."""
    begun: dict[Wire, bytes] = {}

    def begin(wire: Wire) -> None:
        both = wire.written(answer("/two"), FALSE)
        begun[wire] = both[-10:]
        wire.send_raw(both[:-10])

    server.scripts["/two"] = begin
    server.scripts["/echo"] = lambda wire: wire.send_raw(begun.get(wire, b"") + wire.written(answer("/echo")))

    for path in ("/two", "/echo"):
        assert (await http.request(Request("GET", server.url + path))).body == path
    assert (server.connections, len(begun)) == (2, 1)


async def test_a_connection_that_is_closed_meanwhile_is_no_attack(
    server: RawServer, http: Http, caplog: pytest.LogCaptureFixture
) -> None:

    def script(wire: Wire) -> None:
        wire.send(answer("/a"))
        server.was_read.wait(_LIMIT)
        server.was_read.clear()
        wire.connection.shutdown(socket.SHUT_RDWR)
        server.was_sent.set()

    server.scripts["/a"] = script
    for _ in range(3):
        assert (await http.request(Request("GET", f"{server.url}/a"))).body == "/a"
        server.was_read.set()
        await asyncio.to_thread(server.was_sent.wait, _LIMIT)
        server.was_sent.clear()

    assert (server.connections, caplog.records) == (3, [])
