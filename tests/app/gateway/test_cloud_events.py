"""CloudEvents in HTTP requests, by the HTTP protocol binding and the JSON format of CloudEvents 1.0."""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent as Envelope
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.http.gateway.cloud_events import events_of
from swf_temporal.http.gateway.refusals import Refused

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
MAX_BATCH = 1000
HEADERS = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/s", "ce-type": "t"}
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}


def received(headers: Mapping[str, str], body: bytes | str = b"") -> CloudEvent:
    lowered = [(name.lower(), value) for name, value in headers.items()]
    [event] = events_of(lowered, body.encode() if isinstance(body, str) else body, MAX_BATCH).events
    return event


def structured(event: Any, content_type: str = STRUCTURED) -> CloudEvent:
    return received({"Content-Type": content_type}, json.dumps(event))


def refusal(headers: Mapping[str, str] | list[tuple[str, str]], body: bytes | str = b"") -> Refused:
    pairs = headers if isinstance(headers, list) else list(headers.items())
    sent = body.encode() if isinstance(body, str) else body
    with pytest.raises(Refused) as refused:
        events_of([(name.lower(), value) for name, value in pairs], sent, MAX_BATCH)
    return refused.value


def test_the_examples_of_the_binding() -> None:
    attributes = {"time": "2018-04-05T03:56:24Z"}
    headers = {
        "ce-specversion": "1.0", "ce-type": "com.example.someevent", "ce-time": "2018-04-05T03:56:24Z",
        "ce-id": "1234-1234-1234", "ce-source": "/mycontext/subcontext",
        "Content-Type": "application/json; charset=utf-8",
    }  # fmt: skip
    wanted = CloudEvent("1234-1234-1234", "/mycontext/subcontext", "com.example.someevent", {"much": "wow"}, attributes)
    found = received(headers, '{"much": "wow"}')
    assert found.to_json() == {**wanted.to_json(), "datacontenttype": "application/json; charset=utf-8"}
    assert structured(wanted.to_json(), "application/cloudevents+json; charset=UTF-8") == wanted
    batch = events_of([("content-type", f"{BATCH}; charset=utf-8")], json.dumps([wanted.to_json(), EVENT]).encode(), 2)
    assert batch.is_batch
    assert batch.events == (wanted, CloudEvent("1", "/s", "t"))
    assert events_of([("content-type", BATCH)], b"[]", 1).events == ()


@pytest.mark.parametrize(("value", "text"), [
    ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"), ("Euro%20%e2%82%ac", "Euro €"),
    ('"of an \\"older\\" sender"', 'of an "older" sender'), ('"a%20b"', "a b"), ("%41%42", "AB"),
    ("Euro €".encode().decode("latin-1"), "Euro €"), ("a+b", "a+b"), ("100%25", "100%"),
])  # fmt: skip
def test_headers_are_decoded(value: str, text: str) -> None:
    """Quotes first, then one round of percent-encoding (section 3.1.3.2)."""
    assert received({**HEADERS, "ce-subject": value}).attributes == {"subject": text}


@pytest.mark.parametrize("value", ["%C0%A0", "%ff", "%E2%82"])
def test_what_is_not_utf8_is_refused(value: str) -> None:
    """Byte sequences that are no UTF-8 must be rejected (section 3.1.3.2)."""
    refused = refusal({**HEADERS, "ce-subject": value})
    assert (refused.status, refused.code) == (400, "malformed-event")


@pytest.mark.parametrize(("content_type", "body", "data"), [
    ("application/json", b'{"a": 1}', {"a": 1}),
    ("application/vnd.shop+json; charset=utf-8", b"[1]", [1]),
    ("text/json", b'"x"', "x"),
    ("application/json; charset=iso-8859-1", '"é"'.encode("latin-1"), "é"),
    ("application/json", b"\xef\xbb\xbf1", 1),
    ("text/plain", b"5", "5"),
    ("text/plain; charset=windows-1252", "€".encode("cp1252"), "€"),
    ("application/xml", "<a>€</a>".encode(), "<a>€</a>"),
    ("application/soap+xml", b"<a/>", "<a/>"),
    ("application/octet-stream", b"\xff\x00", b64encode(b"\xff\x00").decode()),
    ("image/png", b"", None),
    (None, b'{"a": 1}', {"a": 1}),
    (None, b"plain", "plain"),
    ("application/x-www-form-urlencoded", b"a=1", "a=1"),
])  # fmt: skip
def test_data_by_its_type(content_type: str | None, body: bytes, data: Any) -> None:
    """JSON is what it is, text is text, and other bytes are base64, as in the JSON format."""
    event = received(HEADERS if content_type is None else {**HEADERS, "Content-Type": content_type}, body)
    assert event.data == data
    assert event.attributes == ({} if content_type is None else {"datacontenttype": content_type})


def test_the_json_format() -> None:
    """Null attributes are none; numbers and booleans stay; data may be base64; the time is kept as it is written."""
    extra = {"subject": None, "n": 5, "yes": True, "time": "2018-04-05T17:31:00.123456789+02:00"}
    found = structured({**EVENT, **extra, "data_base64": b64encode(b"\xff").decode()})
    assert found.attributes == {"n": 5, "yes": True, "time": extra["time"]}
    assert found.data == b64encode(b"\xff").decode()
    assert structured({**EVENT, "data": None}).data is None
    assert structured({**EVENT, "datacontenttype": "application/xml", "data": "<a/>"}).data == "<a/>"


@pytest.mark.parametrize(("headers", "body", "status", "told"), [
    ({"Content-Type": "application/json"}, "{}", 415, "is not a CloudEvent"),
    ({}, "{}", 415, "is not a CloudEvent"),
    ({"Content-Type": "application/cloudevents+avro"}, "", 415, "the event format application/cloudevents+avro"),
    ({"Content-Type": "application/cloudevents"}, "", 415, "the event format application/cloudevents"),
    ({"Content-Type": f"{STRUCTURED}; charset=klingon"}, "{}", 415, "the charset 'klingon'"),
    ({"Content-Type": f"{STRUCTURED}; charset=base64"}, "{}", 415, "the charset 'base64'"),
    ({"Content-Type": f"{STRUCTURED}; charset=punycode"}, b"a" * 1_000_000, 415, "the charset 'punycode'"),
    ({"Content-Type": STRUCTURED}, b"\xff", 400, "not text in utf-8"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "id": "i" * 4097}), 400, "more than 4,096 characters"),
    ({"Content-Type": STRUCTURED}, "{", 400, "the body is not JSON"),
    ({"Content-Type": STRUCTURED}, "[" * 100_000, 400, "nested too deeply"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "data": float("nan")}), 400, "NaN is not a JSON number"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "data": "\ud800"}), 400, "surrogate"),
    ({"Content-Type": STRUCTURED}, "[]", 400, "an event is a JSON object"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "id": None}), 400, "the event has no 'id'"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "specversion": "0.3"}), 400, "specversion"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "source": 5}), 400, "source"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "Bad_Attr": "5"}), 400, "'Bad_Attr'"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "Order": "5", "order": "6"}), 400, "'order' twice"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "order": {"a": 1}}), 400, "the attribute 'order' is object"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "time": "yesterday"}), 400, "the 'time' 'yesterday'"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "time": "2018-02-30T00:00:00Z"}), 400, "the 'time'"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "data": 1, "data_base64": "AA=="}), 400, "data_base64"),
    ({"Content-Type": STRUCTURED}, json.dumps({**EVENT, "data_base64": "?"}), 400, "not base64"),
    ({"Content-Type": BATCH}, "{}", 400, "a batch is a JSON array"),
    ({**HEADERS, "Content-Type": "application/json"}, "{", 400, "the data is not JSON"),
    ({**HEADERS, "ce-datacontenttype": "text/plain"}, "", 400, "ce-datacontenttype"),
    ({name: value for name, value in HEADERS.items() if name != "ce-specversion"}, "", 400, "no 'specversion'"),
    ({**HEADERS, "ce-data": "x"}, "", 400, "data"),
])  # fmt: skip
def test_what_is_refused(headers: Mapping[str, str], body: bytes | str, status: int, told: str) -> None:
    """With a status by which senders know that it is no use to repeat it, and what is wrong."""
    refused = refusal(headers, body)
    assert refused.status == status
    assert told in refused.detail


def test_a_header_that_is_there_twice() -> None:
    assert "ce-id is given more than once" in refusal([*HEADERS.items(), ("ce-id", "2")]).detail


def test_a_batch_tells_of_each_that_is_malformed() -> None:
    refused = refusal({"Content-Type": BATCH}, json.dumps([EVENT, {**EVENT, "id": ""}, 5]))
    assert refused.status == 400
    assert [one["index"] for one in refused.facts["errors"]] == [1, 2]


def test_a_batch_with_too_many_events_is_not_read() -> None:
    """What comes after the first that is too many is not even looked at; and not each that is wrong is told of."""
    events = b"[" + b"{}," * MAX_BATCH
    assert refusal({"Content-Type": BATCH}, events + b"what is no JSON").status == 413
    assert refusal({"Content-Type": BATCH}, events + b"{}]").status == 413
    wrong = refusal({"Content-Type": BATCH}, events[:-1] + b"]")
    assert (wrong.status, len(wrong.facts["errors"])) == (400, 100)
    assert wrong.detail.startswith("1000 of 1000 events are malformed")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), min_size=1, max_size=20)
NAMES = st.from_regex(r"[a-z0-9]{1,20}", fullmatch=True).filter(
    lambda name: name not in ("id", "source", "type", "specversion", "data", "time", "datacontenttype", "dataschema")
)


@given(st.dictionaries(NAMES, TEXTS, max_size=3), st.dictionaries(st.text(max_size=5), JSON, max_size=3), TEXTS, TEXTS)
def test_what_the_public_library_sends(extensions: dict[str, str], data: Any, identifier: str, source: str) -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    attributes = {"id": identifier, "source": source, "type": "t", "time": moment, "specversion": "1.0", **extensions}
    event = Envelope({**attributes, "datacontenttype": "application/json"}, data)
    for message in (to_binary_event(event), to_structured_event(event)):
        found = received(message.headers, message.body)
        assert (found.id, found.source, found.type, found.data) == (identifier, source, "t", data)
        kept = {name: value for name, value in found.attributes.items() if name not in ("time", "datacontenttype")}
        assert kept == extensions
        assert datetime.fromisoformat(str(found.attributes["time"])) == moment
