"""Waiting for events that belong to this instance."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON, as_text
from swf_temporal.languages.serverless_workflow.execution.action_frames import WaitingFrame
from swf_temporal.languages.serverless_workflow.execution.correlation import known_values, required_values
from swf_temporal.languages.serverless_workflow.execution.event_selector import EventSelector
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.model.definitions import Event
from swf_temporal.runtime.event_matching import is_like
from swf_temporal.runtime.host import TraceKind
from swf_temporal.strict_json import write_json


def may_take(ref: str, event: CloudEvent, required: dict[str, JSON], lane: Lane) -> bool:
    """Tell whether *event* is one that *ref* defines and has what is *required*, and belongs to this instance."""
    return _belongs(lane.program.event(ref), event, required, lane)


async def has_arrived(refs: Sequence[str], lane: Lane) -> bool:
    """Take the first event that was kept and that one of *refs* defines; tell whether there was one."""
    for ref in refs:
        definition = lane.program.event(ref)
        event = lane.run.inbox.take(partial(_is_for, definition, await required_of(definition, lane), lane))
        if event is not None:
            lane.correlation.fix(definition, event)
            lane.emit_event(TraceKind.EVENT_TAKEN, ref, event)
            return True
    return False


async def wait_for_event(
    refs: Sequence[str], deadline: float | None, lane: Lane[WaitingFrame]
) -> tuple[int, CloudEvent] | None:
    """Return the first event to come that one of *refs* defines, and which; None if *deadline* comes first."""
    run, selector = lane.run, lane.program.event_selector(tuple(refs))
    which: Callable[[CloudEvent], int] = selector.which
    accepts: Callable[[CloudEvent], bool] = selector.accepts
    criterion: Hashable = selector.refs
    required: Sequence[dict[str, JSON]] = ()
    if selector.is_correlated:
        # Once, and here: what fails where an event is delivered fails for the one who sends it.
        required = [await required_of(definition, lane) for definition in selector.definitions]
        which, accepts = partial(_which, selector, required, lane), partial(_accepts, selector, required, lane)
        criterion = (*selector.refs, write_json([lane.correlation.values, *required]))
    event = run.inbox.take(accepts, criterion)
    while event is None or (index := which(event)) < 0:
        if event is not None:
            # In the moment in which it was handed over another path took one that fixed an attribute.
            run.inbox.hand_over(event)
        run.checkpoint()
        if not lane.frame.awaited:
            lane.frame.awaited = True
            lane.emit(TraceKind.EVENT_AWAITED, ", ".join(refs))
        values = _values(selector, required, lane) if selector.is_correlated else {}
        event = await run.next_event(accepts, refs, deadline, lane.state_path, criterion, values)
        if event is None:
            lane.frame.awaited = False
            lane.emit(TraceKind.EVENT_TIMED_OUT, ", ".join(refs))
            return None
    lane.frame.awaited = False
    if selector.is_correlated:
        lane.correlation.fix(selector.definitions[index], event)
    lane.emit_event(TraceKind.EVENT_TAKEN, refs[index], event)
    return index, event


def _which(selector: EventSelector, required: Sequence[dict[str, JSON]], lane: Lane, event: CloudEvent) -> int:
    for index, definition in enumerate(selector.definitions):
        if _belongs(definition, event, required[index], lane):
            return index
    return -1


def _accepts(selector: EventSelector, required: Sequence[dict[str, JSON]], lane: Lane, event: CloudEvent) -> bool:
    return _which(selector, required, lane, event) >= 0


def _values(selector: EventSelector, required: Sequence[dict[str, JSON]], lane: Lane) -> dict[str, dict[str, str]]:
    """Return what the attributes of each event that is correlated must be, as far as this instance knows."""
    return {
        ref: {name: as_text(value) for name, value in known_values(definition, lane.correlation.values, values).items()}
        for ref, definition, values in zip(selector.refs, selector.definitions, required, strict=True)
        if definition.correlation
    }


async def required_of(definition: Event, lane: Lane) -> dict[str, JSON]:
    """Return the values that the attributes of an event must have which *definition* asks for."""
    if not definition.correlation:
        return {}
    return await required_values(definition, lambda value: lane.fill(value, lane.execution.data))


def _is_for(definition: Event, required: dict[str, JSON], lane: Lane, event: CloudEvent) -> bool:
    return _belongs(definition, event, required, lane)


def _belongs(definition: Event, event: CloudEvent, required: dict[str, JSON], lane: Lane) -> bool:
    if not is_like(definition, event):
        return False
    return not definition.correlation or lane.correlation.correlates(definition, event, required)
