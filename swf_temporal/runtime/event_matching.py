"""Assigning events to definitions that overlap.

A state that needs an event for each of several definitions may meet one that is like two of them. It goes to one that
has none yet; if a later event is like that one alone, the first moves on to the other. So whatever events come, in any
order, they are enough if there is any way to deal them out (a matching of a bipartite graph, augmented event by event).

What was taken is kept by the names of the definitions, in the order in which it was taken.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON

Taken: TypeAlias = dict[str, JSON]
Fits: TypeAlias = Callable[[str, JSON], bool]
"""Tells whether the definition of that name may have that event."""


DEFAULT_SOURCE = "https://serverlessworkflow.io"
"""The source of a produced event whose definition names none (0.8-next, section "Event Definition")."""


class EventKind(Protocol):
    """A kind of event: its type, its source, or both."""

    @property
    def type(self) -> str | None:
        """The type that its events have."""

    @property
    def source(self) -> str | None:
        """The source that its events have; wildcards stand for levels of it."""


def is_like(definition: EventKind, event: CloudEvent) -> bool:
    """Tell whether *event* is of the kind that *definition* defines: by its type, its source, or both.

    A source may hold the wildcards of MQTT topics, which the specification's own examples use: `+` for one level,
    `#` for all that follows.
    """
    if definition.type is not None and definition.type != event.type:
        return False
    source = definition.source
    if source is None or source == event.source:
        return definition.type is not None or source is not None
    return _levels_match(source.split("/"), event.source.split("/"))


def usable(refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits) -> list[str]:
    """Return those of *refs* to which a further event may go: those without one, then those whose own can move on."""
    if not taken:
        return list(refs)
    missing = [ref for ref in refs if ref not in taken]
    return [*missing, *(ref for ref in refs if ref in taken and _way(ref, refs, taken, fits, {ref}))]


def assigned(event: JSON, ref: str, refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits) -> Taken:
    """Return what is taken once *event* goes to *ref*, one of those that are usable; what is there moves on."""
    if not taken:
        return {ref: event}
    way = _way(ref, refs, taken, fits, {ref}) or [ref]
    moves = dict(pairwise(way))
    return {**{moves.get(held, held): other for held, other in taken.items()}, ref: event}


def _way(ref: str, refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits, seen: set[str]) -> list[str] | None:
    """Return the definitions along which events can move on from *ref* until one has none; None if there are none."""
    if ref not in taken:
        return [ref]
    for other in sorted(refs, key=lambda one: one in taken):
        if other not in seen and fits(other, taken[ref]):
            seen.add(other)
            way = _way(other, refs, taken, fits, seen)
            if way is not None:
                return [ref, *way]
    return None


def _levels_match(pattern: list[str], levels: list[str]) -> bool:
    for index, wanted in enumerate(pattern):
        if wanted == "#":
            return True
        if index >= len(levels) or not (wanted == "+" or levels[index] == wanted):
            return False
    return len(pattern) == len(levels)
