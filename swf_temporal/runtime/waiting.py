"""Taking events: one of several kinds, or one of each, with their correlation.

A definition may name values by which the events of its instances are distinguished. If it states a value itself, events
must have it. A value that it leaves open is fixed by the first event taken that has one: from then on only events with
the same value belong to the instance.

A state may need one event for each of several event definitions, and an event may match two of them. It is assigned to
one that has none yet; if a later event matches that one alone, the first moves on to the other. So events suffice in
whatever order they come, if any assignment exists (a matching of a bipartite graph, augmented event by event).

Taken events are kept by the names of their definitions, in the order in which they were taken.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from typing import Protocol, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.strict_json import write_json
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.lanes import LaneBase
from swf_temporal.runtime.progress import EventsFrame, WaitingFrame
from swf_temporal.runtime.trace import EventAwaited


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
    """A kind of event: its type, its source, or both."""

    @property
    def type(self) -> str | None:
        """The type that its events have."""

    @property
    def source(self) -> str | None:
        """The source that its events have; wildcards stand for levels of it."""


def is_like(definition: EventKind, event: CloudEvent) -> bool:
    """Return whether *event* matches *definition*: its type, its source, or both.

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


Given: TypeAlias = Sequence[Mapping[str, JSON]]
"""For each kind of event, the correlation values that the definition states, evaluated when the wait begins."""


class EventSelector:
    """The kinds of events any of which ends a wait, prepared once for all waits."""

    __slots__ = ("criterion", "is_correlated", "kinds", "names", "rules")

    def __init__(
        self,
        names: Sequence[str],
        kinds: Sequence[Callable[[CloudEvent], bool]],
        criterion: Hashable,
        rules: Sequence[KeyRules] = (),
    ) -> None:
        """Select events of *kinds*, which are called *names* in the trace: a kind needs no name in its definition.

        *criterion* identifies the kinds: see `Inbox.take`. *rules* are the correlation rules of each.
        """
        self.names = names
        self.kinds = kinds
        self.criterion = criterion
        self.rules = rules
        self.is_correlated = any(rules)
        """Whether the selection depends on the correlation values of the instance."""

    def is_for(self, index: int, event: CloudEvent, fixed: Mapping[str, JSON], given: Given) -> bool:
        """Return whether *event* is of that kind, and belongs to the instance with these values."""
        if not self.kinds[index](event):
            return False
        return not self.is_correlated or correlates(self.rules[index], event, fixed, given[index])

    def which(self, fixed: Mapping[str, JSON], given: Given, event: CloudEvent) -> int:
        """Return the index of the first kind that *event* belongs to, or -1."""
        for index, is_of_kind in enumerate(self.kinds):
            if is_of_kind(event) and correlates(self.rules[index], event, fixed, given[index]):
                return index
        return -1

    def which_alike(self, event: CloudEvent) -> int:
        """Return the same as `which`, if events are not correlated."""
        for index, is_of_kind in enumerate(self.kinds):
            if is_of_kind(event):
                return index
        return -1

    def is_any_alike(self, event: CloudEvent) -> bool:
        """Return whether *event* is of one of the kinds."""
        return self.which_alike(event) >= 0


_NO_KEYS = CorrelationKeys({})


async def next_event(
    selector: EventSelector,
    frame: WaitingFrame,
    lane: LaneBase,
    *,
    deadline: float | None = None,
    keys: CorrelationKeys = _NO_KEYS,
    given: Given = (),
    until: float | None = None,
) -> tuple[int, CloudEvent] | None:
    """Return the index of its kind and the next event that *selector* selects; None if *deadline* comes first.

    *until* is a deadline that the caller enforces, for the trace.
    """
    run, names, criterion = lane.run, selector.names, selector.criterion
    which, accepts = _choosing(selector, keys, given)
    if selector.is_correlated:
        criterion = (criterion, write_json([keys.values, *given]))
    event = run.inbox.take(accepts, criterion)
    while event is None or (index := which(event)) < 0:
        if event is not None:
            # Just as it was handed over, another path took an event that fixed a key.
            run.inbox.hand_over(event)
        run.checkpoint()
        if not frame.awaited:
            frame.awaited = True
            lane.emit(TraceKind.EVENT_AWAITED, ", ".join(names), **_until(until if deadline is None else deadline))
        values = _values(selector, keys, given) if selector.is_correlated else {}
        event = await run.next_event(accepts, names, deadline, lane.state_path, criterion, values)
        if event is None:
            frame.awaited = False
            lane.emit(TraceKind.EVENT_TIMED_OUT, ", ".join(names))
            return None
    frame.awaited = False
    _take(selector, index, event, lane, keys)
    return index, event


def _until(deadline: float | None) -> EventAwaited:
    return {} if deadline is None else {"until": datetime.fromtimestamp(deadline, UTC).isoformat()}


def take_kept(
    selector: EventSelector, lane: LaneBase, *, keys: CorrelationKeys = _NO_KEYS, given: Given = ()
) -> CloudEvent | None:
    """Return the first kept event that *selector* selects, or None."""
    which, accepts = _choosing(selector, keys, given)
    event = lane.run.inbox.take(accepts)
    if event is not None:
        _take(selector, which(event), event, lane, keys)
    return event


def _choosing(
    selector: EventSelector, keys: CorrelationKeys, given: Given
) -> tuple[Callable[[CloudEvent], int], Callable[[CloudEvent], bool]]:
    """Return a function for the index of an event's kind, and one that says if the instance accepts the event."""
    if not selector.is_correlated:
        return selector.which_alike, selector.is_any_alike
    which = partial(selector.which, keys.values, given)
    return which, lambda event: which(event) >= 0


def _take(selector: EventSelector, index: int, event: CloudEvent, lane: LaneBase, keys: CorrelationKeys) -> None:
    if selector.is_correlated:
        keys.fix(selector.rules[index], event)
    lane.emit_event(TraceKind.EVENT_TAKEN, selector.names[index], event)


def _values(selector: EventSelector, keys: CorrelationKeys, given: Given) -> dict[str, dict[str, str]]:
    """Return the required values of the correlation keys, by kind, as far as this instance knows them."""
    return {
        name: {key: as_text(value) for key, value in known_values(rules, keys.values, own).items()}
        for name, rules, own in zip(selector.names, selector.rules, given, strict=True)
        if rules
    }


class TakenEvents:
    """The events that a path takes, with their records, so that a record is not parsed if its event is known."""

    def __init__(self) -> None:
        self._known: list[tuple[JSON, CloudEvent]] = []

    def record_of(self, event: CloudEvent) -> JSON:
        """Return the record of *event*, which has just been taken."""
        record: JSON = event.to_record()
        self._known.append((record, event))
        return record

    def event_of(self, record: dict[str, JSON]) -> CloudEvent:
        for known, event in self._known:
            if known is record:
                return event
        event = CloudEvent.from_record(record)  # an earlier execution took it
        self._known.append((record, event))
        return event


async def next_of_each(
    refs: Sequence[str],
    frame: EventsFrame,
    events: TakenEvents,
    fits: Callable[[str, CloudEvent], bool],
    wait: Callable[[list[str]], Awaitable[tuple[int, CloudEvent] | None]],
    keys: CorrelationKeys = _NO_KEYS,
) -> CloudEvent | None:
    """Return the next event of those kinds *refs* that can take one more; None if *wait* returns None.

    It is assigned to a kind that has none, so that in the end each has one, in whatever order the events arrive. *fits*
    says whether an event is of a kind. *wait* gets the kinds that are waited for.
    """

    def may_have(ref: str, record: JSON) -> bool:
        return isinstance(record, dict) and fits(ref, events.event_of(record))

    free, known = usable(refs, frame.taken, may_have), keys.names
    got = await wait(free)
    if got is None:
        return None
    index, event = got
    frame.taken = assigned(events.record_of(event), free[index], refs, frame.taken, may_have)
    frame.fixed += [name for name in keys.names if name not in known]
    return event


def drop(taken: dict[str, JSON], refs: Iterable[str], lane: LaneBase) -> list[CloudEvent]:
    """Remove the unused events of the kinds *refs* from *taken*, and return them for `put_back`."""
    dropped = [(ref, taken.pop(ref)) for ref in refs]
    for ref, _ in dropped:
        lane.emit(TraceKind.EVENT_GIVEN_BACK, ref)
    return [CloudEvent.from_record(record) for _, record in dropped if isinstance(record, dict)]


def drop_all(frame: EventsFrame, lane: LaneBase, keys: CorrelationKeys = _NO_KEYS) -> list[CloudEvent]:
    """Do the same with all events that a path took but did not use, and free the values that they fixed."""
    keys.free(frame.fixed)
    taken, frame.taken, frame.fixed = frame.taken, {}, []
    return drop(taken, list(taken), lane)


def put_back(events: Iterable[CloudEvent], lane: LaneBase) -> None:
    """Put *events* back into the inbox: another path may wait for them."""
    if found := list(events):
        lane.run.inbox.release(found)
