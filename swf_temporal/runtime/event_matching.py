"""How are events dealt out among definitions that overlap?

A state that needs an event for each of several definitions may meet one that is like two of them. It goes to one that
has none yet; if a later event is like that one alone, the first moves on to the other. So whatever events come, in any
order, they are enough if there is any way to deal them out (a matching of a bipartite graph, augmented event by event).

What was taken is kept by the names of the definitions, in the order in which it was taken.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from swf_temporal.data import JSON

Taken: TypeAlias = dict[str, JSON]
Fits: TypeAlias = Callable[[str, JSON], bool]
"""Tells whether the definition of that name may have that event."""


def usable(refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits) -> list[str]:
    """Return those of *refs* to which a further event may go: those without one, then those whose own can move on."""
    missing = [ref for ref in refs if ref not in taken]
    return [*missing, *(ref for ref in refs if ref in taken and _way(ref, refs, taken, fits, {ref}))]


def dealt(event: JSON, ref: str, refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits) -> Taken:
    """Return what is taken once *event* goes to *ref*, one of those that are usable; what is there moves on."""
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
