"""An event as it travels: CloudEvents 1.0."""

import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from swf_temporal.base.data import JSON, kind_of
from swf_temporal.base.grammar import with_article
from swf_temporal.base.strict_json import NotJSON, read_json

FIXED: Final = frozenset({"id", "source", "type", "specversion", "data", "data_base64"})
"""The attributes that identify an event: additional attributes cannot replace them."""
_ADDRESSED = "addressed"
"""The only key in the record of an addressed event. A CloudEvent has a type, so it cannot be mistaken for one."""
VERSION: Final = "1.0"
"""The version of CloudEvents that is supported."""
_REQUIRED: Final = ("id", "source", "type", "specversion")
_MAX_ATTRIBUTE: Final = 4096
"""The length limit of an attribute, such as the id and the source by which duplicates are recognized, in characters."""
_MAX_SHOWN: Final = 100
_NAME: Final = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_TEXTS: Final = frozenset({"time", "subject", "datacontenttype", "dataschema"})
"""The optional attributes of CloudEvents, which are non-empty texts."""


@dataclass(slots=True)  # not frozen: an instance may take thousands of events, and that would double the cost of each
class CloudEvent:
    """An event: its id, source and type, its payload, and all its other context attributes. It is never changed."""

    id: str
    source: str
    type: str
    data: JSON = None
    attributes: Mapping[str, JSON] = field(default_factory=dict)
    """subject, time, datacontenttype and every extension attribute."""
    is_addressed: bool = False
    """Whether it was sent to one instance, by the name in its definition, and so needs no correlation attributes.

    Derived from the way it was received. It is not part of the event, and a sender cannot set it in one.
    """

    def to_json(self) -> dict[str, JSON]:
        """Return the event in the JSON format of CloudEvents."""
        event: dict[str, JSON] = {
            "specversion": VERSION, "id": self.id, "source": self.source, "type": self.type, **self.attributes,
        }  # fmt: skip
        if self.data is not None:
            event["data"] = self.data
        return event

    @staticmethod
    def from_json(event: Mapping[str, Any], *, default_id: str = "") -> "CloudEvent":
        """Return the event that *event*, which comes from outside, describes. Raises ValueError with what is wrong.

        Its id, its source and its version may be left out. Null means the same as a missing attribute. A payload in
        `data_base64` is decoded as JSON or else as text; if it is not text, it stays base64.
        """
        given: Any = event
        if not isinstance(given, Mapping):
            kind = "null" if given is None else with_article(kind_of(given))
            raise ValueError(f"an event is a JSON object, and this is {kind}")  # noqa: TRY004 - data is wrong
        present = {name: value for name, value in event.items() if value is not None}
        read = _read(present, default_id)
        check_attributes(read)
        return read

    @staticmethod
    def from_message(event: Mapping[str, Any]) -> "CloudEvent":
        """Return the event that another program sent. Raises ValueError if it lacks what a CloudEvent requires."""
        read = CloudEvent.from_json(event)
        for name in _REQUIRED:
            if event.get(name) in (None, ""):
                raise ValueError(f"the event has no {name!r}")
        return read

    def to_record(self) -> dict[str, JSON]:
        """Return the record that an instance keeps of the event: its JSON, wrapped if it was addressed."""
        return {_ADDRESSED: self.to_json()} if self.is_addressed else self.to_json()

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> "CloudEvent":
        """Return the event that `to_record` or `to_json` wrote. Raises ValueError if neither did."""
        addressed = None if "type" in record else record.get(_ADDRESSED)
        return replace(_read(addressed), is_addressed=True) if isinstance(addressed, Mapping) else _read(record)

    def attribute(self, name: str) -> JSON:
        """Return a context attribute. Names are compared as CloudEvents writes them: without regard to case."""
        wanted = name.lower()
        for key, value in (
            ("id", self.id),
            ("source", self.source),
            ("type", self.type),
            ("specversion", VERSION),
            *self.attributes.items(),
        ):
            if key.lower() == wanted:
                return value
        return None


def check_attributes(event: CloudEvent) -> None:
    """Raise ValueError unless the attributes of *event* are valid in CloudEvents.

    Capitals in names are accepted: the specification of Serverless Workflow has them in its own events. Names that
    differ in case alone are refused: it would be undefined which of them is found.
    """
    for name, text in (("id", event.id), ("source", event.source), ("type", event.type)):
        _check_length(name, text)
    names: set[str] = set()
    for name, value in event.attributes.items():
        shown, lower = name[:_MAX_SHOWN], name.lower()
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"the name of the attribute {shown!r} may have letters and digits only")
        if lower in names or lower in FIXED:
            raise ValueError(f"the event has the attribute {shown!r} twice, in upper and in lower case")
        names.add(lower)
        if value is not None:
            _check_value(shown, lower, value)


def _check_value(shown: str, lower: str, value: JSON) -> None:
    if not isinstance(value, str | int):
        what = f"the attribute {shown!r} is {kind_of(value)}: it may be a text, an integer or a boolean"
        raise ValueError(what)  # noqa: TRY004 - data is wrong
    if lower in _TEXTS and not (value and isinstance(value, str)):
        raise ValueError(f"the attribute {shown!r} must be a text that is not empty")
    _check_length(shown, str(value))
    if lower == "time" and not _is_timestamp(str(value)):
        raise ValueError(f"the 'time' {str(value)[:_MAX_SHOWN]!r} is not a timestamp such as 2018-04-05T17:31:00Z")


def _check_length(name: str, text: str) -> None:
    if len(text) > _MAX_ATTRIBUTE:
        raise ValueError(f"the attribute {name!r} has more than {_MAX_ATTRIBUTE:,} characters")


def _is_timestamp(text: str) -> bool:
    try:
        return _TIMESTAMP.fullmatch(text) is not None and datetime.fromisoformat(text.upper()) is not None
    except ValueError:
        return False


def _read(event: Mapping[str, Any], default_id: str = "") -> CloudEvent:
    version = event.get("specversion")
    if version is not None and str(version) != VERSION:
        shown = repr(version)[:_MAX_SHOWN]
        raise ValueError(f"an event is a CloudEvent of the version {VERSION}, and this says specversion {shown}")
    id_, source, type_ = event.get("id", default_id), event.get("source", ""), event.get("type")
    if not (isinstance(id_, str) and isinstance(source, str) and type_ and isinstance(type_, str)):
        wrong = "id" if not isinstance(id_, str) else "type" if isinstance(source, str) else "source"
        raise ValueError(f"an event needs a text as its {wrong!r}")
    rest = {} if FIXED.issuperset(event) else {key: value for key, value in event.items() if key not in FIXED}
    return CloudEvent(id_, source, type_, _data_of(event), rest)


def _data_of(event: Mapping[str, Any]) -> JSON:
    encoded = event.get("data_base64")
    if encoded is None:
        data: JSON = event.get("data")
        return data
    if "data" in event or not isinstance(encoded, str):
        raise ValueError("an event has its payload in 'data', or as a text in 'data_base64'")
    try:
        content = b64decode(encoded, validate=True)
    except ValueError:
        raise ValueError("the 'data_base64' of an event is not base64") from None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return encoded
    try:
        decoded: JSON = read_json(text)
    except NotJSON:  # it stays the text that it is
        return text
    return decoded
