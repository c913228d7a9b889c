"""CloudEvents as messages of brokers: the content modes `structured` and `binary` of the protocol bindings.

In the structured mode the payload of a message is the event in JSON. In the binary mode it is the event's data, and
the attributes are headers: with `ce_` before their names in Kafka, `ce-` in NATS, HTTP and RabbitMQ, and with nothing
before them in MQTT 5.
"""

from base64 import b64encode
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, unquote

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.events.brokers.families import FAMILIES
from swf_temporal.events.brokers.port import Message
from swf_temporal.settings.events import Mode
from swf_temporal.text.bodies import decoded, decoded_json, encoded, is_json, split_content_type

STRUCTURED: Final = "application/cloudevents+json"
_BATCH = "application/cloudevents-batch"
_JSON = "application/json"
_CONTENT_TYPE = "datacontenttype"
_UNQUOTED = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')


def event_in(message: Message, family: str) -> CloudEvent:
    """Return the event that *message* carries, in either mode. Raises ValueError if it carries none."""
    media_type, charset = split_content_type(message.content_type or "")
    if media_type.startswith(_BATCH):
        raise ValueError("it is a batch of CloudEvents, which no binding of this protocol has")
    attributes = _attributes_in(message, family)
    if not media_type.startswith("application/cloudevents") and "specversion" in attributes:
        return CloudEvent.from_message({**attributes, **_data_in(message, media_type, charset)})
    try:
        whole = read_json(message.payload)
    except NotJSON as error:
        raise ValueError(f"it is not a CloudEvent: neither headers with its attributes, nor JSON: {error}") from None
    if not isinstance(whole, dict) or "specversion" not in whole:
        raise ValueError("it is not a CloudEvent: it has no specversion")
    return CloudEvent.from_message(whole)


def id_in(message: Message, family: str) -> str | None:
    """Return the id of the event in *message*, even if the event is otherwise invalid; None if it has none."""
    found: JSON = _attributes_in(message, family).get("id")
    if found is None:
        with suppress(NotJSON):
            whole = read_json(message.payload)
            found = whole.get("id") if isinstance(whole, dict) else None
    return found if isinstance(found, str) and found else None


def message_of(event: CloudEvent, family: str, mode: Mode) -> Message:
    """Return the message that carries *event*, with checked attributes. Raises ValueError if *mode* is unsupported."""
    if mode == "structured":
        whole = {key.lower(): value for key, value in event.to_json().items()}
        return Message(write_json(whole, ensure_ascii=False).encode(), STRUCTURED)
    kind = FAMILIES[family]
    if not kind.attribute_prefixes:
        raise ValueError(f"CloudEvents have no binary mode over {family}")
    attributes = {key.lower(): value for key, value in event.to_json().items() if key != "data"}
    content_type = attributes.pop(_CONTENT_TYPE, None)
    prefix, quoted = kind.attribute_prefixes[0], kind.has_ascii_headers
    headers = {f"{prefix}{key}": _text(value, quoted=quoted) for key, value in attributes.items() if value is not None}
    content_type = _JSON if content_type is None else str(content_type)
    return Message(_payload(event.data, content_type), content_type, headers)


def _attributes_in(message: Message, family: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    kind = FAMILIES[family]
    for name, value in message.headers.items():
        for prefix in kind.attribute_prefixes:
            if name.lower().startswith(prefix):
                found.setdefault(name[len(prefix) :].lower(), unquote(value) if kind.has_ascii_headers else value)
                break
    for other in ("data", "data_base64", "content-type"):
        found.pop(other, None)
    if "specversion" in found and message.content_type is not None:
        found[_CONTENT_TYPE] = message.content_type
    return found


def _data_in(message: Message, media_type: str, charset: str) -> dict[str, JSON]:
    if not message.payload:
        return {}
    if not media_type or is_json(media_type):
        try:
            return {"data": read_json(decoded_json(message.payload, charset))}
        except NotJSON as error:
            raise ValueError(f"the payload of the CloudEvent says that it is JSON, and is not: {error}") from None
    try:
        return {"data": decoded(message.payload, charset)}
    except UnicodeError:
        return {"data_base64": b64encode(message.payload).decode()}


def _payload(data: JSON, content_type: str) -> bytes:
    if data is None:
        return b""
    media_type, charset = split_content_type(content_type)
    if isinstance(data, str) and not is_json(media_type):
        return encoded(data, charset)
    return write_json(data, ensure_ascii=False).encode()


def _text(value: JSON, *, quoted: bool) -> str:
    text = value if isinstance(value, str) else write_json(value)
    return quote(text, safe=_UNQUOTED) if quoted else text
