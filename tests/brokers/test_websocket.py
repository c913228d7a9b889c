"""Messages of AsyncAPI documents go over real connections of WebSocket."""

import asyncio
import json
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
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
from swf_temporal.functions.calling import Call
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.network import Tls
from tests.failing import fault_of
from tests.functions.conftest import Calling

Answers = Callable[[ServerConnection], Any]


def says(frame: str) -> Answers:
    return lambda connection: connection.send(frame)


def leaves(code: int) -> Answers:
    return lambda connection: connection.close(code, "enough")


JSON_TYPE = {"Content-Type": "application/json"}
NUMBERED = {"correlationId": {"location": "$message.payload#/nr"}}
LIGHTS = {"$ref": "#/channels/lights"}
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
        "tell": {"action": "send", "channel": LIGHTS},
        "tellBytes": {"action": "send", "channel": {"$ref": "#/channels/bytes"}},
        "hear": {"action": "receive", "channel": LIGHTS},
        "ask": {"action": "send", "channel": LIGHTS, "reply": {"channel": LIGHTS}},
        "askElsewhere": {
            "action": "send",
            "channel": {"$ref": "#/channels/questions"},
            "reply": {"channel": {"$ref": "#/channels/answers"}},
        },
    },
}
Ask = Callable[..., Coroutine[Any, Any, JSON]]


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
def ask(calling: Calling, lights: Lights, tmp_path: Path) -> Ask:
    """Return a way to make calls of the document's operations, where *settings* hold."""
    (tmp_path / "lights.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")

    async def ask(operation: str | dict[str, str], arguments: JSON = None, *, url: str = "", **settings: Any) -> JSON:
        where = {"lights": Options(base_url=url or f"ws://127.0.0.1:{lights.port}/api")}
        named = f"lights.json#{operation}" if isinstance(operation, str) else operation
        function = Function(name="lights", type="asyncapi", operation=named)
        made = Call(function, arguments, base=str(tmp_path), idempotency_key="k")
        return await calling(settings=Settings(functions=where, **settings)).call(made)

    return ask


async def test_a_message_is_sent_and_the_connection_closed(lights: Lights, ask: Ask) -> None:
    """As text, to the path that the arguments name, with the query and the headers of the connection's beginning."""
    arguments = {"lamp": "a/b", "tag": ["x", "y z"], "payload": {"on": True}, "headers": {"X-By": "ada"}}
    assert await ask("tell", arguments) is None
    await lights.closed.wait()
    assert (lights.received, lights.codes) == (['{"on":true}'], [1000])
    assert lights.paths == ["/api/lights/a%2Fb?tag=x&tag=y+z"]
    assert lights.headers[0].items() >= {"x-by": "ada", "idempotency-key": "k"}.items()
    lights.closed.clear()
    await ask("tellBytes", {"payload": {"base64": "AP8="}})
    await lights.closed.wait()
    assert lights.received[1:] == [b"\x00\xff"]


@pytest.mark.parametrize("name", ["X\r\nEvil", "\u00fc", "", "Host", "transfer-encoding"])
async def test_a_message_has_no_headers_of_the_connection(lights: Lights, ask: Ask, name: str) -> None:
    """Nor any that would begin another one: what the connection begins with is not for data to say."""
    doing = ask("tell", {"lamp": "1", "payload": {}, "headers": {name: "x"}})
    await fault_of(doing, "BadArguments", retryable=False)
    assert lights.paths == []


async def test_a_message_is_waited_for(lights: Lights, ask: Ask) -> None:
    """The connection begins with what the operator sends along, and with what the workflow says, which wins."""
    lights.on_connection = says('{"on": true}')
    along = Options(headers={"X-By": "operator", "X-Station": "north"})
    heard = await ask("hear", {"lamp": "a", "page": 2, "headers": {"x-by": "ada"}}, calls=along)
    await lights.closed.wait()
    assert (heard, lights.paths, lights.codes) == ({"on": True}, ["/api/lights/a?page=2"], [1000])
    assert lights.headers[0].items() >= {"x-by": "ada", "x-station": "north"}.items()


HEAR = {"document": "lights.json", "operation": "hear"}


async def test_a_subscription_has_the_messages_of_one_connection(lights: Lights, ask: Ask) -> None:
    """The server keeps none, so a call returns as many as it may, or all until its time is over."""

    async def says_three(connection: ServerConnection) -> None:
        for frame in ("1", "2", "3"):
            await connection.send(frame)

    lights.on_connection = says_three
    given: dict[str, JSON] = {"parameters": {"lamp": "a", "page": 2}, "subscription": "s"}
    limits: list[Any] = [({"amount": 2}, [1, 2]), ({"for": 1}, [1, 2, 3])]
    for limit, expected in limits:
        result: Any = await ask(HEAR, {**given, **limit})
        assert [message["payload"] for message in result["messages"]] == expected
        assert result["receipt"] is None
    assert lights.paths == ["/api/lights/a?page=2"] * 2
    assert await ask(HEAR, {**given, "end": True}) == {"messages": [], "receipt": None}
    lights.on_connection = leaves(1000)
    await fault_of(ask(HEAR, given), "ConnectionLost", retryable=True)


async def test_waiting_that_is_cancelled_closes_the_connection(lights: Lights, ask: Ask) -> None:
    connected = asyncio.Event()

    async def tell(connection: ServerConnection) -> None:
        await (await connection.ping())
        connected.set()

    lights.on_connection = tell
    waiting = asyncio.create_task(ask("hear", {"lamp": "a"}))
    await connected.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await lights.closed.wait()
    assert lights.codes == [1000]


async def test_a_reply_comes_on_the_same_connection(lights: Lights, ask: Ask) -> None:
    """It needs no id: nobody else is there."""

    async def answer(connection: ServerConnection) -> None:
        await connection.send(f"[{lights.received[-1]!s}]")

    lights.on_message = answer
    assert await ask("ask", {"lamp": "a", "payload": 5}) == [5]
    assert len(lights.paths) == 1


async def test_a_reply_may_come_on_a_channel_of_its_own(lights: Lights, ask: Ask) -> None:
    """Then it is another connection, there before anything is sent; the id tells which message is the reply."""

    async def answer(_: ServerConnection) -> None:
        number = json.loads(lights.received[-1])["nr"]
        await lights.connections[0].send('{"nr": "of another"}')
        await lights.connections[0].send(json.dumps({"nr": number, "answer": 42}))

    lights.on_message = answer
    assert await ask("askElsewhere", {"how": "?", "correlationId": "7"}) == {"nr": "7", "answer": 42}
    assert lights.paths == ["/api/answers", "/api/questions"]


@pytest.mark.parametrize("status", [401, 503])
async def test_a_server_may_answer_as_http_does(lights: Lights, ask: Ask, status: int) -> None:
    lights.refusal = Response(status, HTTPStatus(status).phrase, Headers(JSON_TYPE), b'{"no": 1}')
    fault = await fault_of(ask("hear", {"lamp": "a"}), str(status))
    assert (fault.status, fault.body) == (status, {"no": 1})


REDIRECT = Response(307, "Temporary Redirect", Headers({**JSON_TYPE, "Location": "ws://localhost:1/"}), b"")


@pytest.mark.parametrize(("facts", "given", "code", "told", "retryable"), [
    ({"on_connection": leaves(1000)}, {}, "ConnectionLost", "ws://127.0.0.1", True),
    ({"on_connection": leaves(1011)}, {}, "ConnectionLost", "ws://127.0.0.1", True),
    ({"refusal": REDIRECT}, {}, "BrokerError", "cross-origin", None),  # who calls is shown to nobody else
    # It is not even read to its end.
    ({"on_connection": says(f'"{"x" * 100}"')}, {"calls": Options(max_response_bytes=50)}, "AnswerTooLarge", "", False),
    ({}, {"url": "ws://127.0.0.1:1"}, "ConnectionRefused", "", True),
    ({"library": None}, {}, "NotInstalled", "pip install 'swf-temporal[websocket]'", False),
])  # fmt: skip
async def test_what_fails(  # noqa: PLR0913 - the facts of a case
    lights: Lights, ask: Ask, monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], given: dict[str, Any], code: str,
    told: str, *, retryable: bool | None,
) -> None:  # fmt: skip
    if "library" in facts:
        monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    vars(lights).update(facts)
    await fault_of(ask("hear", {"lamp": "a"}, **given), code, told, retryable=retryable)


async def test_a_server_that_refuses_a_message_is_heard(lights: Lights, ask: Ask) -> None:
    lights.on_connection = leaves(1008)
    fault = await fault_of(ask("tell", {"lamp": "a", "payload": 5}), told="1008")
    assert fault.code in {"BrokerError", "ConnectionLost"}, "it depends on who is first"


async def test_secure_connections_are_checked(tmp_path: Path, lights: Lights, ask: Ask) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    lights.on_connection = says("1")
    async with serve(lights.serve, "localhost", 0, ssl=context, process_request=lights.first) as server:
        url = f"wss://localhost:{next(iter(server.sockets)).getsockname()[1]}"
        trusting = Options(tls=Tls(ca=str(tmp_path / "ca.pem")))
        assert await ask("hear", {"lamp": "a"}, url=url, calls=trusting) == 1
        await fault_of(ask("hear", {"lamp": "a"}, url=url), "TlsFailed")
