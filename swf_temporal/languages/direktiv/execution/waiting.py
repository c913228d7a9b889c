"""Waiting for events, and matching them."""

from collections.abc import Mapping, Sequence
from functools import partial

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.frames import AwaitedKind, EventsBody, StateFrame
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.globs import is_glob_of
from swf_temporal.languages.direktiv.model.workflow import Structured
from swf_temporal.runtime.waiting import EventSelector, TakenEvents, next_event, next_of_each


def attributes_match(wanted: Mapping[str, JSON], event: CloudEvent) -> bool:
    """Return True if *event* has every attribute of *wanted*; a text there is a glob."""
    return all(_matches(value, event.attribute(name)) for name, value in wanted.items())


def _matches(wanted: JSON, value: JSON) -> bool:
    if value is None:
        return False
    if isinstance(wanted, str):
        return is_glob_of(wanted, value if isinstance(value, str) else write_json(value))
    # To Python, true is 1.
    return (wanted == value and isinstance(wanted, bool) == isinstance(value, bool)) or write_json(wanted) == value


async def begin_waiting(kinds: Sequence[tuple[str, Structured]], frame: StateFrame, lane: Lane) -> EventsBody:
    """Return the body of a state that waits for events. An error in evaluating a context cannot be caught."""
    if not isinstance(frame.body, EventsBody):
        try:
            frame.body = EventsBody(kinds=[AwaitedKind(kind, await _context(context, lane)) for kind, context in kinds])
        except ExpressionFailed as fault:
            raise codes.uncatchable(codes.BAD_EVENT, fault.message) from None
    return frame.body


def _is_like(kind: AwaitedKind, event: CloudEvent) -> bool:
    return event.type == kind.type and attributes_match(kind.context, event)


async def _context(context: Structured, lane: Lane) -> dict[str, JSON]:
    return {} if context is None else await lane.object_of(context, lane.data, "the context of an event")


async def next_of(wait: EventsBody, refs: Sequence[int], lane: Lane) -> tuple[int, CloudEvent]:
    """Return the next event that matches one of the kinds of *wait* numbered by *refs*, with the number."""
    kinds = [wait.kinds[index] for index in refs]
    criterion = write_json([[kind.type, kind.context] for kind in kinds])
    selector = EventSelector([kind.type for kind in kinds], [partial(_is_like, kind) for kind in kinds], criterion)
    found = await next_event(selector, wait, lane, until=lane.execution.due(lane.state_path))
    assert found is not None  # noqa: S101 - there is no deadline
    return refs[found[0]], found[1]


async def all_of(wait: EventsBody, lane: Lane) -> list[CloudEvent]:
    """Return an event of each kind, in the order of the kinds, regardless of the order of arrival."""
    refs, events = [str(index) for index in range(len(wait.kinds))], TakenEvents()

    def fits(ref: str, event: CloudEvent) -> bool:
        return _is_like(wait.kinds[int(ref)], event)

    async def next_(free: list[str]) -> tuple[int, CloudEvent]:
        index, event = await next_of(wait, [int(ref) for ref in free], lane)
        return free.index(str(index)), event

    while len(wait.taken) < len(refs):
        await next_of_each(refs, wait, events, fits, next_)
    return [events.event_of(record) for ref in refs if isinstance(record := wait.taken[ref], dict)]
