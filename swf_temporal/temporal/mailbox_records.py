"""The messages to a mailbox, and its record when it continues as new."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, NotRequired, TypeAlias, TypedDict, cast, final

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.errors import SwfError
from swf_temporal.routing.gathering import Arrived
from swf_temporal.strict_json import write_json
from swf_temporal.temporal.formats import check_format
from swf_temporal.temporal.kept_options import OptionsRecord, start_options
from swf_temporal.temporal.record_types import check_type
from swf_temporal.temporal.records import Pinned, PinnedRecord, catalogue_of
from swf_temporal.temporal.workflow_input import UNREADABLE

MAILBOX: Final = "swf events"
"""The workflow type."""
TAKE: Final = "take"
"""The signal that carries what comes."""
RECEPTION: Final = "reception"
"""The query that tells what a mailbox would do with an event."""
DEFINITIONS: Final = "definitions"
"""Under which name a mailbox's memo has the digest of the definitions that it has."""
MAX_BYTES: Final = 1024 * 1024
"""From which size of its history on a mailbox takes no event that only waiting instances take."""


@final
class Delivery(TypedDict):
    """An event as it travels to a mailbox, with the definitions that an instance is to run."""

    event: dict[str, Any]
    definitions: NotRequired[list[PinnedRecord]]
    """The one that consumes the event comes first; missing where the mailbox has them."""
    starts: bool
    """Whether the event starts an instance."""
    instance: str | None
    """The id of the instance of this key; None if each has events, and so an id, of its own, or if none is started."""
    values: NotRequired[dict[str, str]]
    """The attributes by which those are found that wait for it; missing where none does."""


@final
class Subscribing(TypedDict):
    """The message of an instance that begins to wait, or that ends."""

    subscriber: str
    """The id of the instance."""
    values: dict[str, str] | None
    """What attributes must be, as far as it knows; None if it ends."""


class UntakenEvent(TypedDict):
    """An event that an instance has not taken."""

    event: dict[str, Any]
    starts: bool
    """Whether it is to begin the next instance."""
    values: NotRequired[dict[str, str]]
    """As those of a delivery."""


@final
class Untaken(TypedDict):
    """The events that an instance has not taken before it ended."""

    untaken: list[UntakenEvent]
    definitions: NotRequired[list[PinnedRecord]]
    """As those of a delivery."""
    instance: str
    """The id of the instance."""
    run: str
    """The id of its first run."""
    handedOver: NotRequired[bool]
    """Whether the instance goes on, as another definition."""
    options: NotRequired[OptionsRecord]
    """Those with which it was started, for the next."""


@final
class Regained(TypedDict):
    """That an instance goes on, and has events again which it gave back."""

    regained: list[str]
    """The digests of the events: see `digest_of_event`."""


Arriving: TypeAlias = Delivery | Subscribing | Untaken | Regained


class Held(Arrived):
    """An event that is kept for an instance."""

    values: NotRequired[dict[str, str]]


class Reception(TypedDict):
    """The answer of a mailbox about an event that may come, and about those that it keeps."""

    isKnown: bool
    """Whether the event came before, and so has no effect any more."""
    subscribers: dict[str, list[dict[str, str]]]
    """By the ids of instances, what the attributes of their events must be, once for each wait."""
    gathered: int
    """The number of events that wait for others."""
    held: int
    """The number of events that wait for an instance."""


class MailboxRecord(TypedDict, total=False):
    """The record of a mailbox when it continues as new."""

    seen: list[tuple[str, float]]
    """The digest and time of the events that came, in seconds since 1970: see `digest_of_event`."""
    arrived: list[Any]
    """Messages: those that it has yet to look at, and what else came."""
    gathered: list[Arrived]
    """Those that wait for others."""
    window: float | None
    """The seconds for which they do; None is without a limit."""
    held: list[Held]
    """Those that wait for an instance."""
    subscribers: dict[str, list[dict[str, str]]]
    """By the ids of instances, what the attributes of their events must be, once for each wait."""
    probed: float
    """When those of them were looked for last that have ended without saying so."""
    definitions: list[PinnedRecord]
    """Those that came with the latest event."""
    begun: str | None
    """The id of the first run of the instance that was begun last."""
    latest: str | None
    """The id of that instance."""


def read_arriving(value: Any) -> tuple[Arriving, list[PinnedRecord]]:
    """Return the message to a mailbox that *value* is, and apart from it the definitions that it brings.

    Raises ValueError saying what is wrong, and NewerRecord.
    """
    check_type(value, dict, "it")
    check_format(value, "a message to a mailbox")
    kinds: dict[str, type[Arriving]] = {"subscriber": Subscribing, "untaken": Untaken, "regained": Regained}
    kind = next((kind for key, kind in kinds.items() if key in value), Delivery)
    check_type(value, kind, "it")
    for one in [value["event"]] if kind is Delivery else [each["event"] for each in value.get("untaken", ())]:
        CloudEvent.from_json(one)
    if "" in (value.get("subscriber"), value.get("instance")):
        raise ValueError("it names an instance whose id is empty")
    try:
        start_options(value.get("options", {}))
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"its options cannot be read: {error}") from None
    definitions: list[PinnedRecord] = value.get("definitions", [])
    try:
        catalogue_of(tuple(map(Pinned.from_json, definitions)))
    except (SwfError, *UNREADABLE) as error:
        raise ValueError(f"its definitions cannot be read: {error}") from None
    rest = {name: field for name, field in value.items() if name != "definitions"}
    return cast("Arriving", rest), definitions


def digest_of_event(source: str, id_: str) -> str:
    """Return what a mailbox remembers of an event: the length does not depend on the sender."""
    return _digest([source, id_])


def digest_of_definitions(definitions: Sequence[PinnedRecord]) -> str:
    return _digest([[one.get("sha256") or one["text"], one["name"]] for one in definitions])


def _digest(value: Any) -> str:
    return sha256(write_json(value).encode()).hexdigest()[:32]
