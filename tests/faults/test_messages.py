"""What a workflow and a person are told when an operation of an AsyncAPI document fails.

Each is run on a real Temporal server: once with onErrors that names the code, and once without. What goes wrong before
a message is there is tried with every protocol; what is wrong with a message, over WebSocket.
"""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from swf_temporal.settings.calls import Options, Settings
from tests.faults.conftest import Attempt, Stage, Told
from tests.functions.conftest import Service

PLAIN = ("mqtt", "amqp", "nats", "kafka", "ws", "http")
SECURE = ("mqtts", "amqps", "kafka-secure", "wss", "https")
"""NATS is not among them: it begins in plain text, and is tried with a real server of its own."""
MESSAGE = {"contentType": "application/json", "payload": {"type": "object", "required": ["lumens"]}}


def attempt(folder: Path, protocol: str, host: str, action: str = "send", **facts: Any) -> Attempt:
    channel = {"address": "/lights", "messages": {"measured": MESSAGE}}
    document = {
        "asyncapi": "3.0.0",
        "servers": {"street": {"host": host, "protocol": protocol}},
        "channels": {"lights": channel},
        "operations": {"tell": {"action": action, "channel": {"$ref": "#/channels/lights"}}},
    }
    file = folder / "street.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    settings = Settings(calls=Options(timeout=timedelta(seconds=1), **facts.pop("settings", {})))
    arguments = {"lumens": 7} if action == "send" else None
    function = {"type": "asyncapi", "operation": f"{file}#tell", **facts.pop("function", {})}
    return Attempt(function, arguments, settings, **facts)


def check(told: Told, code: str, *texts: str, status: int | None = None, body: Any = None) -> None:
    assert (told.caught["code"], told.caught["status"], told.caught["body"]) == (code, status, body)
    assert told.caught["state"] == "Ask"
    for text in ("'Ask'", "action 'ask'", *texts):
        assert text in told.text
    assert all(text in told.caught["message"] for text in texts)


@pytest.mark.parametrize("protocol", PLAIN)
async def test_refused(stage: Stage, closed_port: int, protocol: str, tmp_path: Path) -> None:
    told = await stage.play(attempt(tmp_path, protocol, f"127.0.0.1:{closed_port}"), "ConnectionRefused")
    check(told, "ConnectionRefused", f"127.0.0.1:{closed_port}", "refused")


@pytest.mark.parametrize("protocol", PLAIN)
async def test_silence(stage: Stage, silent_port: int, protocol: str, tmp_path: Path) -> None:
    told = await stage.play(attempt(tmp_path, protocol, f"127.0.0.1:{silent_port}"), "Timeout")
    check(told, "Timeout", f"127.0.0.1:{silent_port}", "in time")


@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.parametrize("protocol", SECURE)
async def test_not_to_be_trusted(stage: Stage, untrusted_port: int, protocol: str, tmp_path: Path) -> None:
    told = await stage.play(attempt(tmp_path, protocol, f"localhost:{untrusted_port}"), "TlsFailed")
    check(told, "TlsFailed", f"localhost:{untrusted_port}")
    gc.collect()  # the library for MQTT leaves its socket to the garbage collector, which would warn in another test


@asynccontextmanager
async def speaking(*messages: str | bytes) -> AsyncIterator[str]:
    async def speak(connection: ServerConnection) -> None:
        for message in messages:
            await connection.send(message)
        await connection.wait_closed()

    async with serve(speak, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


async def test_malformed(stage: Stage, tmp_path: Path) -> None:
    async with speaking('{"lumens": ') as host:
        told = await stage.play(attempt(tmp_path, "ws", host, "receive"), "MalformedAnswer")
    check(told, "MalformedAnswer", "but it is not", body=told.caught["body"])


async def test_another_schema(stage: Stage, tmp_path: Path) -> None:
    async with speaking('{"lux": 7}') as host:
        told = await stage.play(attempt(tmp_path, "ws", host, "receive"), "SchemaMismatch")
    check(told, "SchemaMismatch", "lumens", body={"lux": 7})


async def test_too_large(stage: Stage, tmp_path: Path) -> None:
    """More comes than the worker takes."""
    async with speaking(json.dumps({"lumens": "x" * 5000})) as host:
        large = attempt(tmp_path, "ws", host, "receive", settings={"max_response_bytes": 1000})
        told = await stage.play(large, "AnswerTooLarge")
    check(told, "AnswerTooLarge", "1000")


async def test_what_is_sent_does_not_fit(stage: Stage, tmp_path: Path) -> None:
    wrong = attempt(tmp_path, "ws", "127.0.0.1:9")
    wrong.arguments = {"lux": 7}
    check(await stage.play(wrong, "BadArguments"), "BadArguments", "lumens")


async def test_waiting_has_an_end(stage: Stage, tmp_path: Path) -> None:
    async with speaking() as host:
        waiting = attempt(tmp_path, "ws", host, "receive", timeout="PT0.5S")
        told = await asyncio.wait_for(stage.play(waiting, "TimedOut"), 30)
    check(told, "TimedOut", "longer than it may")


@pytest.mark.parametrize("protocol", ["ws", "http"])
async def test_an_expired_token(stage: Stage, service: Service, protocol: str, tmp_path: Path) -> None:
    """The service refuses the token and the next one as well; none of them is shown to anybody."""
    tokens = iter(f"token-{number}-of-nobody" for number in range(100))
    granted = {"token_type": "Bearer", "expires_in": 3600}
    service.answers_by("POST", "/token", lambda: {"access_token": next(tokens), **granted})
    for method in ("GET", "POST"):
        service.answers_with(method, "/lights", {"detail": "the token has expired"}, status=401)
    client = {"grantType": "clientCredentials", "clientId": "street", "clientSecret": "s3cret-of-street"}
    auth = {"name": "by client", "scheme": "oauth2", "properties": {"authority": f"{service.url}/token", **client}}
    function = {"authRef": {"invocation": "by client"}}
    host = service.url.removeprefix("http://")

    told = await stage.play(attempt(tmp_path, protocol, host, function=function, auth=[auth]), 401)

    check(told, "401", "401", status=401, body={"detail": "the token has expired"})
    shown = [request.headers["authorization"] for request in service.requests if request.path == "/lights"]
    assert len(set(shown)) == 5, "the first call asks for a token, and each of the four for a new one"
    assert "of-nobody" not in told.text + json.dumps(told.caught)


@pytest.mark.parametrize("protocol", ["ws", "http"])
@pytest.mark.parametrize("status", [401, 404, 503])
async def test_an_error_of_the_service(
    stage: Stage, service: Service, protocol: str, status: int, tmp_path: Path
) -> None:
    for method in ("GET", "POST"):
        service.answers_with(method, "/lights", {"detail": "not now"}, status=status)
    told = await stage.play(attempt(tmp_path, protocol, service.url.removeprefix("http://")), status)
    check(told, str(status), f"{status}", status=status, body={"detail": "not now"})
