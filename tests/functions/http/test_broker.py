"""Messages of AsyncAPI documents go over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.port import Bindings, Channel, Credentials, Message
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Options, Settings
from tests.failing import failing, fault_of
from tests.functions.conftest import Calling, Service

DOCUMENT: dict[str, Any] = {
    "asyncapi": "2.6.0",
    "channels": {
        "/lights/{lamp}": {
            "publish": {"operationId": "tell", "message": {"payload": {"type": "object"}}},
            "subscribe": {"operationId": "hear"},
        },
        "/levels": {
            "publish": {
                "operationId": "set",
                "bindings": {"http": {"method": "PUT", "query": {"properties": {"tag": {"type": "string"}}}}},
            }
        },
    },
}
ASKING: dict[str, Any] = {
    "asyncapi": "3.0.0",
    "channels": {"questions": {"address": "/questions"}, "answers": {"address": None, "messages": {"a": {}}}},
    "operations": {
        "ask": {
            "action": "send",
            "channel": {"$ref": "#/channels/questions"},
            "reply": {"channel": {"$ref": "#/channels/answers"}},
        }
    },
}
CallOf = Callable[..., Call]


@pytest.fixture
def call(tmp_path: Path) -> CallOf:
    (tmp_path / "lights.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    (tmp_path / "questions.json").write_text(json.dumps(ASKING), encoding="utf-8")

    def make(operation: str, arguments: Any = None, auth_ref: AuthRef | None = None, **facts: Any) -> Call:
        reference = operation if "#" in operation else f"lights.json#{operation}"
        function = Function(name="lights", type="asyncapi", operation=reference, auth_ref=auth_ref)
        return Call(function, arguments, base=str(tmp_path), idempotency_key="k", **facts)

    return make


@pytest.fixture
async def broker(service: Service) -> AsyncIterator[HttpBroker]:
    assert service.url
    http = Http(Settings())
    yield HttpBroker(http, pause=0)
    await http.aclose()


def channel_of(service: Service, **facts: Any) -> Channel:
    port = int(service.url.rpartition(":")[2])
    return Channel("http", "127.0.0.1", port, "/api", "lights", "swf-1", 30, **facts)


@pytest.mark.parametrize(("operation", "arguments", "method", "path", "query", "body"), [
    ("tell", {"lamp": "a/b", "on": True, "headers": {"X-By": "ada"}}, "POST", "/lights/a%2Fb", [], {"on": True}),
    ("set", {"tag": "new one", "level": 5, "headers": {"X-By": "ada"}}, "PUT", "/levels", [("tag", "new one")],
     {"level": 5}),
])  # fmt: skip
async def test_a_message_is_sent(  # noqa: PLR0913 - the facts of a case
    service: Service, functions: Functions, call: CallOf, operation: str, arguments: JSON, method: str, *, path: str,
    query: list[tuple[str, str]], body: JSON,
) -> None:  # fmt: skip
    """To the path that the arguments name, or as a binding says. The end of a line in a header is escaped."""
    service.answers_with(method, path, {"accepted": True}, status=202)
    made = replace(call(operation, arguments), idempotency_key="order/run/Prüfen\n/ask#1")
    assert await functions.call(made) is None
    assert (service.last.query, service.last.body) == (query, body)
    sent = {"content-type": "application/json", "x-by": "ada", "idempotency-key": "order/run/Pr%C3%BCfen%0A/ask#1"}
    assert service.last.headers.items() >= sent.items()


@pytest.mark.parametrize("concurrency", [1, 2])
async def test_messages_wait_for_their_turn_at_a_host(
    calling: Calling, service: Service, call: CallOf, concurrency: int
) -> None:
    """Each waits for one turn: with two, many messages would all get their first, and none its second."""
    service.answers_with("POST", "/lights/1", None, status=202)
    settings = Settings(calls=Options(base_url=service.url), hosts={"127.0.0.1": Options(concurrency=concurrency)})
    functions = calling(settings=settings)
    async with asyncio.timeout(10):
        await asyncio.gather(*(functions.call(call("tell", {"lamp": "1", "on": True})) for _ in range(6)))
    assert len(service.requests) == 6


async def test_an_answer_that_is_an_error_is_a_fault(service: Service, functions: Functions, call: CallOf) -> None:
    service.answers_with("POST", "/lights/a", {"full": True}, status=507)
    fault = await fault_of(functions.call(call("tell", {"lamp": "a"})))
    assert (fault.code, fault.status, fault.body) == ("507", 507, {"full": True})


async def test_an_answer_is_the_reply(service: Service, functions: Functions, call: CallOf) -> None:
    service.answers_with("POST", "/questions", {"answer": 42})
    assert await functions.call(call("questions.json#ask", "how?")) == {"answer": 42}
    service.answers_with("POST", "/questions", b"{oops")
    await fault_of(functions.call(call("questions.json#ask", "how?")), "MalformedAnswer")


async def test_a_message_is_asked_for(service: Service, functions: Functions, call: CallOf) -> None:
    service.answers_with("GET", "/lights/a", {"on": True})
    assert await functions.call(call("hear", {"lamp": "a", "headers": {"X-By": "ada"}})) == {"on": True}
    assert service.last.headers["x-by"] == "ada"


async def test_it_is_asked_until_there_is_a_message(service: Service, broker: HttpBroker) -> None:
    service.answers_with("GET", "/api/lights", None, status=204)
    async with broker.receive(channel_of(service)) as deliveries:
        coming = asyncio.ensure_future(anext(deliveries))
        while len(service.requests) < 3:
            await asyncio.sleep(0.01)
        service.answers_with("GET", "/api/lights", {"on": True}, headers={"X-Nr": "7"})
        delivery = await coming
        await delivery.accept()
    assert delivery.message.payload == b'{"on": true}'
    assert (delivery.message.content_type, delivery.message.headers["x-nr"]) == ("application/json", "7")


async def test_a_server_may_hold_the_question(service: Service) -> None:
    service.hangs("GET", "/api/lights")
    http = Http(Settings(calls=Options(timeout=timedelta(milliseconds=200))))
    broker = HttpBroker(http, pause=0)
    async with broker.receive(channel_of(service)) as deliveries:
        coming = asyncio.ensure_future(anext(deliveries))
        while len(service.requests) < 2:
            await asyncio.sleep(0.01)
        service.answers_with("GET", "/api/lights", 5)
        assert (await coming).message.payload == b"5"
    await http.aclose()


async def test_a_user_is_shown_in_a_basic_header(service: Service, broker: HttpBroker) -> None:
    service.answers_with("POST", "/api/lights", None)
    user: dict[str, Any] = {"username": "ada", "password": "pw"}
    await broker.send(channel_of(service, credentials=Credentials(**user)), Message(b"1"))
    assert service.last.headers["authorization"] == "Basic YWRhOnB3"
    known = Credentials(**user, headers=(("Authorization", "Bearer t"),))
    await broker.send(channel_of(service, credentials=known), Message(b"1"))
    assert service.last.headers["authorization"] == "Bearer t"


async def test_the_method_for_asking_may_be_another(service: Service, broker: HttpBroker) -> None:
    service.answers_with("POST", "/api/lights", 5)
    channel = channel_of(service, bindings=Bindings(operation={"method": "post"}))
    async with broker.receive(channel) as deliveries:
        assert (await anext(deliveries)).message.payload == b"5"
        service.answers_with("POST", "/api/lights", "gone", status=410)
        with failing("410"):
            await anext(deliveries)
