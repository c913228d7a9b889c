"""The messages between instances and what gives them places, and its record when it continues as new."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, NotRequired, TypeAlias, TypedDict, cast, final

from swf_temporal.data import JSON
from swf_temporal.languages.port import MAX_PLACES
from swf_temporal.runtime.ids import DIGITS, MAX_INSTANCE_ID_BYTES, shortened_id
from swf_temporal.strict_json import show_json, write_json
from swf_temporal.temporal.formats import check_format
from swf_temporal.temporal.record_types import check_type

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


@final
class Asking(TypedDict):
    """The message of an instance that asks for a place."""

    instance: str
    """Its id."""
    run: str
    """The id of its first run."""
    ask: str
    """What tells this request from all others; the same where it is repeated."""
    definition: str
    limit: int
    """How many may run at once: the latest request says it for all."""
    key: NotRequired[JSON]
    """What the instances have in common that the limit is for; missing where it is for all of the definition."""
    runs: NotRequired[bool]
    """Whether it runs already, as one that was reset may: it has a place then, however many have one."""


@final
class Leaving(TypedDict):
    """The message of an instance that ends: it gives its place back, or waits for none any more."""

    instance: str
    run: str


Message: TypeAlias = Asking | Leaving


class Told(TypedDict):
    """What an instance is told that asked for a place: that it has one, unless it is refused."""

    ask: str
    refused: NotRequired[int]
    """How many wait already."""


class Turn(TypedDict):
    """An instance that has a place, or waits for one."""

    run: str
    ask: str


class PlacesRecord(TypedDict, total=False):
    """What is carried on when it continues as new."""

    definition: str
    limit: int
    key: JSON
    held: dict[str, Turn]
    """By their ids, the instances that have a place."""
    waiting: dict[str, Turn]
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


def read_message(value: Any) -> Message:
    """Return the message that *value* is. Raises ValueError saying what is wrong, and NewerRecord."""
    check_type(value, dict, "it")
    check_format(value, "a message about places")
    check_type(value, Asking if "limit" in value else Leaving, "it")
    if not value["instance"]:
        raise ValueError("it names an instance whose id is empty")
    if not 1 <= value.get("limit", 1) <= MAX_PLACES:
        raise ValueError(f"its limit is {value['limit']}")
    return cast("Message", value)
