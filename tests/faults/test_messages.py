"""What a workflow and a person are told when an operation of an AsyncAPI document fails.

Each is run on a real Temporal server: once with onErrors that names the code, and once without. What goes wrong before
a message is there is tried with every protocol; what is wrong with a message, over WebSocket.
"""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from swf_temporal.settings.calls import Options, Settings
from tests.faults.conftest import Attempt, FailedCall, Stage, by_client, grants_tokens
from tests.functions.conftest import Service

PLAIN = ("mqtt", "amqp", "nats", "kafka", "ws", "http")
SECURE = ("mqtts", "amqps", "kafka-secure", "wss", "https")
"""NATS is not among them: it begins in plain text, and is tried with a real server of its own."""
MESSAGE = {"contentType": "application/json", "payload": {"type": "object", "required": ["lumens"]}}
Fails = Callable[..., Awaitable[FailedCall]]


@pytest.fixture
def fails(stage: Stage, tmp_path: Path) -> Fails:
    """Return a way to send or receive a measurement, which fails."""

    async def fails(  # noqa: PLR0913 - what tests say of it
        protocol: str, host: str, code: str | int, *texts: str, receives: bool = False,
        settings: dict[str, Any] | None = None, function: dict[str, Any] | None = None, arguments: Any = None,
        status: int | None = None, body: Any = None, **facts: Any,
    ) -> FailedCall:  # fmt: skip
        action = "receive" if receives else "send"
        document = {
            "asyncapi": "3.0.0",
            "servers": {"street": {"host": host, "protocol": protocol}},
            "channels": {"lights": {"address": "/lights", "messages": {"measured": MESSAGE}}},
            "operations": {"tell": {"action": action, "channel": {"$ref": "#/channels/lights"}}},
        }
        file = tmp_path / "street.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        known = Settings(calls=Options(**{"timeout": timedelta(seconds=1), **(settings or {})}))
        called = {"type": "asyncapi", "operation": f"{file}#tell", **(function or {})}
        made = Attempt(called, None if receives else arguments or {"lumens": 7}, known, **facts)
        return await stage.fails(made, code, *texts, status=status, body=body)

    return fails


@pytest.mark.parametrize("protocol", PLAIN)
async def test_refused(fails: Fails, closed_port: int, protocol: str) -> None:
    await fails(protocol, f"127.0.0.1:{closed_port}", "ConnectionRefused", f"127.0.0.1:{closed_port}", "refused")


@pytest.mark.parametrize("protocol", PLAIN)
async def test_silence(fails: Fails, silent_port: int, protocol: str) -> None:
    host, hasty = f"127.0.0.1:{silent_port}", {"timeout": timedelta(milliseconds=200)}
    await fails(protocol, host, "Timeout", host, "in time", settings=hasty)


@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.parametrize("protocol", SECURE)
async def test_not_to_be_trusted(fails: Fails, untrusted_port: int, protocol: str) -> None:
    await fails(protocol, f"localhost:{untrusted_port}", "TlsFailed", f"localhost:{untrusted_port}")
    gc.collect()  # the library for MQTT leaves its socket to the garbage collector, which would warn in another test


@asynccontextmanager
async def speaking(*messages: str | bytes) -> AsyncIterator[str]:
    """Run a WebSocket server that says *messages* to whoever comes, and then waits."""

    async def speak(connection: ServerConnection) -> None:
        for message in messages:
            await connection.send(message)
        await connection.wait_closed()

    async with serve(speak, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


@pytest.mark.parametrize(("said", "code", "text", "facts"), [
    ('{"lumens": ', "MalformedAnswer", "but it is not", {"body": ...}),
    ('{"lux": 7}', "SchemaMismatch", "lumens", {"body": {"lux": 7}}),
    (json.dumps({"lumens": "x" * 5000}), "AnswerTooLarge", "1000", {"settings": {"max_response_bytes": 1000}}),
], ids=["malformed", "another schema", "too large"])  # fmt: skip
async def test_what_comes_does_not_fit(fails: Fails, said: str, code: str, text: str, facts: dict[str, Any]) -> None:
    async with speaking(said) as host:
        await fails("ws", host, code, text, receives=True, **facts)


async def test_what_is_sent_does_not_fit(fails: Fails) -> None:
    await fails("ws", "127.0.0.1:9", "BadArguments", "lumens", arguments={"lux": 7})


async def test_waiting_has_an_end(fails: Fails) -> None:
    async with speaking() as host:
        doing = fails("ws", host, "TimedOut", "longer than it may", receives=True, timeout="PT0.5S")
        await asyncio.wait_for(doing, 30)


@pytest.mark.parametrize("protocol", ["ws", "http"])
async def test_an_expired_token(fails: Fails, service: Service, protocol: str) -> None:
    """The service refuses the token and the next one as well; none of them is shown to anybody."""
    grants_tokens(service)
    expired, host = {"detail": "the token has expired"}, service.url.removeprefix("http://")
    for method in ("GET", "POST"):
        service.answers_with(method, "/lights", expired, status=401)
    told = await fails(protocol, host, 401, "401", status=401, body=expired, **by_client(service.url))
    shown = [request.headers["authorization"] for request in service.requests if request.path == "/lights"]
    assert len(set(shown)) == 5, "the first call asks for a token, and each of the four for a new one"
    assert "of-nobody" not in told.text + json.dumps(told.caught)


@pytest.mark.parametrize("protocol", ["ws", "http"])
@pytest.mark.parametrize("status", [401, 404, 503])
async def test_an_error_of_the_service(fails: Fails, service: Service, protocol: str, status: int) -> None:
    body, host = {"detail": "not now"}, service.url.removeprefix("http://")
    for method in ("GET", "POST"):
        service.answers_with(method, "/lights", body, status=status)
    await fails(protocol, host, status, f"{status}", status=status, body=body)
