"""Waiting for events, and which of them are meant."""

from collections.abc import Mapping, Sequence

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import ExpressionFailed
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.catching import is_glob_of
from swf_temporal.languages.direktiv.execution.frames import AwaitedKind, EventsBody, StateFrame
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.model.node import Structured
from swf_temporal.runtime.event_matching import assigned, usable
from swf_temporal.runtime.host import TraceKind
from swf_temporal.strict_json import write_json


def attributes_match(wanted: Mapping[str, JSON], event: CloudEvent) -> bool:
    """Tell whether *event* has every attribute of *wanted*; a text there is a glob."""
    return all(_matches(value, event.attribute(name)) for name, value in wanted.items())


def _matches(wanted: JSON, value: JSON) -> bool:
    if value is None:
        return False
    if isinstance(wanted, str):
        return is_glob_of(wanted, value if isinstance(value, str) else write_json(value))
    # To Python, true is 1.
    return (wanted == value and isinstance(wanted, bool) == isinstance(value, bool)) or write_json(wanted) == value


async def begin_waiting(kinds: Sequence[tuple[str, Structured]], frame: StateFrame, lane: Lane) -> EventsBody:
    """Return the body of a state that waits for events. Where a context cannot be told, no state can catch that."""
    if not isinstance(frame.body, EventsBody):
        try:
            frame.body = EventsBody([AwaitedKind(type_, await _context(context, lane)) for type_, context in kinds])
        except ExpressionFailed as fault:
            raise codes.uncatchable(codes.BAD_EVENT, fault.message) from None
    return frame.body


def _is_like(kind: AwaitedKind, event: CloudEvent) -> bool:
    return event.type == kind.type and attributes_match(kind.context, event)


async def _context(context: Structured, lane: Lane) -> dict[str, JSON]:
    return {} if context is None else await lane.object_of(context, lane.data, "the context of an event")


async def next_of(wait: EventsBody, refs: Sequence[int], lane: Lane) -> tuple[int, CloudEvent]:
    """Return the next event that is like one of the kinds of *wait*, and which: one of those that *refs* number."""
    run, kinds = lane.run, wait.kinds

    def which(event: CloudEvent) -> int:
        return next((index for index in refs if _is_like(kinds[index], event)), -1)

    criterion = write_json([[kinds[index].type, kinds[index].context] for index in refs])
    event = run.inbox.take(lambda one: which(one) >= 0, criterion)
    if event is None:
        run.checkpoint()
        types = [kinds[index].type for index in refs]
        if not wait.awaited:
            wait.awaited = True
            lane.emit(TraceKind.EVENT_AWAITED, ", ".join(types))
        event = await run.next_event(lambda one: which(one) >= 0, types, None, lane.state, criterion)
        assert event is not None  # noqa: S101 - there is no deadline
    wait.awaited = False
    lane.emit_event(TraceKind.EVENT_TAKEN, event.type, event)
    return which(event), event


async def all_of(wait: EventsBody, lane: Lane) -> list[dict[str, JSON]]:
    """Return an event of each kind, in the order of the kinds, whatever the order in which they come."""
    refs = [str(index) for index in range(len(wait.kinds))]

    def fits(ref: str, event: JSON) -> bool:
        return isinstance(event, dict) and _is_like(wait.kinds[int(ref)], CloudEvent.from_record(event))

    while len(wait.taken) < len(refs):
        free = [int(ref) for ref in usable(refs, wait.taken, fits)]
        index, event = await next_of(wait, free, lane)
        wait.taken = assigned(event.to_json(), str(index), refs, wait.taken, fits)
    return [one for ref in refs if isinstance(one := wait.taken[ref], dict)]
