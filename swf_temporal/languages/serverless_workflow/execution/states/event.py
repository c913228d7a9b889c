"""Event: waits for events and runs actions (section "Event State").

Exclusive: the first event of any entry runs that entry's actions, and the state is left. Not exclusive: the state waits
for all events of all entries, then every entry's actions run, in the order written. An event that matches several
definitions is assigned to one of them, and reassigned to another if that lets the state complete. If the state is left
before all of them arrived, those that did are released to the inbox.
"""

from collections.abc import Iterable

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut
from swf_temporal.languages.serverless_workflow.execution.actions import run_actions
from swf_temporal.languages.serverless_workflow.execution.events import (
    merge_event,
    release,
    required_of,
    wait_for_event,
)
from swf_temporal.languages.serverless_workflow.execution.frames import EntryFrame, EventBody
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.program import StatePlan
from swf_temporal.languages.serverless_workflow.execution.retries import handler_of_timeout
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import EventState, OnEvents
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.waiting import TakenEvents, next_of_each


async def run(state: EventState, data: JSON, lane: Lane[EventBody]) -> Step:
    """Wait for the state's events, merge them into *data*, and run the actions of the entries they complete."""
    events, plan = TakenEvents(), lane.program.plan(state)
    if not await _events_arrived(state, plan, data, lane, events):
        release(lane.frame, lane)
        if state.timeout_is_between_events and lane.is_starting:
            message = f"the events of {state.name!r} were too far apart: this run was not started"
            raise lane.locate(TimedOut(message))
        fault = TimedOut(f"{lane.program.state_word} {state.name!r} did not get its events in time")
        if handler_of_timeout(state, lane.program.errors, fault):
            raise lane.locate(fault)
        return Step(data)
    frame = lane.frame
    done = frame.entries
    data = data if frame.data is None else frame.data.value
    timeout = plan.timeouts.action_exec_timeout
    for index, entry in _complete_entries(state, frame.taken):
        if index < done:
            continue
        begun = frame.actions = frame.actions or EntryFrame()
        if not begun.merged:
            data = await _merged(entry, data, frame.taken, lane, events)
            begun.merged = True
            frame.data = Value(data)
        if entry.actions:
            data = await run_actions(entry.actions, entry.action_mode, data, lane.child(begun, lane.path), timeout)
        frame.actions, frame.data, frame.entries = None, Value(data), index + 1
    return Step(data)


async def _events_arrived(
    state: EventState, plan: StatePlan, data: JSON, lane: Lane[EventBody], events: TakenEvents
) -> bool:
    """Take the events that the state needs; return True if they arrived in time."""
    frame = lane.frame
    if frame.complete:
        return True
    wanted, time = plan.events, plan.timeouts.event_timeout
    selector = lane.program.event_selector(wanted)
    given = await required_of(wanted, lane) if selector.is_correlated else ()

    def fits(ref: str, event: CloudEvent) -> bool:
        return selector.is_for(wanted.index(ref), event, lane.correlation.values, given)

    async def wait(refs: list[str]) -> tuple[int, CloudEvent] | None:
        return await wait_for_event(refs, await _deadline(state, time, frame.taken, data, lane), lane)

    while not frame.taken if state.exclusive else len(frame.taken) < len(wanted):
        event = await next_of_each(wanted, frame, events, fits, wait, lane.correlation)
        if event is None:
            return False
        if state.timeout_is_between_events and lane.is_starting:
            frame.deadline = None  # the timeout starts again for the next event
        if lane.is_starting:
            lane.note(headers={name: value for name, value in event.to_json().items() if name != "data"})
    frame.complete = True
    return True


async def _deadline(
    state: EventState, time: str | None, taken: dict[str, JSON], data: JSON, lane: Lane[EventBody]
) -> float | None:
    """Return the deadline of the state's next event (section "Event Timeout Definition").

    A state in which an instance starts waits for its first event without limit: by the specification, that event
    creates the instance.
    """
    if time is None:
        return None
    is_any_time = not taken or (state.timeout_is_between_events and state.exclusive)
    if is_any_time and lane.is_starting:
        return None
    deadline = lane.frame.deadline = await lane.deadline(lane.frame.deadline, time, data)
    return deadline


def _complete_entries(state: EventState, taken: dict[str, JSON]) -> Iterable[tuple[int, OnEvents]]:
    """Return the entries whose actions are to run. An event named by several entries belongs to the first of them."""
    entries = enumerate(state.on_events)
    if not state.exclusive:
        return entries
    for index, entry in entries:
        for ref in entry.event_refs:
            if ref in taken:
                return ((index, entry),)
    return ()


async def _merged(entry: OnEvents, data: JSON, taken: dict[str, JSON], lane: Lane, events: TakenEvents) -> JSON:
    for ref in entry.event_refs:
        event = taken.get(ref)
        if isinstance(event, dict):
            data = await merge_event(ref, events.event_of(event), entry.event_data_filter, data, lane)
    return data
