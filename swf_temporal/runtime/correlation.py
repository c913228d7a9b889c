"""Correlation: which events belong together, and the definitions of events that they fit.

A definition may name values by which the events of its instances are distinguished. If it states a value itself, events
must have it. A value that it leaves open is fixed by the first event taken that has one: from then on only events with
the same value belong to the instance.

A state may need one event for each of several event definitions, and an event may match two of them. It is assigned to
one that has none yet; if a later event matches that one alone, the first moves on to the other. So events suffice in
whatever order they come, if any assignment exists (a matching of a bipartite graph, augmented event by event).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text


@dataclass(frozen=True, slots=True)
class KeyRule:
    """One value by which the events of instances are distinguished."""

    name: str
    value_in: Callable[[CloudEvent], JSON]
    """Returns the value that an event has; None if it has none."""
    is_given: bool = False
    """Whether the definition states the value."""


KeyRules: TypeAlias = Sequence[KeyRule]
"""The rules of one kind of event."""


def correlates(rules: KeyRules, event: CloudEvent, fixed: Mapping[str, JSON], given: Mapping[str, JSON]) -> bool:
    """Return whether an instance may take *event*; its values are those *fixed* by events and those that are *given*.

    An event that was addressed to the instance may lack values, but must not have wrong ones.
    """
    for rule in rules:
        value = rule.value_in(event)
        if value is None:
            if event.is_addressed:
                continue
            return False
        wanted = given if rule.is_given else fixed
        if rule.name in wanted and as_text(wanted[rule.name]) != as_text(value):
            return False
    return True


def fixed_by(rules: KeyRules, event: CloudEvent) -> dict[str, JSON]:
    """Return the values that *event* fixes."""
    found = {rule.name: rule.value_in(event) for rule in rules if not rule.is_given}
    return {name: value for name, value in found.items() if value is not None}


def known_values(rules: KeyRules, fixed: Mapping[str, JSON], given: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the known values: each is *given* by the definition, or *fixed* by an event."""
    sources = {rule.name: given if rule.is_given else fixed for rule in rules}
    found = {name: source.get(name) for name, source in sources.items()}
    return {name: value for name, value in found.items() if value is not None}


class CorrelationKeys:
    """The values that events have fixed, and by which an instance recognizes its events; changes *values*."""

    def __init__(self, values: dict[str, JSON]) -> None:
        self.values = values

    @property
    def names(self) -> list[str]:
        """The names of the values, in the order in which they were fixed."""
        return list(self.values)

    def fix(self, rules: KeyRules, event: CloudEvent) -> None:
        if rules:
            self.values.update(fixed_by(rules, event))

    def free(self, names: Iterable[str]) -> None:
        """Let events with other values belong to the instance again."""
        for name in names:
            self.values.pop(name, None)


Taken: TypeAlias = dict[str, JSON]
Fits: TypeAlias = Callable[[str, JSON], bool]
"""A function that says whether the definition of that name may have that event."""


DEFAULT_SOURCE = "https://serverlessworkflow.io"
"""The source of a produced event whose definition names none (0.8-next, section "Event Definition")."""


class EventKind(Protocol):
    """A kind of event: its type and its source; any if it has neither."""

    @property
    def type(self) -> str | None:
        """The type that its events have."""

    @property
    def source(self) -> str | None:
        """The source that its events have; wildcards stand for levels of it."""


def is_like(definition: EventKind, event: CloudEvent) -> bool:
    """Return whether *event* matches *definition*: its type and its source, as far as it has them.

    A source may hold the wildcards of MQTT topics, which the specification's own examples use: `+` for one level,
    `#` for all that follows.
    """
    if definition.type is not None and definition.type != event.type:
        return False
    source = definition.source
    if source is None or source == event.source:
        return True
    return _levels_match(source.split("/"), event.source.split("/"))


def usable(refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits) -> list[str]:
    """Return those of *refs* that can take a further event: the free ones, then those whose event can move on."""
    if not taken:
        return list(refs)
    missing = [ref for ref in refs if ref not in taken]
    return [*missing, *(ref for ref in refs if ref in taken and _way(ref, refs, taken, fits, {ref}))]


def assigned(event: JSON, ref: str, refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits) -> Taken:
    """Return what is taken once *event* is assigned to *ref*, which is usable; the event that it has moves on."""
    if not taken:
        return {ref: event}
    way = _way(ref, refs, taken, fits, {ref}) or [ref]
    moves = dict(pairwise(way))
    return {**{moves.get(held, held): other for held, other in taken.items()}, ref: event}


def _way(ref: str, refs: Sequence[str], taken: Mapping[str, JSON], fits: Fits, seen: set[str]) -> list[str] | None:
    """Return the chain of definitions along which events can move on from *ref* to a free one, or None."""
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
