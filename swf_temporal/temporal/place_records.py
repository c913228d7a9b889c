"""The messages between instances and the workflow that gives them places, and its record for continue-as-new."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Final, TypeAlias, final

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.base.strict_json import show_json, write_json
from swf_temporal.languages.port import MAX_PLACES
from swf_temporal.runtime.ids import DIGITS, MAX_INSTANCE_ID_BYTES, shortened_id
from swf_temporal.runtime.progress import Value

PLACES: Final = "swf places"
"""The workflow type."""
TAKE: Final = "take"
"""The signal that carries a message to it."""
TELL: Final = "tell places"
"""The local activity that sends it."""
LOOK: Final = "look for ended holders"
"""The activity that finds out which instances with a place have ended."""

_PREFIX: Final = "swf-places/"
_MAX_SHOWN: Final = 100
"""The length limit of a key in messages, in characters."""


@dataclass(frozen=True, slots=True)
class _Message(Record):
    WHAT: ClassVar[str] = "a message about places"

    instance: str
    """The id of the instance."""
    run: str
    """The id of its first run."""

    def check(self) -> None:
        """Raise ValueError if the instance has no id."""
        if not self.instance:
            raise ValueError("it names an instance whose id is empty")


@final
@dataclass(frozen=True, slots=True)
class Asking(_Message):
    """The message of an instance that asks for a place."""

    ask: str
    """The id of the request; the same when it is repeated."""
    definition: str
    limit: int
    """The number that may run at once: the latest request sets it for all."""
    key: Value | None = None
    """The key shared by the instances that the limit is for; None if it is for all of the definition."""
    runs: bool = False
    """True if it is already running, as after a reset: it then gets a place regardless of the limit."""

    def check(self) -> None:
        """Raise ValueError if the instance has no id, or the limit is not valid."""
        _Message.check(self)
        if not 1 <= self.limit <= MAX_PLACES:
            raise ValueError(f"its limit is {self.limit}")


@final
@dataclass(frozen=True, slots=True)
class Leaving(_Message):
    """The message of an instance that ends: it releases its place, or stops waiting for one."""


Message: TypeAlias = Asking | Leaving


@dataclass(frozen=True, slots=True)
class PlaceAnswer(Record):
    """The answer to an instance that asked for a place: it has one, unless it is refused."""

    WHAT: ClassVar[str] = "an answer about a place"

    ask: str
    refused: int | None = None
    """The number that wait already; None if it has a place."""


@dataclass(frozen=True, slots=True)
class Turn(Record):
    """An instance that has a place, or waits for one."""

    run: str
    ask: str


@dataclass(slots=True)
class PlacesRecord(Record):
    """The record of the workflow that gives places, for continue-as-new."""

    WHAT: ClassVar[str] = "the record of places"

    definition: str = ""
    """Like the next two fields, taken from the latest request; empty before there is one."""
    limit: int = MAX_PLACES
    key: Value | None = None
    held: dict[str, Turn] = field(default_factory=dict)
    """The instances that have a place, by their ids."""
    waiting: dict[str, Turn] = field(default_factory=dict)
    """The waiting instances, by their ids, in the order of their requests."""


def places_id(definition_id: str, key: JSON, *, has_key: bool) -> str:
    """Return the id of the workflow that gives places to the instances of a definition, or to those with *key*."""
    own = f"{_PREFIX}{definition_id}"
    if has_key:
        own += f"/{sha256(write_json(key).encode()).hexdigest()[:DIGITS]}"
    return shortened_id(own, MAX_INSTANCE_ID_BYTES)


def in_words(definition_id: str, awaited: Mapping[str, Any]) -> str:
    """Return the readable description of a place that an instance waits for: the limit, and for which instances."""
    of = f"instances of {definition_id}"
    if "key" in awaited:
        of += f" with key {_shown(awaited['key'])}"
    return f"at most {awaited['limit']:,} at once ({of})"


def _shown(key: JSON) -> str:
    written = show_json(key)
    return written if len(written) <= _MAX_SHOWN else f"{written[:_MAX_SHOWN]}…"


def read_message(written: Any) -> Message:
    """Return the message in *written*. Raises ValueError saying what is wrong, and NewerRecord."""
    return (Asking if isinstance(written, dict) and "limit" in written else Leaving).from_json(written)
