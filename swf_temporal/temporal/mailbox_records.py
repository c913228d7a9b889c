"""The messages to a mailbox, and its record when it continues as new."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, ClassVar, Final, TypeAlias, final

from swf_temporal.base.cloud_event import CloudEvent, check_attributes
from swf_temporal.base.errors import SwfError
from swf_temporal.base.records import Record
from swf_temporal.base.strict_json import write_json
from swf_temporal.events.routing import Arrived
from swf_temporal.temporal.kept_options import OptionsRecord
from swf_temporal.temporal.records import UNREADABLE, Pinned, catalogue_of

MAILBOX: Final = "swf events"
"""The workflow type."""
TAKE: Final = "take"
"""The signal that carries a message."""
RECEPTION: Final = "reception"
"""The query for what a mailbox would do with an event."""
DEFINITIONS: Final = "definitions"
"""The key in a mailbox's memo of the digest of its definitions."""
MAX_BYTES: Final = 1024 * 1024
"""The history size from which on a mailbox refuses events that only waiting instances take."""


@dataclass(frozen=True, slots=True)
class _Message(Record):
    WHAT: ClassVar[str] = "a message to a mailbox"


@final
@dataclass(frozen=True, slots=True)
class Delivery(_Message):
    """An event on its way to a mailbox, with the definitions that an instance is to run."""

    event: CloudEvent
    starts: bool
    """Whether the event starts an instance."""
    instance: str | None = None
    """The id of the instance of this key; None if each instance has its own events and id, or none starts."""
    values: Mapping[str, str] | None = None
    """The attributes by which waiting instances are found; None if none waits."""
    definitions: Sequence[Pinned] = ()
    """The one that consumes the event comes first; empty if the mailbox already has them."""

    def check(self) -> None:
        """Raise ValueError if the event may not be sent, or the instance has no id."""
        _check_event(self.event)
        _check_instance(self.instance)


@final
@dataclass(frozen=True, slots=True)
class Subscribing(_Message):
    """The message of an instance that begins to wait, or that ends."""

    subscriber: str
    """The id of the instance."""
    values: dict[str, str] | None = None
    """The required values of attributes, as far as it knows them; None if it ends."""

    def check(self) -> None:
        """Raise ValueError if the instance has no id."""
        _check_instance(self.subscriber)


@dataclass(frozen=True, slots=True)
class UntakenEvent(Record):
    """An event that an instance has not taken."""

    event: CloudEvent
    starts: bool
    """Whether it is to start the next instance."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Like those of a delivery."""

    def check(self) -> None:
        """Raise ValueError if the event may not be sent."""
        _check_event(self.event)


@final
@dataclass(frozen=True, slots=True)
class Untaken(_Message):
    """The events that an instance has not taken before it ended."""

    CAMEL_CASE: ClassVar[bool] = True

    untaken: list[UntakenEvent]
    instance: str
    """The id of the instance."""
    run: str
    """The id of its first run."""
    definitions: Sequence[Pinned] = ()
    """Like those of a delivery."""
    handed_over: bool = False
    """Whether the instance continues as another definition."""
    options: OptionsRecord = field(default_factory=OptionsRecord)
    """Its start options, for the next instance."""

    def check(self) -> None:
        """Raise ValueError if the instance has no id."""
        _check_instance(self.instance)


@final
@dataclass(frozen=True, slots=True)
class Regained(_Message):
    """The message that a restarted instance again has events that it had returned."""

    regained: list[str]
    """The digests of the events: see `digest_of_event`."""


Arriving: TypeAlias = Delivery | Subscribing | Untaken | Regained


@dataclass(frozen=True, slots=True)
class ParkedEvent(Arrived):
    """An event that is kept for an instance."""

    values: Mapping[str, str] | None = None
    """Like those of a delivery."""


@dataclass(frozen=True, slots=True)
class Reception(Record):
    """The answer of a mailbox about an event that may arrive, and about those that it keeps."""

    CAMEL_CASE: ClassVar[bool] = True

    is_known: bool = False
    """True if the event is a duplicate, and so has no further effect."""
    subscribers: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    """By the ids of instances, the required attributes of their events, once for each wait."""
    gathered: int = 0
    """The number of events that wait for others."""
    held: int = 0
    """The number of events that wait for an instance."""


@dataclass(frozen=True, slots=True)
class MailboxRecord(Record):
    """The record of a mailbox when it continues as new."""

    WHAT: ClassVar[str] = "the record of a mailbox"

    seen: list[tuple[str, float]] = field(default_factory=list)
    """The digest and time of each event received, in seconds since 1970: see `digest_of_event`."""
    arrived: list[Any] = field(default_factory=list)
    """Messages as received: those still to be processed, and any others."""
    gathered: list[Arrived] = field(default_factory=list)
    """Events that wait for others."""
    window: float | None = None
    """The seconds for which they wait; None is without a limit."""
    held: list[ParkedEvent] = field(default_factory=list)
    """Events that wait for an instance."""
    subscribers: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    """By the ids of instances, the required attributes of their events, once for each wait."""
    probed: float | None = None
    """The time of the last probe for subscribers that have ended without unsubscribing."""
    definitions: list[Pinned] = field(default_factory=list)
    """The definitions that were sent with the latest event."""
    begun: str | None = None
    """The id of the first run of the instance that was started last."""
    latest: str | None = None
    """The id of that instance."""


def read_arriving(written: Any) -> tuple[Arriving, Sequence[Pinned]]:
    """Return the message to a mailbox in *written*, and separately the definitions that it brings.

    Raises ValueError saying what is wrong, and NewerRecord.
    """
    kinds: dict[str, type[Arriving]] = {"subscriber": Subscribing, "untaken": Untaken, "regained": Regained}
    keys = written if isinstance(written, dict) else ()
    message = next((kind for key, kind in kinds.items() if key in keys), Delivery).from_json(written)
    if isinstance(message, Subscribing | Regained):
        return message, ()
    try:
        catalogue_of(tuple(message.definitions))
    except (SwfError, *UNREADABLE) as error:
        raise ValueError(f"its definitions cannot be read: {error}") from None
    return replace(message, definitions=()), message.definitions


def _check_event(event: CloudEvent) -> None:
    if event.is_addressed:  # set only by an instance, for the events that it keeps
        raise ValueError("its event was addressed to an instance")
    check_attributes(event)


def _check_instance(id_: str | None) -> None:
    if id_ == "":
        raise ValueError("it names an instance whose id is empty")


def digest_of_event(source: str, id_: str) -> str:
    """Return the digest that a mailbox remembers of an event: its length does not depend on the sender."""
    return _digest([source, id_])


def digest_of_definitions(definitions: Sequence[Pinned]) -> str:
    return _digest([[one.sha256 or one.text, one.name] for one in definitions])


def _digest(value: Any) -> str:
    return sha256(write_json(value).encode()).hexdigest()[:32]
