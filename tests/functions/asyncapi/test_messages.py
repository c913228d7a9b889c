"""What is sent fits its document, what comes is held against it, and both are written and read as it says."""

import json
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.settings.calls import Options
from tests.failing import failing
from tests.functions.asyncapi.memory import Bench, bench, publishing, sending, subscribing

__all__ = ["bench"]
LUMENS = {"name": "measured", "payload": {"type": "object", "properties": {"lumens": {"type": "integer"}}}}
NAMED = {"name": "named", "payload": {"type": "object", "required": ["name"], "additionalProperties": False}}


@pytest.mark.parametrize(("content_type", "payload", "content"), [
    (None, {"a": "ü"}, b'{"a":"\\u00fc"}'),
    ("application/cloudevents+json", [1], b"[1]"),
    ("text/plain", "grün", "grün".encode()),
    ("text/plain", 5, b"5"),
    ("application/octet-stream", {"mediaType": "application/octet-stream", "base64": "AP8="}, b"\x00\xff"),
])  # fmt: skip
async def test_a_payload_is_written_in_its_content_type(
    bench: Bench, content_type: str | None, payload: Any, content: bytes
) -> None:
    """JSON where nothing is said; texts as they are; bytes from base64."""
    message = {} if content_type is None else {"contentType": content_type}
    await bench.has(publishing(message)).call("send", {"payload": payload})
    assert bench.memory.message.payload == content
    assert bench.memory.message.content_type == (content_type or "application/json")


@pytest.mark.parametrize(("arguments", "payload", "headers"), [
    ({"lumens": 5}, {"lumens": 5}, {}),
    ({"lumens": 5, "headers": {"by": "ada", "nr": 7, "none": None}}, {"lumens": 5}, {"by": "ada", "nr": "7"}),
    ({"payload": {"lumens": 5}, "headers": {"by": "ada"}}, {"lumens": 5}, {"by": "ada"}),
    ({}, {}, {}),
    (None, {}, {}),
])  # fmt: skip
async def test_arguments_are_the_payload_or_name_it(bench: Bench, arguments: Any, payload: Any, headers: Any) -> None:
    """An object is the payload, unless it says outright what is what."""
    await bench.has(publishing(LUMENS)).call("send", arguments)
    assert json.loads(bench.memory.message.payload) == payload
    assert bench.memory.message.headers == {**headers, "Idempotency-Key": "k"}


async def test_a_message_may_have_fields_of_these_names(bench: Bench) -> None:
    fields: dict[str, Any] = {"headers": {}, "payload": {}, "correlationId": {}}
    await bench.has(publishing({"payload": {"properties": fields}})).call("send", dict.fromkeys(fields, "x"))
    assert json.loads(bench.memory.message.payload) == dict.fromkeys(fields, "x")
    assert bench.memory.message.correlation_id is None


async def test_a_message_without_payload_has_none(bench: Bench) -> None:
    await bench.has(publishing({"headers": {"type": "object"}})).call("send", {"headers": {"ping": "1"}})
    assert (bench.memory.message.payload, bench.memory.message.headers["ping"]) == (b"", "1")
    await bench.has({**publishing({}), "defaultContentType": "text/plain"}).call("send", "hello")
    assert (bench.memory.message.payload, bench.memory.message.content_type) == (b"hello", "text/plain")


@pytest.mark.parametrize(("message", "arguments", "reason"), [
    (LUMENS, {"lumens": "dark"}, r"message 'measured': payload\.lumens: 'dark' is not of type 'integer'"),
    (LUMENS, [1], r"payload: \[1\] is not of type 'object'"),
    ({"headers": {"required": ["by"]}}, {"payload": 1}, r"headers: 'by' is a required property"),
    ({"oneOf": [LUMENS, NAMED]}, {"lumens": "dark"}, r"'measured': payload\.lumens.*, nor message 'named': payload"),
    (LUMENS, {"payload": {}, "header": {}}, "takes no argument 'header'; did you mean 'headers'"),
    (LUMENS, {"payload": {}, "headers": "x"}, "'headers' must be an object"),
    ({"contentType": "image/png"}, {"base64": "?"}, "does not hold base64"),
])  # fmt: skip
async def test_what_does_not_fit_is_not_sent(bench: Bench, message: Any, arguments: Any, reason: str) -> None:
    with failing("BadArguments", reason, retryable=False):
        await bench.has(publishing(message)).call("send", arguments)
    assert bench.memory.sent == []


async def test_the_first_message_that_fits_is_sent(bench: Bench) -> None:
    text = {"name": "text", "contentType": "text/plain", "payload": {"type": "string"}}
    await bench.has(publishing({"oneOf": [LUMENS, text]})).call("send", "hello")
    assert bench.memory.message.content_type == "text/plain"


@pytest.mark.parametrize("schema_format", [
    "application/vnd.aai.asyncapi;version=2.6.0",
    "application/vnd.aai.asyncapi+yaml; version=2.6.0",
    "application/schema+json;version=draft-07",
    "application/schema+json;version=draft-04",
    "application/schema+yaml;version=2020-12",
])  # fmt: skip
async def test_json_schema_is_understood(bench: Bench, schema_format: str) -> None:
    message = {**LUMENS, "schemaFormat": schema_format}
    with pytest.raises(CallFailed, match=r"payload\.lumens"):
        await bench.has(publishing(message)).call("send", {"lumens": "dark"})


AVRO = "application/vnd.apache.avro+json;version=1.9.0"


@pytest.mark.parametrize(("document", "code", "reason"), [
    (publishing({"schemaFormat": AVRO, "payload": {"type": "record"}}), "Unsupported", "avro"),
    (publishing({"schemaFormat": AVRO, "payload": {"$ref": "record.avsc"}}), "Unsupported", "avro"),
    (sending({"messages": {"m": {"payload": {"schemaFormat": AVRO, "schema": {}}}}}), "Unsupported", "avro"),
    (publishing({"name": "m", "payload": {"type": "thing"}}), "BadDocument", "schema for the payload of message 'm'"),
], ids=["2", "2 in a file", "3", "no schema"])  # fmt: skip
async def test_other_schemas_are_refused_by_name(bench: Bench, document: Any, code: str, reason: str) -> None:
    """Nothing is sent that nobody has looked at."""
    with failing(code, reason):
        await bench.has(document).call("send", {})
    assert bench.memory.sent == []


async def test_schemas_are_followed_into_other_files(bench: Bench) -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/node"}, "size": {"$ref": "sizes.json#/size"}, "default": {"type": "null"}},
    }
    bench.has({"node": node}, "nodes.json").has({"size": {"type": "integer"}}, "sizes.json")
    components = {"messages": {"m": {"payload": {"$ref": "nodes.json#/node"}}}}
    bench.has({**publishing({"$ref": "#/components/messages/m"}), "components": components})
    await bench.call("send", {"next": {"next": {"size": 1}}})
    with pytest.raises(CallFailed, match=r"payload\.next\.next\.size: 'large' is not of type 'integer'"):
        await bench.call("send", {"next": {"next": {"size": "large"}}})


@pytest.mark.parametrize(("message", "content_type", "content", "payload"), [
    ({}, None, b'{"a": 1}', {"a": 1}),
    ({}, None, b"hello", "hello"),
    ({"contentType": "text/plain"}, None, b"5", "5"),
    ({"contentType": "text/plain"}, "application/json", b"5", 5),
    ({}, "application/octet-stream", b"\x00", {"mediaType": "application/octet-stream", "base64": "AA=="}),
    ({}, None, b"", None),
    *(({"oneOf": [{"contentType": "application/json"}, {"contentType": "text/plain"}]}, None, content, payload)
      for content, payload in ((b'{"on": true}', {"on": True}), (b"on", "on"))),
])  # fmt: skip
async def test_a_message_is_read_as_it_says(
    bench: Bench, message: Any, content_type: str | None, content: bytes, payload: Any
) -> None:
    bench.has(subscribing(message))
    bench.memory.put("lights", content, content_type=content_type)
    assert await bench.call("take") == payload


@pytest.mark.parametrize(("message", "sent", "code", "reason", "body"), [
    ({}, b"{oops", "MalformedAnswer", "should be 'application/json', but it is not", "{oops"),
    ({"contentType": "application/json"}, b"{oops", "MalformedAnswer", "but it is not", "{oops"),
    ({"oneOf": [LUMENS, NAMED]}, b'{"lumens": "dark"}', "SchemaMismatch",
     r"payload\.lumens: 'dark' is not of type 'integer'", {"lumens": "dark"}),
    ({}, b'"12345678901234567890"', "AnswerTooLarge", "larger than 20 bytes", None),
])  # fmt: skip
async def test_a_broken_message_is_a_fault_once(
    bench: Bench, message: Any, sent: bytes, code: str, reason: str, body: JSON
) -> None:
    """It does not come again, and does not keep back those behind it."""
    bench.given(calls=Options(max_response_bytes=20)).has(subscribing(message))
    bench.memory.put("lights", sent, content_type="application/json")
    with failing(code, reason, retryable=code == "MalformedAnswer") as caught:
        await bench.call("take")
    assert caught.value.body == body
    assert len(bench.memory.accepted) == 1


@pytest.mark.parametrize(
    ("headers", "fits"), [({"nr": "7"}, True), ({"NR": "7", "more": "x"}, True), ({"nr": "x"}, False)]
)
async def test_headers_that_come_are_held_against_their_schema(bench: Bench, headers: Any, fits: bool) -> None:  # noqa: FBT001 - a case
    """On the way all headers are texts; those that the document does not know do not count."""
    schema = {"properties": {"nr": {"type": "integer"}}, "required": ["nr"], "additionalProperties": False}
    bench.has(subscribing({"headers": schema}))
    bench.memory.put("lights", 1, headers=headers)
    if fits:
        assert await bench.call("take") == 1
    else:
        with pytest.raises(CallFailed, match=r"headers\.nr: 'x' is not of type 'integer'"):
            await bench.call("take")


async def test_nothing_is_taken_that_could_not_be_looked_at(bench: Bench) -> None:
    """A schema in another language is refused while the message is still where it was."""
    bench.has(subscribing({"schemaFormat": AVRO, "payload": {}}))
    bench.memory.put("lights", 1)
    with pytest.raises(CallFailed, match="avro"):
        await bench.call("take")
    assert (bench.memory.subscribed, bench.memory.accepted) == ([], [])


async def test_patterns_of_javascript_are_left_out(bench: Bench) -> None:
    """Python has none of these; a document is no worse for it."""
    payload = {"properties": {"name": {"pattern": r"^\p{L}+$"}, "pattern": {"pattern": "^a"}}}
    bench.has(publishing({"payload": payload}))
    await bench.call("send", {"name": "ada"})
    with pytest.raises(CallFailed, match=r"payload\.pattern: 'b' does not match"):
        await bench.call("send", {"pattern": "b"})
