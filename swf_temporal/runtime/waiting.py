"""Taking events: one of several kinds, or one of each.

Taken events are kept by the names of their definitions, in the order in which they were taken.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.strict_json import write_json
from swf_temporal.runtime.correlation import (
    CorrelationKeys,
    KeyRules,
    assigned,
    correlates,
    known_values,
    usable,
)
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.lanes import LaneBase
from swf_temporal.runtime.progress import EventsFrame, WaitingFrame
from swf_temporal.runtime.trace import EventAwaited

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


async def next_event(  # noqa: PLR0913 - what may be said of a wait, most of it optional
    selector: EventSelector,
    frame: WaitingFrame,
    lane: LaneBase,
    *,
    deadline: float | None = None,
    keys: CorrelationKeys = _NO_KEYS,
    given: Given = (),
    until: float | None = None,
    known: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> tuple[int, CloudEvent] | None:
    """Return the index of its kind and the next event that *selector* selects; None if *deadline* comes first.

    *until* is a deadline that the caller enforces, for the trace. *known* has the required values of the correlation
    keys that the caller compares itself, by kind.
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
        values = _values(selector, keys, given) if selector.is_correlated else known
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
