"""The events that a definition consumes, in the common form from which events are routed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from swf_temporal.base.data import JSON


@dataclass(frozen=True, slots=True)
class CorrelationRule:
    """A context attribute by which the events of one instance are told from those of others."""

    attribute: str
    is_calculated: bool = False
    """Whether its value comes from the data of an instance; else the first event that is taken fixes it."""
    path: str | None = None
    """Where the value stands in the event, in the language's own terms, if not in an attribute."""
    value: JSON = field(default=None, hash=False)
    """What it has to be, as it is written."""


@dataclass(frozen=True, slots=True)
class ConsumedEvent:
    """A kind of event that a definition consumes: what is known of it without an instance."""

    name: str
    type: str | None = None
    source: str | None = None
    """May hold the wildcards of MQTT topics."""
    filters: Mapping[str, JSON] = field(default_factory=dict)
    """Values that context attributes must have; the language says whether a text is a pattern."""
    correlation: tuple[CorrelationRule, ...] = ()
    is_awaited: bool = True
    """Whether a running instance may wait for it in another state than the one that it starts in."""


@dataclass(frozen=True, slots=True)
class EventStart:
    events: tuple[ConsumedEvent, ...]
    join: Literal["any", "all"] = "any"
    """Whether any one of them is enough, or an instance needs one of each."""
    gathers_itself: bool = True
    """Whether an instance begins with the first event and waits for the others itself.

    Otherwise its input is made of all of its events, by `Definition.event_starts`.
    """
    goes_on: bool = False
    """Whether an instance that an event started takes the next ones as well, until it ends for another reason."""
    window: timedelta | None = None
    """The time that may lie between the first and the last of events that are gathered; None is any time."""
