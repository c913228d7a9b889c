"""The messages between instances and what gives them places, and its record when it continues as new."""

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
"""The activity that finds out which of those that have a place have ended."""

_PREFIX: Final = "swf-places/"
_MAX_SHOWN: Final = 100
"""The length limit of a key in a text, in characters."""


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
    """What tells this request from all others; the same where it is repeated."""
    definition: str
    limit: int
    """How many may run at once: the latest request says it for all."""
    key: Value | None = None
    """What the instances have in common that the limit is for; None where it is for all of the definition."""
    runs: bool = False
    """Whether it runs already, as one that was reset may: it has a place then, however many have one."""

    def check(self) -> None:
        """Raise ValueError if the instance has no id, or the limit is none."""
        _Message.check(self)
        if not 1 <= self.limit <= MAX_PLACES:
            raise ValueError(f"its limit is {self.limit}")


@final
@dataclass(frozen=True, slots=True)
class Leaving(_Message):
    """The message of an instance that ends: it gives its place back, or waits for none any more."""


Message: TypeAlias = Asking | Leaving


@dataclass(frozen=True, slots=True)
class PlaceAnswer(Record):
    """What an instance is told that asked for a place: that it has one, unless it is refused."""

    WHAT: ClassVar[str] = "an answer about a place"

    ask: str
    refused: int | None = None
    """How many wait already; None where it has a place."""


@dataclass(frozen=True, slots=True)
class Turn(Record):
    """An instance that has a place, or waits for one."""

    run: str
    ask: str


@dataclass(slots=True)
class PlacesRecord(Record):
    """What is carried on when it continues as new."""

    WHAT: ClassVar[str] = "the record of places"

    definition: str = ""
    """As the next two fields, those of the latest request; empty before there is one."""
    limit: int = MAX_PLACES
    key: Value | None = None
    held: dict[str, Turn] = field(default_factory=dict)
    """By their ids, the instances that have a place."""
    waiting: dict[str, Turn] = field(default_factory=dict)
    """By their ids, those that wait, in the order in which they have asked."""


def places_id(definition_id: str, key: JSON, *, has_key: bool) -> str:
    """Return the id of what gives places to the instances of a definition, or to those of them with *key*."""
    own = f"{_PREFIX}{definition_id}"
    if has_key:
        own += f"/{sha256(write_json(key).encode()).hexdigest()[:DIGITS]}"
    return shortened_id(own, MAX_INSTANCE_ID_BYTES)


def in_words(definition_id: str, awaited: Mapping[str, Any]) -> str:
    """Return what people read of an instance that waits for a place: how many run at once, and which."""
    of = f"instances of {definition_id}"
    if "key" in awaited:
        of += f" with key {_shown(awaited['key'])}"
    return f"at most {awaited['limit']:,} at once ({of})"


def _shown(key: JSON) -> str:
    written = show_json(key)
    return written if len(written) <= _MAX_SHOWN else f"{written[:_MAX_SHOWN]}…"


def read_message(written: Any) -> Message:
    """Return the message that is *written*. Raises ValueError saying what is wrong, and NewerRecord."""
    return (Asking if isinstance(written, dict) and "limit" in written else Leaving).from_json(written)
