"""Methods of MCP servers, over HTTP and over the standard input and output of a process."""

import asyncio
import json
import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Runners, Settings
from tests.failing import fault_of
from tests.functions.conftest import Answer, Calling, Received, Service, serving, showing
from tests.functions.mcp import stdio_server

TOOL: JSON = {"name": "add", "arguments": {"a": 1}}


class McpService(Service):
    """An MCP server over HTTP, with a session."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        super().__init__(server)
        self.is_streaming = False
        self.version = "2025-06-18"
        self.result: dict[str, Any] = {"result": {"content": []}}
        self.before: list[dict[str, Any]] = []
        """The messages that it streams before the answer."""

    def answer_to(self, request: Received) -> Answer:
        if request.path != "/mcp":
            return Answer(b"no such page", 404)
        if request.method == "DELETE":
            return Answer(status=405)
        message = request.body
        if message.get("method") == "initialize":
            return self._said(message, {"result": {"protocolVersion": self.version}}, {"Mcp-Session-Id": "s1"})
        if "id" not in message or "method" not in message:
            return Answer(status=202)
        return self._said(message, self.result, {})

    def _said(self, message: dict[str, Any], result: dict[str, Any], headers: dict[str, str]) -> Answer:
        answer = {"jsonrpc": "2.0", "id": message["id"], **result}
        if not self.is_streaming:
            return Answer(json.dumps(answer).encode(), headers={"Content-Type": "application/json", **headers})
        events = "".join(f"event: message\ndata: {json.dumps(one)}\n\n" for one in (*self.before, answer))
        return Answer(events.encode(), headers={"Content-Type": "text/event-stream; charset=utf-8", **headers})

    @property
    def heard(self) -> list[str]:
        return [one.body.get("method", "answer") if one.content else one.method for one in self.requests]


@pytest.fixture
def server() -> Iterator[McpService]:
    with serving(McpService) as server:
        yield server


@pytest.fixture
def functions(calling: Calling) -> Functions:
    return calling(settings=Settings())


def over_http(server: Service, method: str = "tools/call", parameters: JSON = TOOL, **more: JSON) -> Call:
    transport: JSON = {"http": {"endpoint": f"{server.url}/mcp", "headers": {"X-Team": "orders"}}}
    arguments: JSON = {"method": method, "parameters": parameters, "transport": transport, **more}
    return Call(Function("tool", "mcp"), arguments, idempotency_key="k1")


@pytest.mark.parametrize("is_streaming", [False, True])
async def test_a_tool_over_http(server: McpService, functions: Functions, *, is_streaming: bool) -> None:
    server.is_streaming = is_streaming
    server.result = {"result": {"content": [{"type": "text", "text": "2"}]}}
    assert await functions.call(over_http(server)) == {"content": [{"type": "text", "text": "2"}]}
    assert server.heard == ["initialize", "notifications/initialized", "tools/call", "DELETE"]
    first, _, tool, last = server.requests
    assert first.body["params"]["protocolVersion"] == "2025-06-18"
    assert first.body["params"]["clientInfo"]["name"] == "swf-temporal"
    assert tool.body["params"] == TOOL
    assert tool.headers["accept"] == "application/json, text/event-stream"
    for one in (tool, last):
        assert (one.headers["mcp-session-id"], one.headers["mcp-protocol-version"]) == ("s1", "2025-06-18")
    assert {one.headers["x-team"] for one in server.requests} == {"orders"}
    assert [one.headers.get("idempotency-key") for one in server.requests] == [None, None, "k1", None]


async def test_the_version_and_the_client(server: McpService, functions: Functions) -> None:
    server.version = "2025-03-26"
    client: JSON = {"name": "mine", "version": "7"}
    await functions.call(over_http(server, "tools/list", None, protocolVersion="2025-11-25", client=client))
    first, *_, listed, _ = server.requests
    assert (first.body["params"]["protocolVersion"], first.body["params"]["clientInfo"]) == ("2025-11-25", client)
    assert listed.headers["mcp-protocol-version"] == "2025-03-26", "to which the server has agreed"


async def test_an_error_of_the_server(server: McpService, functions: Functions) -> None:
    server.result = {"error": {"code": -32602, "message": "no such tool", "data": [1]}}
    fault = await fault_of(functions.call(over_http(server)), "RpcError", "-32602: no such tool", retryable=False)
    assert fault.body == {"code": -32602, "message": "no such tool", "data": [1]}
    server.result = {"error": {"code": -32000, "message": "busy"}}
    await fault_of(functions.call(over_http(server)), "RpcError", "busy", retryable=True)


async def test_requests_of_the_server_are_answered(server: McpService, functions: Functions) -> None:
    server.is_streaming = True
    server.before = [
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {}},
        {"jsonrpc": "2.0", "id": "p", "method": "ping"},
        {"jsonrpc": "2.0", "id": "r", "method": "roots/list"},
    ]
    assert await functions.call(over_http(server)) == {"content": []}
    answers = [one.body for one in server.requests if one.content and "method" not in one.body]
    assert answers[-2]["result"] == {}
    assert (answers[-1]["id"], answers[-1]["error"]["code"]) == ("r", -32601)


async def test_credentials(server: McpService, functions: Functions) -> None:
    await functions.call(showing(over_http(server), "bearer", {"token": "t0ken"}))
    assert {one.headers["authorization"] for one in server.requests} == {"Bearer t0ken"}


async def test_a_service_that_is_no_mcp_server(service: Service, functions: Functions) -> None:
    fault = await fault_of(functions.call(over_http(service)))
    assert fault.status == 404
    service.answers_with("POST", "/mcp", b"<html>", content_type="text/html")
    await fault_of(functions.call(over_http(service)), "MalformedAnswer")
    service.answers_with("POST", "/mcp", {"jsonrpc": "2.0", "id": 99, "result": {}})
    await fault_of(functions.call(over_http(service)), "ConnectionLost", "was not answered")
    service.hangs("POST", "/mcp")
    await fault_of(functions.call(over_http(service, timeout=0.5)), "Timeout")


async def test_a_stream_that_stays_open_after_the_answer(functions: Functions) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.partition("content-length:")[2].split()[0]) if "content-length:" in head else 0
        message = json.loads(await reader.readexactly(size) or "{}")
        if "id" not in message:
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()
            return
        event = f"data: {json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': {'n': 1}})}\n\n".encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        await reader.read()  # until the client hangs up
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        transport: JSON = {"http": {"endpoint": f"http://127.0.0.1:{port}/mcp"}}
        call = Call(Function("tool", "mcp"), {"method": "tools/list", "transport": transport})
        assert await functions.call(call) == {"n": 1}


COMMAND = [sys.executable, stdio_server.__file__]


def over_stdio(kind: str = "", method: str = "tools/call", **more: JSON) -> Call:
    stdio: JSON = {"command": COMMAND[0], "arguments": [*COMMAND[1:], *filter(None, [kind])], "environment": {"A": "b"}}
    arguments: JSON = {"method": method, "parameters": TOOL, "transport": {"stdio": stdio}, **more}
    return Call(Function("tool", "mcp"), arguments)


@pytest.fixture
def starting(calling: Calling) -> Functions:
    return calling(settings=Settings(runners=Runners(mcp=(" ".join(COMMAND),), max_output_bytes=100_000)))


async def test_a_tool_of_a_process(starting: Functions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWF_SECRET_KEY", "sesame")
    result: Any = await starting.call(over_stdio())
    told = json.loads(result["content"][0]["text"])
    assert told["heard"] == ["initialize", "notifications/initialized", "tools/call"]
    assert told["given"] == TOOL
    assert told["environment"]["A"] == "b"
    assert "SWF_SECRET_KEY" not in told["environment"]


async def test_requests_of_a_process_are_answered(starting: Functions) -> None:
    result: Any = await starting.call(over_stdio("asks"))
    *_, pong, refusal = json.loads(result["content"][0]["text"])["heard"]
    assert json.loads(pong) == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert json.loads(refusal)["error"]["code"] == -32601


@pytest.mark.parametrize(("call", "code", "told"), [
    (over_stdio(method="prompts/get"), "RpcError", "no such method"),
    (over_stdio("broken"), "ProcessFailed", "exit code 1: the configuration is missing"),
    (over_stdio("exits"), "ProcessFailed", "exit code 7"),
    (over_stdio("endless"), "AnswerTooLarge", "more than 100000 bytes"),
    (over_stdio("silent", timeout=1), "Timeout", "did not answer within 1 s"),
])  # fmt: skip
async def test_a_process_that_fails(starting: Functions, call: Call, code: str, told: str) -> None:
    await fault_of(starting.call(call), code, told)


@pytest.mark.parametrize("allowed", [(), ("other",), (f"{COMMAND[0]} other.py",), ("",), (f"{COMMAND[0]}x",)])
async def test_a_process_must_be_allowed(calling: Calling, allowed: tuple[str, ...]) -> None:
    functions = calling(settings=Settings(runners=Runners(mcp=allowed)))
    await fault_of(functions.call(over_stdio()), "RunnerOff", "'runners: {mcp: [", retryable=False)


@pytest.mark.parametrize(("arguments", "told"), [
    ({"method": "tools/list"}, "'transport.stdio.command' is missing"),
    ({"transport": {"http": {}}}, "'method' is missing"),
    ({"method": "tools/list", "transport": {"http": {}}}, "'transport.http.endpoint' is missing"),
    ({"method": "tools/list", "transport": {"htp": {}}}, "there is no argument 'transport.htp'"),
    ({"method": "tools/list", "transport": {"http": {"endpoint": "http://a"}}, "parameters": []}, "must be an object"),
    ({"method": "tools/list", "transport": "stdio"}, "'transport' must be an object"),
])  # fmt: skip
async def test_invalid_arguments(starting: Functions, arguments: dict[str, JSON], told: str) -> None:
    await fault_of(starting.call(Call(Function("t", "mcp"), arguments)), "BadArguments", told, retryable=False)
