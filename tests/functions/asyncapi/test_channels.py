"""A call goes to the server and the address that the settings, the document and the arguments come to."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import Callee
from swf_temporal.settings.calls import Options
from swf_temporal.settings.network import Network, read_pattern
from tests.failing import failing
from tests.functions.asyncapi.memory import Bench, bench, publishing, sending, subscribing, version2

__all__ = ["bench"]
SEND = {"publish": {"operationId": "send"}}


def served(declared: Mapping[str, Any], **channel: Any) -> dict[str, Any]:
    return {**version2({"lights": {**SEND, **channel}}), "servers": declared}


@pytest.mark.parametrize(("server", "expected"), [
    ({"url": "127.0.0.1:7", "protocol": "mqtt"}, "mqtt://127.0.0.1:7 lights"),
    ({"url": "mqtt://127.0.0.1", "protocol": "mqtt"}, "mqtt://127.0.0.1:1883 lights"),
    ({"url": "mqtts://127.0.0.1", "protocol": "mqtt"}, "mqtts://127.0.0.1:8883 lights"),
    ({"url": "127.0.0.1/ws/", "protocol": "wss"}, "wss://127.0.0.1:443/ws lights"),
    ({"url": "127.0.0.1/%2F", "protocol": "AMQP"}, "amqp://127.0.0.1:5672/%2F lights"),
    ({"url": "127.0.0.1:1,127.0.0.1:2", "protocol": "kafka-secure"}, "kafka-secure://127.0.0.1:1 lights"),
    ({"url": "[::1]:9", "protocol": "nats"}, "nats://[::1]:9 lights"),
    ({"url": "127.0.0.{last}:{port}", "protocol": "nats", "variables": {"last": {"enum": ["1", "2"]},
      "port": {"default": 4333}}}, "nats://127.0.0.1:4333 lights"),
])  # fmt: skip
async def test_a_server_of_version_2_has_a_url(bench: Bench, server: dict[str, Any], expected: str) -> None:
    await bench.has(served({"one": server})).call("send", 1)
    assert str(bench.memory.channel) == expected


async def test_a_server_of_version_3_has_a_host_and_a_path(bench: Bench) -> None:
    server = {"host": "127.0.0.1:{port}", "pathname": "/{stage}", "protocol": "ws", "protocolVersion": 13}
    variables = {"port": {"default": "81"}, "stage": {"$ref": "#/components/serverVariables/stage"}}
    document = sending(components={"serverVariables": {"stage": {"default": "test"}}})
    document["servers"] = {"one": {**server, "variables": variables}}
    await bench.has(document).call("send", 1)
    assert str(bench.memory.channel) == "ws://127.0.0.1:81/test lights"
    assert bench.memory.channel.version == "13"


SEVERAL = {
    "strange": {"url": "127.0.0.1:1", "protocol": "stomp"},
    "first": {"url": "127.0.0.1:2", "protocol": "mqtt"},
    "second": {"url": "127.0.0.1:3", "protocol": "nats"},
}
EIGHT, NINE = {"base_url": "mqtt://127.0.0.1:8"}, {"base_url": "mqtt://127.0.0.1:9"}


@pytest.mark.parametrize(("channel", "settings", "expected"), [
    ({}, {}, "mqtt://127.0.0.1:2"),
    ({"servers": []}, {}, "mqtt://127.0.0.1:2"),
    ({"servers": ["second", "first"]}, {}, "nats://127.0.0.1:3"),
    ({"servers": ["second"]}, {"calls": {"base_url": "nats://127.0.0.1:9"}}, "nats://127.0.0.1:9"),
    ({}, {"calls": {"base_url": "http://127.0.0.1:9"}}, "mqtt://127.0.0.1:2"),
    ({}, {"calls": {"base_url": "grpc://127.0.0.1:9"}}, "mqtt://127.0.0.1:2"),
    ({}, {"functions": {"ASK": {"base_url": "ws://127.0.0.1:9/x/"}}}, "ws://127.0.0.1:9/x"),
    ({}, {"services": {"API_JSON": {"base_url": "mqtts://127.0.0.1"}}}, "mqtts://127.0.0.1:8883"),
    ({}, {"services": {"api.json": EIGHT}, "calls": NINE}, "mqtt://127.0.0.1:8"),
])  # fmt: skip
async def test_the_server_is_chosen(bench: Bench, channel: Any, settings: Any, expected: str) -> None:
    """What is configured wins, then the channel's servers, then the first whose protocol is spoken here."""
    await bench.given(**settings).has(served(SEVERAL, **channel)).call("send", 1)
    assert str(bench.memory.channel).removesuffix(" lights") == expected


@pytest.mark.parametrize(("document", "code", "reason"), [
    (served({}), "NoServer", "does not name one; set SWF_BASE_URL_ASK"),
    (served({"a": SEVERAL["strange"]}), "NoServer", "are not supported \\('stomp'; those that are: mqtt, "),
    (served(SEVERAL, servers=["third"]), "BadDocument", "the server 'third', which is not in it"),
    (served({"a": {"url": "{host}:1", "protocol": "nats"}}), "BadDocument", "no default for the variable 'host'"),
    (served({"a": {"url": "127.0.0.1:x", "protocol": "nats"}}), "BadUrl", "'127.0.0.1:x' is not one"),
    (served({"a": {"url": "/x", "protocol": "nats"}}), "BadUrl", "names no host"),
    (sending({"address": None}), "BadDocument", "does not state the address"),
])  # fmt: skip
async def test_a_place_that_is_nowhere_is_told(bench: Bench, document: Any, code: str, reason: str) -> None:
    with failing(code, reason, retryable=False):
        await bench.has(document).call("send", 1)
    assert bench.memory.sent == []


async def test_what_the_operator_says_holds(bench: Bench) -> None:
    """Timeouts, sizes and certificates are those of the settings; a protocol that nobody speaks is a mistake there."""
    bench.given(calls=Options(max_response_bytes=7), functions={"ask": Options(base_url="mqtts://127.0.0.1")})
    await bench.has(served(SEVERAL)).call("send", 1)
    channel = bench.memory.channel
    assert (channel.timeout, channel.max_bytes, channel.addresses) == (30, 7, ("127.0.0.1",))
    assert channel.callee == Callee("ask", ("api.json",))
    assert channel.tls is not None
    assert channel.tls.check_hostname
    bench.given(functions={"ask": Options(base_url="grpc://127.0.0.1:1")})
    with failing("BadUrl", "whose protocol is not one of mqtt"):
        await bench.call("send", 1)


async def test_hosts_that_are_denied_are_not_called(bench: Bench) -> None:
    bench.given(network=Network(local=False)).has(publishing())
    with failing("HostDenied", r"127\.0\.0\.1:1"):
        await bench.call("send", 1)
    assert bench.memory.sent == []


async def test_calls_wait_for_their_turn_at_a_host(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """One at a time, if the operator says so."""
    bench.given(hosts={read_pattern("127.0.0.1:1"): Options(concurrency=1)}).has(publishing())
    told: list[str] = []

    async def send(*_: object) -> None:
        told.append("begun")
        await asyncio.sleep(0.01)
        told.append("sent")

    monkeypatch.setattr(bench.memory, "send", send)
    await asyncio.gather(*(bench.call("send", number) for number in range(3)))
    assert told == ["begun", "sent"] * 3


NUMBER: Any = {"id": {"schema": {"type": "integer"}}}


async def test_parameters_fill_the_address(bench: Bench) -> None:
    message = {"payload": {"properties": {"id": {"type": "integer"}}}}
    bench.has(publishing(message, "lights/{id}/{what}", parameters=NUMBER))
    await bench.call("send", {"id": 7, "what": "on", "by": "ada"})
    assert bench.memory.channel.address == "lights/7/on"
    assert json.loads(bench.memory.message.payload) == {"id": 7, "by": "ada"}


async def test_a_parameter_may_stand_in_the_message(bench: Bench) -> None:
    """Where the document says; an argument of its name comes first."""
    parameters = {"id": {"location": "$message.payload#/lamp/id"}, "by": {"location": "$message.header#/By"}}
    bench.has(publishing({}, "lights/{id}/{by}", parameters=parameters))
    await bench.call("send", {"payload": {"lamp": {"id": 7}}, "headers": {"by": "ada"}})
    await bench.call("send", {"payload": {"lamp": {"id": 7}}, "headers": {"by": "ada"}, "id": 8})
    assert [channel.address for channel, _ in bench.memory.sent] == ["lights/7/ada", "lights/8/ada"]


ABOUT: Any = {"default": "north", "enum": ["north", "south"]}


@pytest.mark.parametrize("document", [
    publishing(None, "lights/{side}", parameters={"side": {"schema": ABOUT}}),
    sending({"address": "lights/{side}", "parameters": {"side": ABOUT}}),
], ids=["2", "3"])  # fmt: skip
async def test_a_parameter_may_have_a_default_and_possible_values(bench: Bench, document: dict[str, Any]) -> None:
    await bench.has(document).call("send", 1)
    assert bench.memory.channel.address == "lights/north"
    with failing("BadArguments", "'west' and not one of north, south"):
        await bench.call("send", {"side": "west"})


@pytest.mark.parametrize("protocol", ["mqtt", "nats", "kafka", "ws"])
@pytest.mark.parametrize("value", ["", "..", "a/+", "#", "a\0"])
async def test_a_parameter_cannot_lead_to_another_channel(bench: Bench, protocol: str, value: str) -> None:
    """Either it is written so that it means itself, or it is refused."""
    document = publishing(None, "lights/{id}")
    document["servers"]["broker"]["protocol"] = protocol
    bench.has(document)
    wild = {"mqtt": "/+#\0", "nats": "\0", "kafka": "\0", "ws": "\0"}[protocol]
    if value in {"", ".."} or set(value) & set(wild):
        with failing("BadArguments", "cannot have"):
            await bench.call("send", {"id": value, "payload": 1})
        assert bench.memory.sent == []
    else:
        await bench.call("send", {"id": value, "payload": 1})
        expected = {"a/+": "a%2F%2B", "#": "%23"}[value] if protocol == "ws" else value
        assert bench.memory.channel.address == f"lights/{expected}"


async def test_a_broker_is_told_what_the_document_says_of_its_protocol(bench: Bench) -> None:
    message = {"bindings": {"mqtt": {"contentType": "x"}, "nats": {"no": 1}}}
    document = publishing(message, bindings={"mqtt": {"of": "channel"}})
    document["channels"]["lights"]["publish"]["bindings"] = {"$ref": "#/components/operationBindings/quick"}
    document["components"] = {"operationBindings": {"quick": {"mqtt": {"qos": 0}}}}
    document["servers"]["broker"]["bindings"] = {"mqtt": {"keepAlive": 60}}
    await bench.has(document).call("send", 1)
    bindings = bench.memory.channel.bindings
    assert (bindings.server, bindings.channel) == ({"keepAlive": 60}, {"of": "channel"})
    assert (bindings.operation, bindings.message) == ({"qos": 0}, {"contentType": "x"})


OPERATION_TRAIT = {"operationId": "trait", "bindings": {"mqtt": {"qos": 2, "retain": True}}}
MESSAGE_TRAIT = {"contentType": "text/plain", "headers": {"required": ["by"]}}


async def test_traits_of_version_2_win(bench: Bench) -> None:
    """They are merged into the object, in order; null takes away."""
    document = publishing({"contentType": "application/json", "traits": [MESSAGE_TRAIT, {"headers": None}]})
    operation = document["channels"]["lights"]["publish"]
    operation |= {"bindings": {"mqtt": {"qos": 0}}, "traits": [{"$ref": "#/components/operationTraits/sure"}]}
    document["components"] = {"operationTraits": {"sure": OPERATION_TRAIT}}
    await bench.has(document).call("trait", "hello")
    assert bench.memory.channel.bindings.operation == {"qos": 2, "retain": True}
    assert bench.memory.message.content_type == "text/plain"


async def test_traits_of_version_3_give_way(bench: Bench) -> None:
    """What the object says itself stays; the later trait wins over the earlier."""
    channel = {"messages": {"m": {"contentType": "application/json", "traits": [MESSAGE_TRAIT]}}}
    traits = [{"bindings": {"mqtt": {"retain": False}}}, OPERATION_TRAIT]
    bench.has(sending(channel, bindings={"mqtt": {"qos": 0}}, traits=traits))
    with pytest.raises(CallFailed, match="'by' is a required property"):
        await bench.call("send", {"payload": 1})
    await bench.call("send", {"payload": 1, "headers": {"by": "ada"}})
    assert bench.memory.channel.bindings.operation == {"qos": 0, "retain": True}
    assert bench.memory.message.content_type == "application/json"


async def test_traits_of_other_files_refer_to_their_own(bench: Bench) -> None:
    """What a trait points to stands where the trait stands."""
    bench.has({"traits": {"t": {"payload": {"$ref": "#/schemas/s"}}}, "schemas": {"s": {"type": "integer"}}}, "t.json")
    bench.has(publishing({"traits": [{"$ref": "t.json#/traits/t"}]}))
    with pytest.raises(CallFailed, match="payload: 'text' is not of type 'integer'"):
        await bench.call("send", "text")


async def test_an_operation_may_name_some_of_its_channels_messages(bench: Bench) -> None:
    """Version 3: without any it may have all of them."""
    channel = {"messages": {"number": {"payload": {"type": "integer"}}, "text": {"payload": {"type": "string"}}}}
    await bench.has(sending(channel)).call("send", "text")
    with pytest.raises(CallFailed, match=r"message 'number': payload: 'text'"):
        await bench.has(sending(channel, messages=[{"$ref": "#/channels/lights/messages/number"}])).call("send", "text")


VARIABLES = {"port": {"default": "1", "enum": ["1", "2"]}}
STAGED = {
    "one": {"url": "127.0.0.1:9", "protocol": "mqtt"},
    "two": {"url": "127.0.0.1:{port}", "protocol": "nats", "variables": VARIABLES},
}


@pytest.mark.parametrize(("given", "reached"), [({}, "mqtt://127.0.0.1:9"), ({"port": 2}, "nats://127.0.0.1:2")])
async def test_a_function_may_give_values_to_variables(bench: Bench, given: Any, reached: str) -> None:
    """As for OpenAPI: the first server counts that has them."""
    await bench.has(served(STAGED)).call("send", 1, metadata={"serverVariables": given})
    assert str(bench.memory.channel) == f"{reached} lights"


NAMED = subscribing(None, "lights/{id}")


@pytest.mark.parametrize(("document", "operation", "given", "code", "reason"), [
    (served(STAGED), "send", {"metadata": {"serverVariables": {"prt": 2}}}, "BadOperation", "no variable 'prt'"),
    (served(STAGED), "send", {"metadata": {"serverVariables": {"port": 3}}}, "BadOperation",
     "no '3' for its variable 'port'"),
    (served(STAGED), "send", {"metadata": {"serverVariables": "x"}}, "BadOperation", "must be an object"),
    (NAMED, "take", {}, "BadArguments", "the argument 'id', a part of its channel's address, is missing"),
    (subscribing(), "take", {"arguments": {"corelationId": "7"}}, "BadArguments",
     "takes no argument 'corelationId'; did you mean 'correlationId'"),
    (subscribing(), "take", {"arguments": {"payload": 1}}, "BadArguments", "takes no argument 'payload'"),
    (subscribing(), "take", {"arguments": "text"}, "BadArguments", "by name, as an object"),
])  # fmt: skip
async def test_what_cannot_be_given(
    bench: Bench, document: Any, operation: str, given: Any, code: str, reason: str
) -> None:
    with failing(code, reason):
        await bench.has(document).call(operation, **given)


@pytest.mark.parametrize(
    ("protocol", "address"), [("mqtt", "back/to/me"), ("nats", "_INBOX.me"), ("amqp", "amq.gen-1")]
)
async def test_a_whole_address_may_be_a_parameter(bench: Bench, protocol: str, address: str) -> None:
    document = publishing(None, "{replyTo}")
    document["servers"]["broker"]["protocol"] = protocol
    await bench.has(document).call("send", {"replyTo": address, "payload": 1})
    assert bench.memory.channel.address == address
