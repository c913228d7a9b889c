"""Gathering events: an instance that needs several is begun when there is one of each kind."""

from collections.abc import Sequence
from dataclasses import dataclass

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.events.routing.routes import fits
from swf_temporal.languages.port import Definition


@dataclass(frozen=True, slots=True)
class Arrived(Record):
    """An event, and when it came, in seconds since 1970."""

    event: CloudEvent
    at: float


@dataclass(frozen=True, slots=True)
class Gathering:
    """The decision about the collected events of one correlation key when another arrives."""

    waiting: Sequence[Arrived] = ()
    """Those that wait for others."""
    is_complete: bool = False
    """Whether they are enough for an instance."""
    input: JSON = None
    """The input of that instance."""


def gathered(definition: Definition, waiting: Sequence[Arrived], arrived: Arrived) -> Gathering:
    """Return what becomes of *waiting*, events of one key in the order in which they came, now that another *arrived*.

    The window of the definition counts from when they came. Of each kind no more are kept than there are kinds: the
    latest, which the definition prefers.
    """
    start = definition.event_start
    if start is None:
        return Gathering()
    window = None if start.window is None else start.window.total_seconds()
    kept = [one for one in waiting if window is None or arrived.at - one.at <= window]
    events = [*kept, arrived]
    parsed = [one.event for one in events]
    inputs = definition.event_starts(parsed)
    if inputs:
        return Gathering((), is_complete=True, input=inputs[0])
    needed: set[int] = set()
    for kind in start.events:
        like = [index for index, event in enumerate(parsed) if fits(event, kind, definition)]
        needed.update(like[-len(start.events) :])
    return Gathering([events[index] for index in sorted(needed)])
