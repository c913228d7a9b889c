"""The messages to a mailbox, and its record when it continues as new."""

from typing import Any, Final, NotRequired, TypeAlias, TypedDict, final

from swf_temporal.routing.gathering import Arrived
from swf_temporal.temporal.records import PinnedRecord

MAILBOX: Final = "swf events"
"""The workflow type."""
TAKE: Final = "take"
"""The signal that carries what comes."""
RECEPTION: Final = "reception"
"""The query that tells what a mailbox would do with an event."""


@final
class Delivery(TypedDict):
    """An event as it travels to a mailbox, with the definitions that an instance is to run."""

    event: dict[str, Any]
    definitions: list[PinnedRecord]
    """The one that consumes the event comes first."""
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
    definitions: list[PinnedRecord]
    instance: str
    """The id of the instance."""
    run: str
    """The id of its first run."""


Arriving: TypeAlias = Delivery | Subscribing | Untaken


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

    seen: list[tuple[str, str, float]]
    """Source, id and time of the events that came, in seconds since 1970."""
    arrived: list[Arriving]
    """Those that it has yet to look at, and what else came."""
    gathered: list[Arrived]
    """Those that wait for others."""
    window: float | None
    """The seconds for which they do; None is without a limit."""
    held: list[Held]
    """Those that wait for an instance."""
    subscribers: dict[str, list[dict[str, str]]]
    """By the ids of instances, what the attributes of their events must be, once for each wait."""
    definitions: list[PinnedRecord]
    """Those that came with the latest event."""
    begun: str | None
    """The id of the first run of the instance that was begun last."""
