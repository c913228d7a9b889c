"""An operation that is an object names its parts, and has its arguments under the names of their uses."""

import json
from typing import Any

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import callee_of, operation_type
from swf_temporal.settings.calls import Options
from tests.failing import failing
from tests.functions.asyncapi.memory import Bench, bench, version2, version3

__all__ = ["bench"]
LAMPS: dict[str, Any] = {"publish": {"message": {}}, "subscribe": {"message": {}}}
TWO = version2({"lamps": LAMPS, "doors": {"publish": {"message": {}}}})
HERE = {"$ref": "#/channels/lamps"}
THREE = version3(
    {"lamps": {"address": "lamps"}},
    {"tell": {"action": "send", "channel": HERE}, "hear": {"action": "receive", "channel": HERE}},
)


def channel(action: str, name: str = "lamps") -> dict[str, str]:
    return {"document": "api.json", "channel": name, "action": action}


def operation(name: str, **action: str) -> dict[str, str]:
    return {"document": "api.json", "operation": name, **action}


@pytest.mark.parametrize(("document", "named"), [
    (TWO, channel("send")),
    (THREE, operation("tell")),
    (THREE, operation("hear", action="send")),
])  # fmt: skip
async def test_a_message_is_sent(bench: Bench, document: dict[str, Any], named: Any) -> None:
    """Its payload is all that is under that name; the document may describe the other side."""
    given: JSON = {"payload": {"payload": 1, "on": True}, "headers": {"foo": "bar"}, "correlationId": "c"}
    assert await bench.has(document).perform(named, given) is None
    assert bench.memory.channel.address == "lamps"
    assert json.loads(bench.memory.message.payload) == {"payload": 1, "on": True}
    assert bench.memory.message.headers == {"foo": "bar", "Idempotency-Key": "k"}
    assert bench.memory.message.correlation_id == "c"


@pytest.mark.parametrize(("document", "named"), [
    (TWO, channel("receive")),
    (THREE, operation("hear")),
    (THREE, operation("tell", action="receive")),
])  # fmt: skip
async def test_messages_are_received(bench: Bench, document: dict[str, Any], named: Any) -> None:
    bench.has(document)
    for number in (1, 2, 3):
        bench.memory.put("lamps", number, headers={"n": str(number)})
    assert await bench.perform(named) == 1
    result = await bench.perform(named, {"subscription": "s", "amount": 2})
    messages: JSON = [{"payload": n, "headers": {"n": str(n)}, "correlationId": None} for n in (2, 3)]
    assert result == {"messages": messages, "receipt": None}


async def test_parameters_have_a_name_of_their_own(bench: Bench) -> None:
    await bench.has(version2({"lamps/{for}": LAMPS})).perform(
        channel("send", "lamps/{for}"), {"parameters": {"for": 7}}
    )
    assert bench.memory.channel.address == "lamps/7"


SERVERS = {
    "test": {"url": "127.0.0.1:{port}", "protocol": "mqtt", "variables": {"port": {"default": "1"}}},
    "live": {"url": "127.0.0.1:2", "protocol": "mqtt"},
    "old": {"url": "127.0.0.1:3", "protocol": "jms"},
    "chat": {"url": "127.0.0.1:4", "protocol": "wss"},
}
SERVED = {**TWO, "servers": SERVERS}


@pytest.mark.parametrize(("given", "server"), [
    ({}, "mqtt://127.0.0.1:1"),
    ({"server": {"name": "test", "variables": {"port": 9}}}, "mqtt://127.0.0.1:9"),
    ({"server": {"name": "live"}, "protocol": "ws"}, "mqtt://127.0.0.1:2"),
    ({"protocol": "ws"}, "wss://127.0.0.1:4"),
    ({"protocol": "mqtt5"}, "mqtt://127.0.0.1:1"),
])  # fmt: skip
async def test_the_call_chooses_the_server(bench: Bench, given: Any, server: str) -> None:
    """By its name, or else its protocol, which may be one with TLS."""
    await bench.has(SERVED).perform(channel("send"), {"payload": 1, **given})
    assert str(bench.memory.channel) == f"{server} lamps"


async def test_the_operator_s_settings_choose_the_server_first(bench: Bench) -> None:
    bench.given(services={"api.json": Options(base_url="mqtt://127.0.0.1:8")}).has(SERVED)
    await bench.perform(channel("send"), {"payload": 1, "server": {"name": "live"}})
    assert str(bench.memory.channel) == "mqtt://127.0.0.1:8 lamps"


@pytest.mark.parametrize(("named", "given", "code", "reason"), [
    (channel("send"), {"protocol": "sqs"}, "BadOperation", "'sqs' is not supported; it must be one of mqtt, mqtt5"),
    (channel("send"), {"protocol": "nats"}, "BadOperation", "no server with the protocol 'nats'"),
    (channel("send"), {"server": {"name": "liv"}}, "BadOperation", "no server 'liv'.*did you mean 'live'"),
    (channel("send"), {"server": {"name": "old"}}, "NoServer", "not supported \\('jms'; those that are: mqtt"),
    (channel("send"), {"server": "live"}, "BadArguments", "must be an object with 'name' and 'variables'"),
    (channel("send"), {"server": {"nam": "live"}}, "BadArguments", "must be an object with 'name' and 'variables'"),
    (channel("send"), {"paylaod": 1}, "BadArguments", "no argument 'paylaod'; did you mean 'payload'"),
    (channel("send"), {"subscription": "s"}, "BadArguments", "no argument 'subscription'"),
    (channel("send"), [1], "BadArguments", "by name, as an object"),
    (channel("send"), {"headers": [1]}, "BadArguments", "must be objects"),
    (channel("receive"), {"amount": 1}, "BadArguments", "'amount' is of a subscription, and none is named"),
    (channel("receive"), {"subscription": "s", "amount": 0}, "BadArguments", "'amount' is 0"),
    (channel("receive"), {"subscription": "s", "receipt": "r"}, "BadArguments", "'receipt' is 'r'"),
    (channel("receive", "doors"), {}, "UnknownOperation", "no 'subscribe' of a channel 'doors'"),
    (channel("send", "lamp"), {}, "UnknownOperation", "no 'publish' of a channel 'lamp'; did you mean 'lamps'"),
    ({"document": "api.json"}, {}, "BadOperation", "either an 'operation' of its document or a 'channel'"),
])  # fmt: skip
async def test_what_cannot_be_called(bench: Bench, named: Any, given: Any, code: str, reason: str) -> None:
    with failing(code, reason):
        await bench.has(SERVED).perform(named, given)


async def test_a_channel_is_one_of_version_2(bench: Bench) -> None:
    with failing("BadOperation", "version 3, in which 'operation' names one"):
        await bench.has(THREE).perform(channel("send"))


@pytest.mark.parametrize(("named", "problems"), [
    (channel("send"), []),
    (operation("tell"), []),
    ({"operation": "tell"}, ["names no 'document'"]),
    ({"document": 5, "operation": "tell"}, ["must be a text"]),
    ({"document": "a", "channel": "c"}, ["no 'action' on it"]),
    ({"document": "a", "channel": "c", "operation": "o", "action": "send"}, ["either"]),
    ({"document": "a", "operation": "o", "action": "sent"}, ["'send' or 'receive'"]),
    ({"document": "a", "operaton": "o"}, ["no 'operaton'", "either"]),
])  # fmt: skip
def test_the_form_is_checked(named: Any, problems: list[str]) -> None:
    kind = operation_type("asyncapi")
    assert kind is not None
    found = [one.message for one in kind.problems(Function("f", "asyncapi", named))]
    assert len(found) == len(problems)
    assert all(part in message for part, message in zip(problems, found, strict=True))


def test_the_document_names_the_service() -> None:
    assert callee_of(Function("f", "asyncapi", channel("send"))).services == ("api.json",)


@pytest.mark.parametrize(("auth", "username", "token"), [
    (Auth("a", "basic", {"username": "ada", "password": "byron"}), "ada", None),
    (Auth("a", "bearer", {"token": "t"}), None, "t"),
    (Auth("a", "basic", "login"), "ada", None),
])  # fmt: skip
async def test_credentials_are_those_of_the_call(bench: Bench, auth: Auth, username: Any, token: Any) -> None:
    """Also if the document does not ask for any."""
    secrets: Any = {"login": {"username": "ada", "password": "byron"}}
    given: Any = {"auth_ref": AuthRef(invocation="a"), "auth": (auth,), "secrets": secrets}
    await bench.has(TWO).perform(channel("send"), {"payload": 1}, **given)
    credentials = bench.memory.channel.credentials
    assert (credentials.username, credentials.token) == (username, token)
