"""The official examples that call other protocols than HTTP reach real services: gRPC, AsyncAPI, MCP and OpenAPI.

They are scripted in the scenarios of the other examples. Here their addresses alone are replaced, by local ones.
"""

import json
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from swf_temporal import Client, Worker, load
from swf_temporal.base.data import JSON
from swf_temporal.operations.client import Instance
from swf_temporal.settings.calls import Runners, Settings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import local_server
from tests.dsl.examples.test_examples import ENDS, FILES, LATEST
from tests.functions.conftest import Service, serving
from tests.functions.mcp import stdio_server
from tests.functions.rpc.users_service import AIO, GRPC
from tests.temporal.conftest import until

pytestmark = [pytest.mark.spec, pytest.mark.temporal]

BY_NAME = {file.stem: file for file in LATEST}
PROTO = """
syntax = "proto3";
package GreeterApi;
service Greeter { rpc SayHello (Request) returns (Reply); }
message Request { string name = 1; }
message Reply { string message = 1; }
"""


def document(http: str, ws: str) -> JSON:
    """Return the AsyncAPI document of the examples: pets are sent over HTTP, notifications come over WebSocket."""
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "pets", "version": "1"},
        "servers": {
            "staging": {"host": http.removeprefix("http://"), "protocol": "http"},
            "live": {"host": ws, "protocol": "ws"},
        },
        "channels": {
            "pets": {
                "address": "/pets",
                "servers": [{"$ref": "#/servers/staging"}],
                "messages": {"pet": {"contentType": "application/json"}},
            },
            "notifications": {
                "address": "/notifications",
                "servers": [{"$ref": "#/servers/live"}],
                "messages": {"any": {"correlationId": {"location": "$message.payload#/to"}}},
            },
        },
        "operations": {
            "findPetsByStatus": {
                "action": "send",
                "channel": {"$ref": "#/channels/pets"},
                "bindings": {"http": {"method": "POST"}},
            },
            "getNotifications": {"action": "receive", "channel": {"$ref": "#/channels/notifications"}},
        },
    }


@pytest.fixture(scope="session")
async def server() -> AsyncIterator[Server]:
    async with local_server() as started:
        yield started


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Service) as started:
        yield started


def test_the_examples_are_there() -> None:
    if not FILES:
        pytest.skip("the examples of DSL 1.0 are not beside the checkout: none of them was tried")
    others = {name for name in ENDS if name.startswith(("call-grpc", "call-asyncapi", "call-mcp", "call-openapi"))}
    assert others <= BY_NAME.keys()


@asynccontextmanager
async def running(
    server: Server, folder: Path, name: str, addresses: Mapping[str, str], mcp: Sequence[str] = ()
) -> AsyncIterator[Instance]:
    """Start the example *name* on a worker, with its *addresses* replaced by those of local services."""
    if name not in BY_NAME:
        pytest.skip("the examples of DSL 1.0 are not beside the checkout")
    text = BY_NAME[name].read_text("utf-8")
    for theirs, ours in addresses.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    file = folder / "example.yaml"
    file.write_text(text, encoding="utf-8")
    client, queue = Client.of(server), f"protocols-{name}"
    settings = WorkerSettings(task_queue=queue)
    calls = Settings(runners=Runners(mcp=tuple(mcp)))
    async with Worker(client, definitions=[file], settings=settings, call_settings=calls):
        yield await client.start(load(file), ENDS[name].get("input", {}), task_queue=queue)


async def test_grpc(server: Server, tmp_path: Path) -> None:
    asked = list[bytes]()

    async def hello(request: bytes, _: Any) -> bytes:
        asked.append(request)
        return b"\x0a\x09Hello " + request[2:]

    (tmp_path / "app").mkdir()
    (tmp_path / "app/greet.proto").write_text(PROTO, encoding="utf-8")
    greeter = AIO.server()
    handler = GRPC.unary_unary_rpc_method_handler(hello)
    greeter.add_generic_rpc_handlers(
        (GRPC.method_handlers_generic_handler("GreeterApi.Greeter", {"SayHello": handler}),)
    )
    port = greeter.add_insecure_port("127.0.0.1:0")
    await greeter.start()
    try:
        async with running(server, tmp_path, "call-grpc", {"5011": str(port)}) as instance:
            assert await instance.result() == {"message": "Hello Ada"}
    finally:
        await greeter.stop(None)
    assert asked == [b"\x0a\x03Ada"]


async def test_openapi(server: Server, tmp_path: Path, service: Service) -> None:
    operation: JSON = {
        "operationId": "findPetsByStatus",
        "parameters": [{"name": "status", "in": "query", "type": "array", "items": {"type": "string"}}],
        "responses": {"200": {"description": "pets"}},
    }
    described: JSON = {
        "swagger": "2.0",
        "info": {"title": "pets", "version": "1"},
        "basePath": "/v2",
        "paths": {"/pet/findByStatus": {"get": operation}},
    }
    service.answers_with("GET", "/v2/swagger.json", described)
    service.answers_with("GET", "/v2/pet/findByStatus", [{"id": 1}])
    addresses = {"https://petstore.swagger.io": service.url}
    async with running(server, tmp_path, "call-openapi", addresses) as instance:
        assert await instance.result() == [{"id": 1}]
    assert service.last.query == [("status", "available")]


async def test_messages_are_published(server: Server, tmp_path: Path, service: Service) -> None:
    service.answers_with("GET", "/docs/asyncapi.json", document(service.url, "127.0.0.1:1"))
    service.answers_with("POST", "/pets", {})
    async with running(server, tmp_path, "call-asyncapi-publish", {"https://fake.com": service.url}) as instance:
        await instance.result()
    assert (service.last.path, service.last.body) == ("/pets", {"petId": 1})
    assert service.last.headers["authorization"] == "Bearer made-up"


def notification(to: str) -> dict[str, JSON]:
    return {"to": to, "from": {"firstName": "Ada", "lastName": "L"}}


CONSUMED: JSON = {"payload": notification("u"), "headers": {}, "correlationId": "u"}


@asynccontextmanager
async def notifying(service: Service, messages: Sequence[JSON]) -> AsyncIterator[None]:
    """Send every client these *messages* over WebSocket, as the document of *service* says."""

    async def notify(connection: ServerConnection) -> None:
        for message in messages:
            await connection.send(json.dumps(message))
        await connection.wait_closed()

    async with serve(notify, "127.0.0.1", 0) as notifier:
        port = next(iter(notifier.sockets)).getsockname()[1]
        service.answers_with("GET", "/docs/asyncapi.json", document(service.url, f"127.0.0.1:{port}"))
        yield


async def test_as_many_messages_as_wanted_are_consumed(server: Server, tmp_path: Path, service: Service) -> None:
    name = "call-asyncapi-subscribe-consume-amount"
    async with (
        notifying(service, [notification(to) for to in "uvuuuuv"]),
        running(server, tmp_path, name, {"https://fake.com": service.url}) as instance,
    ):
        assert await instance.result() == [CONSUMED] * 5


async def test_messages_are_consumed_until_the_instance_is_cancelled(
    server: Server, tmp_path: Path, service: Service
) -> None:
    name = "call-asyncapi-subscribe-consume-forever-foreach"
    async with (
        notifying(service, [notification("u")]),
        running(server, tmp_path, name, {"https://fake.com": service.url}) as instance,
    ):

        async def produced() -> list[Any]:
            return [one for one in await instance.trace() if one["kind"] == "event-produced"]

        found = await until(produced)
        await instance.cancel()
        # The service sends the message to each connection, of which there may be a second by now.
        assert all(one["detail"]["data"] == {"message": CONSUMED} for one in found)


async def test_mcp(server: Server, tmp_path: Path) -> None:
    command = tmp_path / "npx"
    shutil.copy(stdio_server.__file__, tmp_path / "server.py")
    command.write_text(f"#!/bin/sh\nexec {sys.executable} {tmp_path}/server.py\n", encoding="utf-8")
    command.chmod(0o755)
    async with running(
        server, tmp_path, "call-mcp", {"command: npx": f"command: {command}"}, [str(command)]
    ) as instance:
        output: Any = await instance.result()
    told = json.loads(output["content"][0]["text"])
    assert told["given"]["name"] == "conversations_add_message"
    assert told["environment"]["SLACK_MCP_XOXP_TOKEN"].startswith("xoxp-")
