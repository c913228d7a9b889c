"""The events that a definition consumes, in the language-independent form used for routing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from swf_temporal.base.data import JSON


@dataclass(frozen=True, slots=True)
class CorrelationRule:
    """A context attribute that distinguishes the events of one instance from those of others."""

    attribute: str
    is_calculated: bool = False
    """Whether its value comes from the data of an instance; else the first event that is taken sets it."""
    path: str | None = None
    """The path of the value in the event, in the language's own terms, if not in an attribute."""
    value: JSON = field(default=None, hash=False)
    """The required value, as written."""


@dataclass(frozen=True, slots=True)
class ConsumedEvent:
    """A kind of event that a definition consumes, as known without an instance."""

    name: str
    type: str | None = None
    source: str | None = None
    """The source; may contain the wildcards of MQTT topics."""
    filters: Mapping[str, JSON] = field(default_factory=dict)
    """Required values of context attributes; the language defines whether a text is a pattern."""
    correlation: tuple[CorrelationRule, ...] = ()
    is_awaited: bool = True
    """Whether a running instance may wait for it in a state other than its first."""


@dataclass(frozen=True, slots=True)
class EventStart:
    events: tuple[ConsumedEvent, ...]
    join: Literal["any", "all"] = "any"
    """Whether any one of them is enough, or one of each is needed."""
    gathers_itself: bool = True
    """Whether an instance begins with the first event and waits for the others itself.

    Otherwise `Definition.event_starts` makes its input of all of its events.
    """
    goes_on: bool = False
    """Whether an instance that an event started also takes the following ones, until it ends for another reason."""
    window: timedelta | None = None
    """The maximum time between the first and the last of the gathered events; None means no limit."""
