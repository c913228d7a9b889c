"""Waiting for events, and which of them are meant."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import ExpressionFailed
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.catching import is_glob_of
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.model.node import Structured
from swf_temporal.runtime.event_matching import assigned, usable
from swf_temporal.runtime.host import TraceKind


@dataclass(frozen=True, slots=True)
class Awaited:
    """A kind of event: its type, and what its attributes must be."""

    type: str
    context: Mapping[str, JSON]

    def is_like(self, event: CloudEvent) -> bool:
        """Tell whether *event* is of this kind."""
        return event.type == self.type and attributes_match(self.context, event)


def attributes_match(wanted: Mapping[str, JSON], event: CloudEvent) -> bool:
    """Tell whether *event* has every attribute of *wanted*; a text there is a glob."""
    return all(_matches(value, event.attribute(name)) for name, value in wanted.items())


def _matches(wanted: JSON, value: JSON) -> bool:
    if value is None:
        return False
    if isinstance(wanted, str):
        return is_glob_of(wanted, value if isinstance(value, str) else json.dumps(value))
    return wanted == value or json.dumps(wanted) == value


def awaited_kinds(kinds: Sequence[tuple[str, Structured]], lane: Lane) -> list[Awaited]:
    """Return the kinds of events that a state waits for. Where a context cannot be told, no state can catch that."""
    if "kinds" not in lane.frame:
        try:
            contexts = [{} if context is None else _context(context, lane) for _, context in kinds]
        except ExpressionFailed as fault:
            raise codes.uncatchable(codes.BAD_EVENT, fault.message) from None
        lane.frame["kinds"] = contexts
    return [Awaited(type_, context) for (type_, _), context in zip(kinds, lane.frame["kinds"], strict=True)]


def _context(context: Structured, lane: Lane) -> dict[str, JSON]:
    return lane.object_of(context, lane.data, "the context of an event")


async def next_of(kinds: Sequence[Awaited], refs: Sequence[int], lane: Lane) -> tuple[int, CloudEvent]:
    """Return the next event that is like one of *kinds*, and which; only those at *refs* are waited for."""
    run = lane.run

    def which(event: CloudEvent) -> int:
        return next((index for index in refs if kinds[index].is_like(event)), -1)

    criterion = json.dumps([[kinds[index].type, dict(kinds[index].context)] for index in refs])
    event = run.inbox.take(lambda one: which(one) >= 0, criterion)
    if event is None:
        run.checkpoint()
        types = [kinds[index].type for index in refs]
        if "awaited" not in lane.frame:
            lane.frame["awaited"] = True
            lane.emit(TraceKind.EVENT_AWAITED, ", ".join(types))
        event = await run.next_event(lambda one: which(one) >= 0, types, None, lane.state, criterion)
        assert event is not None  # noqa: S101 - there is no deadline
    lane.frame.pop("awaited", None)
    lane.emit(TraceKind.EVENT_TAKEN, event.type, type=event.type, source=event.source, data=event.data)
    return which(event), event


async def all_of(kinds: Sequence[Awaited], lane: Lane) -> list[dict[str, JSON]]:
    """Return an event for each of *kinds*, in their order, whatever the order in which they come."""
    refs = [str(index) for index in range(len(kinds))]
    taken: dict[str, JSON] = lane.frame.setdefault("taken", {})

    def fits(ref: str, event: JSON) -> bool:
        return isinstance(event, dict) and kinds[int(ref)].is_like(CloudEvent.from_json(event))

    while len(taken) < len(kinds):
        free = [int(ref) for ref in usable(refs, taken, fits)]
        index, event = await next_of(kinds, free, lane)
        taken = lane.frame["taken"] = assigned(event.to_json(), str(index), refs, taken, fits)
    return [one for ref in refs if isinstance(one := taken[ref], dict)]
