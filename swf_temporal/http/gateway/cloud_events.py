"""CloudEvents in HTTP requests: binary, structured and batched content mode of their HTTP protocol binding."""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import has_more_elements, read_json
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.text.bodies import content_type_of, decoded, is_charset, is_json

STRUCTURED: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"

_CLOUDEVENTS: Final = "application/cloudevents"
_PREFIX: Final = "ce-"
_HOW: Final = (
    f"send it as {STRUCTURED}, several as {BATCH}, or its data with the attributes in ce- headers: "
    "ce-specversion, ce-id, ce-source and ce-type"
)
MAX_ERRORS: Final = 100
"""The number of malformed events of a batch that an answer lists."""
_SHOWN: Final = 300
_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Received:
    events: tuple[CloudEvent, ...]
    is_batch: bool = False


class _WrongError(ValueError):
    """An event is malformed. The message is truncated, as it may quote the event."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= _SHOWN else f"{message[:_SHOWN]}…")


def events_of(headers: Iterable[tuple[str, str]], body: bytes, max_batch: int) -> Received:
    """Return the events in a request, at most *max_batch*, if all are well-formed. Raises Refused.

    The names of *headers* are in lower case.
    """
    given = _distinct(headers)
    media, charset = content_type_of(given.get("content-type", ""))
    if media == BATCH:
        return _batch(json_of_body(body, charset, max_batch))
    if media == STRUCTURED:
        return Received((_structured(json_of_body(body, charset)),))
    if media.startswith(_CLOUDEVENTS):
        raise Refused(415, "unknown-format", f"the event format {media} is not supported", _HOW)
    attributes = {name.removeprefix(_PREFIX): value for name, value in given.items() if name.startswith(_PREFIX)}
    if not attributes:
        raise Refused(415, "no-event", f"a request with Content-Type {media or 'of no kind'} is not a CloudEvent", _HOW)
    try:
        return Received((_binary(attributes, given.get("content-type"), media, charset, body),))
    except _WrongError as error:
        raise _malformed(str(error)) from None


def json_of_body(body: bytes, charset: str = "utf-8", max_elements: int | None = None) -> JSON:
    """Return *body* parsed as JSON. Raises Refused, also if it is an array of more than *max_elements*."""
    try:
        text = _text_in(body, charset)
        if max_elements is not None and has_more_elements(text, max_elements):
            raise Refused(413, "too-many-events", f"a batch has at most {max_elements:,} events", "send fewer at once")
        value: JSON = read_json(text)
    except ValueError as error:
        raise Refused(400, "no-json", f"the body is not JSON: {error}") from None
    return value


def _malformed(detail: str, **facts: Any) -> Refused:
    return Refused(400, "malformed-event", detail, "see https://cloudevents.io", facts=facts)


def _distinct(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers:
        if name in found and (name.startswith(_PREFIX) or name == "content-type"):
            raise _malformed(f"the header {name} is given more than once")
        found[name] = value
    return found


def _structured(content: JSON) -> CloudEvent:
    try:
        return _event_in(content)
    except _WrongError as error:
        raise _malformed(str(error)) from None


def _batch(content: JSON) -> Received:
    if not isinstance(content, list):
        raise _malformed("a batch is a JSON array of events")
    events: list[CloudEvent] = []
    wrong: list[dict[str, JSON]] = []
    for index, each in enumerate(content):
        try:
            events.append(_event_in(each))
        except _WrongError as error:
            wrong.append({"index": index, "detail": str(error)})
    if wrong:
        what = f"{len(wrong)} of {len(content)} events are malformed, and none was taken: {wrong[0]['detail']}"
        raise _malformed(what, errors=wrong[:MAX_ERRORS])
    return Received(tuple(events), is_batch=True)


def _event_in(content: Any) -> CloudEvent:
    try:
        return CloudEvent.from_message(content)
    except ValueError as error:
        raise _WrongError(str(error)) from None


def _binary(raw: Mapping[str, str], content_type: str | None, media: str, charset: str, body: bytes) -> CloudEvent:
    attributes: dict[str, JSON] = {name: _header_value(name, value) for name, value in raw.items()}
    for name in attributes.keys() & {"datacontenttype", "data", "data_base64"}:
        raise _WrongError(f"the data is in the body and its type in Content-Type, not in ce-{name}")
    if content_type:
        attributes["datacontenttype"] = content_type
    return _event_in(attributes | _data_in(body, media, charset))


def _data_in(body: bytes, media: str, charset: str) -> dict[str, JSON]:
    if not body:
        return {}
    if is_json(media):
        try:
            return {"data": read_json(_text_in(body, charset))}
        except ValueError as error:
            raise _WrongError(f"the data is not JSON, which Content-Type {media} says: {error}") from None
    if media.startswith("text/") or media.endswith(("/xml", "+xml")):
        return {"data": _text_in(body, charset)}
    return {"data_base64": b64encode(body).decode()}


def _header_value(name: str, value: str) -> str:
    """Return the value of an attribute in a header, without quotes and percent-encoding."""
    value = value.strip()
    if len(value) > 1 and value.startswith('"') and value.endswith('"'):
        value = _ESCAPED.sub(r"\1", value[1:-1])
    try:
        # Servers pass headers as Latin-1; senders that do not percent-encode them write UTF-8.
        return unquote_to_bytes(value.encode("latin-1")).decode()
    except UnicodeError:
        raise _WrongError(f"the header ce-{name} is not UTF-8, percent-encoded") from None


def _text_in(body: bytes, charset: str) -> str:
    if not is_charset(charset):
        raise Refused(415, "unknown-charset", f"the charset {charset!r} is not supported", "send UTF-8")
    try:
        return decoded(body, charset)
    except UnicodeError:
        raise _WrongError(f"it is not text in {charset}") from None
