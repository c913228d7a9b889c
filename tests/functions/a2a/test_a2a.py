"""Methods of agents, by the Agent2Agent protocol."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Settings
from tests.failing import fault_of
from tests.functions.conftest import Answer, Calling, Received, Service, serving, showing

CARD = "/.well-known/agent-card.json"
MESSAGE: JSON = {"message": {"parts": [{"kind": "text", "text": "Generate the report."}]}}


class Agent(Service):
    def __init__(self, server: ThreadingHTTPServer) -> None:
        super().__init__(server)
        self.card: dict[str, Any] = {"name": "reports", "url": f"{self.url}/a2a"}
        self.said: list[dict[str, Any]] = [{"result": {"kind": "task", "id": "t1"}}]
        """The results or errors of the answer; of a stream if there are several."""

    def answer_to(self, request: Received) -> Answer:
        if request.path == CARD:
            return Answer(json.dumps(self.card).encode(), headers={"Content-Type": "application/json"})
        if request.path not in {"/a2a", "/v2"}:
            return Answer(b"no such page", 404)
        answers = [json.dumps({"jsonrpc": "2.0", "id": request.body["id"], **one}) for one in self.said]
        if request.body["method"] in {"message/stream", "tasks/resubscribe"}:
            events = "".join(f"data: {one}\n\n" for one in answers)
            return Answer(events.encode(), headers={"Content-Type": "text/event-stream"})
        return Answer(answers[0].encode(), headers={"Content-Type": "application/json"})


@pytest.fixture
def agent() -> Iterator[Agent]:
    with serving(Agent) as agent:
        yield agent


@pytest.fixture
def functions(calling: Calling) -> Functions:
    return calling(settings=Settings())


def asking(agent: Service, method: str = "message/send", parameters: JSON = MESSAGE, card: str | None = "") -> Call:
    """Return a call of an *agent*, by its *card*, or by its URL if that is None."""
    metadata = {} if card is None else {"agentCard": card or f"{agent.url}{CARD}"}
    arguments: dict[str, JSON] = {"method": method, "parameters": parameters}
    arguments |= {"server": f"{agent.url}/a2a"} if card is None else {}
    return Call(Function("report", "a2a", metadata=metadata), arguments, idempotency_key="k1")


@pytest.mark.parametrize("card", ["", None])
async def test_a_message(agent: Agent, functions: Functions, card: str | None) -> None:
    call = asking(agent, card=card)
    assert await functions.call(call) == {"kind": "task", "id": "t1"}
    sent = agent.last
    assert (sent.path, sent.body["jsonrpc"], sent.body["method"]) == ("/a2a", "2.0", "message/send")
    message = sent.body["params"]["message"]
    assert (message["role"], message["parts"]) == ("user", [{"kind": "text", "text": "Generate the report."}])
    assert str(UUID(message["messageId"])) == message["messageId"]
    await functions.call(replace(call, attempt=2))
    assert agent.last.body == sent.body, "another attempt is the same message"
    await functions.call(replace(call, idempotency_key="k2"))
    assert agent.last.body["params"]["message"]["messageId"] != message["messageId"]


async def test_what_a_message_says_itself(agent: Agent, functions: Functions) -> None:
    own: JSON = {"message": {"messageId": "m7", "role": "agent", "parts": []}, "configuration": {"blocking": True}}
    await functions.call(asking(agent, parameters=own))
    assert agent.last.body["params"] == own


@pytest.mark.parametrize("method", ["message/stream", "tasks/resubscribe"])
async def test_a_stream_is_the_array_of_its_results(agent: Agent, functions: Functions, method: str) -> None:
    agent.said = [{"result": {"id": "t1"}}, {"result": {"kind": "status-update", "final": True}}]
    assert await functions.call(asking(agent, method)) == [{"id": "t1"}, {"kind": "status-update", "final": True}]


async def test_a_method_without_parameters(agent: Agent, functions: Functions) -> None:
    await functions.call(asking(agent, "agent/getAuthenticatedExtendedCard", None))
    assert "params" not in agent.last.body


@pytest.mark.parametrize("method", ["tasks/get", "message/stream"])
async def test_an_error_of_the_agent(agent: Agent, functions: Functions, method: str) -> None:
    error = {"code": -32001, "message": "Task not found"}
    agent.said = [{"error": error}]
    fault = await fault_of(functions.call(asking(agent, method)), "RpcError", "-32001: Task not found")
    assert fault.body == error


@pytest.mark.parametrize(("card", "path"), [
    ({"url": "/v2"}, "/v2"),
    ({"url": "{}/grpc", "preferredTransport": "GRPC",
      "additionalInterfaces": [{"url": "{}/grpc", "transport": "GRPC"}, {"url": "{}/v2", "transport": "JSONRPC"}]},
     "/v2"),
    ({"supportedInterfaces": [{"url": "{}/rest", "protocolBinding": "HTTP+JSON"},
                              {"url": "{}/v2", "protocolBinding": "JSONRPC"}]}, "/v2"),
    ({"supportedInterfaces": [{"url": "{}/v1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
                              {"url": "{}/v2", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}]}, "/v2"),
    ({"supportedInterfaces": [{"url": "{}/v2", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}, "/v2"),
])  # fmt: skip
async def test_the_url_in_a_card(agent: Agent, functions: Functions, card: dict[str, Any], path: str) -> None:
    agent.card = json.loads(json.dumps(card).replace("{}", agent.url))
    await functions.call(asking(agent))
    assert agent.last.path == path


async def test_a_card_may_be_a_file(agent: Agent, functions: Functions, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps(agent.card), encoding="utf-8")
    await functions.call(replace(asking(agent, card="card.json"), base=str(tmp_path)))
    assert agent.last.path == "/a2a"


async def test_the_operator_may_know_another_url(agent: Agent, calling: Calling) -> None:
    await calling(at=f"{agent.url}/v2").call(asking(agent))
    assert agent.last.path == "/v2"


SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "login": {"type": "http", "scheme": "basic"},
    "token": {"type": "http", "scheme": "bearer"},
}


@pytest.mark.parametrize(("security", "scheme", "properties", "header", "value"), [
    ([{"key": []}], "apiKey", {"name": "X", "key": "s3cr3t"}, "x-key", "s3cr3t"),
    ([{"login": []}], "basic", {"username": "ada", "password": "pw"}, "authorization", "Basic YWRhOnB3"),
    ([{"login": []}, {"token": []}], "bearer", {"token": "t0ken"}, "authorization", "Bearer t0ken"),
    ([], "bearer", {"token": "t0ken"}, "authorization", "Bearer t0ken"),
    ([{"unknown": []}], "bearer", {"token": "t0ken"}, "authorization", "Bearer t0ken"),
])  # fmt: skip
async def test_credentials_that_the_card_asks_for(
    agent: Agent, functions: Functions, security: JSON, scheme: str, properties: JSON, header: str, value: str
) -> None:
    agent.card |= {"securitySchemes": SCHEMES, "security": security}
    await functions.call(showing(asking(agent), scheme, properties))
    assert agent.last.headers[header] == value


async def test_the_secret_of_a_scheme(agent: Agent, functions: Functions) -> None:
    """As with an OpenAPI document, a secret with the name of the scheme is used without an auth."""
    agent.card |= {"securitySchemes": SCHEMES, "security": [{"token": []}]}
    await functions.call(replace(asking(agent), secrets={"token": "t0ken"}))
    assert agent.last.headers["authorization"] == "Bearer t0ken"


async def test_without_credentials_the_agent_decides(agent: Agent, functions: Functions) -> None:
    agent.card |= {"securitySchemes": SCHEMES, "security": [{"token": []}]}
    await functions.call(asking(agent))
    assert "authorization" not in agent.last.headers


async def test_a_service_that_is_no_agent(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/a2a", b"hello", content_type="text/plain")
    await fault_of(functions.call(asking(service, card=None)), "MalformedAnswer")
    service.answers_with("POST", "/a2a", None)
    await fault_of(functions.call(asking(service, card=None)), "MalformedAnswer", "was not answered")
    service.answers_with("POST", "/a2a", {"jsonrpc": "2.0", "id": 1})
    await fault_of(functions.call(asking(service, card=None)), "MalformedAnswer", "neither a result nor an error")
    assert (await fault_of(functions.call(asking(service)))).code == "NoDocument"


@pytest.mark.parametrize(("metadata", "arguments", "code", "told"), [
    ({}, {"method": "message/sent"}, "BadArguments", "did you mean 'message/send'?"),
    ({}, {"method": "message/send", "server": "http://a"}, "BadArguments", "'parameters.message' must be an object"),
    ({}, {"method": "tasks/get"}, "NoServer", "it has neither 'agentCard' nor 'server'"),
    ({"agentCard": "card.yaml"}, {"method": "tasks/get"}, "BadDocument", "has no URL for JSON-RPC"),
    ({"agentCard": "none.json"}, {"method": "tasks/get"}, "NoDocument", "none.json"),
])  # fmt: skip
async def test_calls_that_cannot_be_made(
    functions: Functions, tmp_path: Path, metadata: dict[str, JSON], arguments: JSON, code: str, told: str
) -> None:
    (tmp_path / "card.yaml").write_text("name: nobody", encoding="utf-8")
    call = Call(Function("report", "a2a", metadata=metadata), arguments, base=str(tmp_path))
    await fault_of(functions.call(call), code, told, retryable=False)
