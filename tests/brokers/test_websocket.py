"""Messages of AsyncAPI documents go over real connections of WebSocket."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import trustme
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.network import Tls
from tests.failing import fault_of
from tests.functions.conftest import Calling

Answers = Callable[[ServerConnection], Any]

NUMBERED = {"correlationId": {"location": "$message.payload#/nr"}}
DOCUMENT: dict[str, Any] = {
    "asyncapi": "3.0.0",
    "channels": {
        "lights": {
            "address": "/lights/{lamp}",
            "parameters": {"lamp": {}},
            "messages": {"any": {"contentType": "application/json"}},
            "bindings": {"ws": {"query": {"properties": {"tag": {}, "page": {}}}}},
        },
        "bytes": {"address": "/bytes", "messages": {"bytes": {"contentType": "application/octet-stream"}}},
        "questions": {"address": "/questions", "messages": {"question": NUMBERED}},
        "answers": {"address": "/answers", "messages": {"answer": NUMBERED}},
    },
    "operations": {
        "tell": {"action": "send", "channel": {"$ref": "#/channels/lights"}},
        "tellBytes": {"action": "send", "channel": {"$ref": "#/channels/bytes"}},
        "hear": {"action": "receive", "channel": {"$ref": "#/channels/lights"}},
        "ask": {
            "action": "send",
            "channel": {"$ref": "#/channels/lights"},
            "reply": {"channel": {"$ref": "#/channels/lights"}},
        },
        "askElsewhere": {
            "action": "send",
            "channel": {"$ref": "#/channels/questions"},
            "reply": {"channel": {"$ref": "#/channels/answers"}},
        },
    },
}


class Lights:
    """A server that remembers what it was sent, and does what a test tells it."""

    def __init__(self) -> None:
        self.port = 0
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.received: list[str | bytes] = []
        self.codes: list[int | None] = []
        self.closed = asyncio.Event()
        self.on_connection: Answers | None = None
        self.on_message: Answers | None = None
        self.refusal: Response | None = None
        self.connections: list[ServerConnection] = []

    def first(self, connection: ServerConnection, request: Request) -> Response | None:
        assert connection.local_address
        self.paths.append(request.path)
        self.headers.append({name.lower(): value for name, value in request.headers.raw_items()})
        return self.refusal

    async def serve(self, connection: ServerConnection) -> None:
        self.connections.append(connection)
        try:
            if self.on_connection:
                await self.on_connection(connection)
            async for message in connection:
                self.received.append(message)
                if self.on_message:
                    await self.on_message(connection)
        except ConnectionClosed:
            pass
        finally:
            self.codes.append(connection.close_code)
            self.closed.set()


@pytest.fixture
async def lights() -> AsyncIterator[Lights]:
    lights = Lights()
    async with serve(lights.serve, "127.0.0.1", 0, process_request=lights.first) as server:
        lights.port = next(iter(server.sockets)).getsockname()[1]
        yield lights


@pytest.fixture
async def functions(lights: Lights) -> AsyncIterator[Functions]:
    async with aclosing(Functions(settings=at(lights))) as functions:
        yield functions


def at(lights: Lights, **settings: Any) -> Settings:
    return Settings(functions={"lights": Options(base_url=f"ws://127.0.0.1:{lights.port}/api")}, **settings)


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Call]:
    (tmp_path / "lights.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")

    def make(operation: str, arguments: JSON = None, **metadata: Any) -> Call:
        function = Function(name="lights", type="asyncapi", operation=f"lights.json#{operation}", metadata=metadata)
        return Call(function, arguments, base=str(tmp_path), idempotency_key="k")

    return make


async def test_a_message_is_sent_and_the_connection_closed(
    lights: Lights, functions: Functions, call: Callable[..., Call]
) -> None:
    """As text, to the path that the arguments name, with the query and the headers of the connection's beginning."""
    arguments = {"lamp": "a/b", "tag": ["x", "y z"], "payload": {"on": True}, "headers": {"X-By": "ada"}}
    assert await functions.call(call("tell", arguments)) is None
    await lights.closed.wait()
    assert lights.received == ['{"on":true}']
    assert lights.paths == ["/api/lights/a%2Fb?tag=x&tag=y+z"]
    assert lights.headers[0].items() >= {"x-by": "ada", "idempotency-key": "k"}.items()
    assert lights.codes == [1000]


@pytest.mark.parametrize("name", ["X\r\nEvil", "\u00fc", "", "Host", "transfer-encoding"])
async def test_a_message_has_no_headers_of_the_connection(
    lights: Lights, functions: Functions, call: Callable[..., Call], name: str
) -> None:
    """Nor any that would begin another one: what the connection begins with is not for data to say."""
    doing = functions.call(call("tell", {"lamp": "1", "payload": {}, "headers": {name: "x"}}))
    await fault_of(doing, "BadArguments", retryable=False)
    assert lights.paths == []


async def test_bytes_are_sent_as_bytes(lights: Lights, functions: Functions, call: Callable[..., Call]) -> None:
    await functions.call(call("tellBytes", {"payload": {"base64": "AP8="}}))
    await lights.closed.wait()
    assert lights.received == [b"\x00\xff"]


async def test_a_message_is_waited_for(lights: Lights, functions: Functions, call: Callable[..., Call]) -> None:
    async def tell(connection: ServerConnection) -> None:
        await connection.send('{"on": true}')

    lights.on_connection = tell
    assert await functions.call(call("hear", {"lamp": "a", "page": 2, "headers": {"X-By": "ada"}})) == {"on": True}
    await lights.closed.wait()
    assert (lights.paths, lights.headers[0]["x-by"]) == (["/api/lights/a?page=2"], "ada")
    assert lights.codes == [1000]


async def test_waiting_that_is_cancelled_closes_the_connection(
    lights: Lights, functions: Functions, call: Callable[..., Call]
) -> None:
    connected = asyncio.Event()

    async def tell(connection: ServerConnection) -> None:
        await (await connection.ping())
        connected.set()

    lights.on_connection = tell
    waiting = asyncio.create_task(functions.call(call("hear", {"lamp": "a"})))
    await connected.wait()
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    await lights.closed.wait()
    assert lights.codes == [1000]


async def test_a_reply_comes_on_the_same_connection(
    lights: Lights, functions: Functions, call: Callable[..., Call]
) -> None:
    """It needs no id: nobody else is there."""

    async def answer(connection: ServerConnection) -> None:
        await connection.send(f"[{lights.received[-1]!s}]")

    lights.on_message = answer
    assert await functions.call(call("ask", {"lamp": "a", "payload": 5})) == [5]
    assert len(lights.paths) == 1


async def test_a_reply_may_come_on_a_channel_of_its_own(
    lights: Lights, functions: Functions, call: Callable[..., Call]
) -> None:
    """Then it is another connection, there before anything is sent; the id tells which message is the reply."""

    async def answer(_: ServerConnection) -> None:
        number = json.loads(lights.received[-1])["nr"]
        await lights.connections[0].send('{"nr": "of another"}')
        await lights.connections[0].send(json.dumps({"nr": number, "answer": 42}))

    lights.on_message = answer

    result = await functions.call(call("askElsewhere", {"how": "?", "correlationId": "7"}))

    assert result == {"nr": "7", "answer": 42}
    assert lights.paths == ["/api/answers", "/api/questions"]


async def test_a_connection_that_ends_is_a_fault(
    lights: Lights, functions: Functions, call: Callable[..., Call]
) -> None:
    async def leave(connection: ServerConnection) -> None:
        await connection.close(1000 if len(lights.paths) == 1 else 1011, "enough")

    lights.on_connection = leave
    for _ in range(2):
        await fault_of(functions.call(call("hear", {"lamp": "a"})), "ConnectionLost", "ws://127.0.0.1", retryable=True)


async def test_a_server_that_refuses_a_message_is_heard(
    lights: Lights, functions: Functions, call: Callable[..., Call]
) -> None:
    """If it says so by how it closes the connection."""

    async def refuse(connection: ServerConnection) -> None:
        await connection.close(1008, "not that")

    lights.on_connection = refuse
    fault = await fault_of(functions.call(call("tell", {"lamp": "a", "payload": 5})))
    assert fault.code in {"BrokerError", "ConnectionLost"}, "it depends on who is first"
    assert "1008" in fault.message


@pytest.mark.parametrize("status", [401, 503])
async def test_a_server_may_answer_as_http_does(
    lights: Lights, functions: Functions, call: Callable[..., Call], status: int
) -> None:
    response = lights.refusal = Response(status, HTTPStatus(status).phrase, _json_headers(), b'{"no": 1}')
    assert response.body
    fault = await fault_of(functions.call(call("hear", {"lamp": "a"})))
    assert (fault.code, fault.status, fault.body) == (str(status), status, {"no": 1})


async def test_a_redirect_to_another_server_is_not_followed(
    lights: Lights, functions: Functions, call: Callable[..., Call]
) -> None:
    """Who calls is shown to nobody else."""
    headers = _json_headers()
    headers["Location"] = "ws://localhost:1/"
    lights.refusal = Response(307, "Temporary Redirect", headers, b"")
    await fault_of(functions.call(call("hear", {"lamp": "a"})), "BrokerError", "cross-origin")


async def test_a_message_can_be_too_large(calling: Calling, lights: Lights, call: Callable[..., Call]) -> None:
    """It is not even read to its end."""

    async def tell(connection: ServerConnection) -> None:
        await connection.send('"' + "x" * 100 + '"')

    lights.on_connection = tell
    functions = calling(settings=at(lights, calls=Options(max_response_bytes=50)))
    await fault_of(functions.call(call("hear", {"lamp": "a"})), "AnswerTooLarge", retryable=False)


async def test_a_server_that_is_not_there(
    calling: Calling, lights: Lights, call: Callable[..., Call], unused_tcp_port: int
) -> None:
    lights.port = unused_tcp_port
    await fault_of(calling(settings=at(lights)).call(call("hear", {"lamp": "a"})), "ConnectionRefused", retryable=True)


async def test_secure_connections_are_checked(calling: Calling, tmp_path: Path, call: Callable[..., Call]) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    lights = Lights()

    async def tell(connection: ServerConnection) -> None:
        await connection.send("1")

    lights.on_connection = tell
    async with serve(lights.serve, "localhost", 0, ssl=context, process_request=lights.first) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        where = {"lights": f"wss://localhost:{port}"}
        trusting = Settings(
            calls=Options(tls=Tls(ca=str(tmp_path / "ca.pem"))),
            functions={name: Options(base_url=url) for name, url in where.items()},
        )
        functions = calling(settings=trusting)
        assert await functions.call(call("hear", {"lamp": "a"})) == 1
        functions = calling(settings=Settings(functions={name: Options(base_url=url) for name, url in where.items()}))
        await fault_of(functions.call(call("hear", {"lamp": "a"})), "TlsFailed")


async def test_what_the_operator_sends_along_begins_the_connection(
    calling: Calling, lights: Lights, call: Callable[..., Call]
) -> None:
    """What the workflow says wins over it."""

    async def tell(connection: ServerConnection) -> None:
        await connection.send("1")

    lights.on_connection = tell
    settings = at(lights, calls=Options(headers={"X-By": "operator", "X-Station": "north"}))
    await calling(settings=settings).call(call("hear", {"lamp": "a", "headers": {"x-by": "ada"}}))
    assert lights.headers[0].items() >= {"x-by": "ada", "x-station": "north"}.items()


async def test_the_library_is_an_extra(
    functions: Functions, call: Callable[..., Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    doing = functions.call(call("hear", {"lamp": "a"}))
    await fault_of(doing, "NotInstalled", "pip install 'swf-temporal[websocket]'", retryable=False)


def _json_headers() -> Headers:

    return Headers({"Content-Type": "application/json"})
