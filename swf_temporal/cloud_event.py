"""An event as it travels: CloudEvents 1.0."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from swf_temporal.data import JSON, kind_of
from swf_temporal.strict_json import NotJSON, read_json

FIXED: Final = frozenset({"id", "source", "type", "specversion", "data", "data_base64"})
"""The attributes that identify an event: none that is added to it replaces them."""
_ADDRESSED = "addressed"
"""The one key of the record of an event that was addressed. A CloudEvent has a type, so that none can pass for one."""
VERSION: Final = "1.0"
"""The one version of CloudEvents that is understood."""


@dataclass(slots=True)  # not frozen: an instance may take thousands of events, and that would double what each costs
class CloudEvent:
    """An event: its id, source and type, its payload, and all its other context attributes. It is never changed."""

    id: str
    source: str
    type: str
    data: JSON = None
    attributes: Mapping[str, JSON] = field(default_factory=dict)
    """subject, time, datacontenttype and every extension attribute."""
    is_addressed: bool = False
    """Whether it was sent to one instance, by the name that this has for it, and so need not say where it belongs.

    Known from the way it came. It is not a part of the event, and nothing that a sender writes in one can set it.
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
        """Return the event that *event* describes. Raises ValueError naming what is missing or of the wrong kind.

        One that says nothing of its version is taken to be of ours.
        A payload in `data_base64` is decoded: JSON to what it is, other text to that. What is not text stays as it is.
        """
        if type(event) is not dict and not isinstance(event, Mapping):
            raise ValueError(f"an event is a JSON object, and this is {kind_of(event)}")
        version = event.get("specversion")
        if version is not None and str(version) != VERSION:
            raise ValueError(
                f"an event is a CloudEvent of the version {VERSION}, and this says specversion {version!r}"
            )
        id_, source, type_ = event.get("id", default_id), event.get("source", ""), event.get("type")
        if not (isinstance(id_, str) and isinstance(source, str) and type_ and isinstance(type_, str)):
            wrong = "id" if not isinstance(id_, str) else "type" if isinstance(source, str) else "source"
            raise ValueError(f"an event needs a text as its {wrong!r}")
        rest = {} if FIXED.issuperset(event) else {key: value for key, value in event.items() if key not in FIXED}
        return CloudEvent(id_, source, type_, _data_of(event), rest)

    def to_record(self) -> dict[str, JSON]:
        """Return what an instance keeps of the event: its JSON and, around that, that it was addressed."""
        return {_ADDRESSED: self.to_json()} if self.is_addressed else self.to_json()

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> "CloudEvent":
        """Return the event that `to_record` wrote."""
        if "type" in record or _ADDRESSED not in record:
            return CloudEvent.from_json(record)
        return replace(CloudEvent.from_json(record[_ADDRESSED]), is_addressed=True)

    def attribute(self, name: str) -> JSON:
        """Return a context attribute. Names are compared as CloudEvents writes them: without regard to case."""
        wanted = name.lower()
        for key, value in (
            ("id", self.id),
            ("source", self.source),
            ("type", self.type),
            *self.attributes.items(),
        ):
            if key.lower() == wanted:
                return value
        return None


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
