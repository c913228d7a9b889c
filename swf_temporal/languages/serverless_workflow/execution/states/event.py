"""Event: waits for events and runs actions (section "Event State").

Exclusive: the first event of any entry runs that entry's actions, and the state is left. Not exclusive: the state waits
for all events of all entries, then every entry's actions run, in the order written. An event that matches several
definitions is assigned to one of them, and reassigned to another if that lets the state complete. If the state is left
before all of them arrived, those that did are released to the inbox.

In the draft of November 2019 an entry has an expression over events, and a timeout of its own: the first entry whose
expression is met runs its actions. Once all entries have timed out, the workflow or the branch ends.
"""

from collections.abc import Iterable, Mapping

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
from swf_temporal.languages.serverless_workflow.execution.frames import EntryFrame, EventBody, EventExpressionBody
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.program import StatePlan
from swf_temporal.languages.serverless_workflow.execution.retries import handler_of_timeout
from swf_temporal.languages.serverless_workflow.execution.step import ByEntry, Nowhere, Step
from swf_temporal.languages.serverless_workflow.model.states import EventNeed, EventState, OnEvents, expectations
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.waiting import TakenEvents, drop, next_of_each, put_back


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


async def run_expression(state: EventState, data: JSON, lane: Lane[EventExpressionBody]) -> Step:
    """Wait for an entry's events, merge them into *data*, and run its actions."""
    index = await _met_entry(state, data, lane)
    if index is None:
        release(lane.frame, lane)
        return Step(data, Nowhere())
    frame, entry = lane.frame, state.on_events[index]
    begun = frame.actions = frame.actions or EntryFrame()
    if not begun.merged:
        for ref in entry.event_refs:
            event = frame.taken.get(ref)
            if isinstance(event, dict):
                data = await merge_event(ref, CloudEvent.from_record(event), entry.event_data_filter, data, lane)
        begun.merged = True
        frame.data = Value(data)
    data = data if frame.data is None else frame.data.value
    data = await run_actions(entry.actions, entry.action_mode, data, lane.child(begun, lane.path), None)
    frame.data = Value(data)
    return Step(data, ByEntry(index))


async def _met_entry(state: EventState, data: JSON, lane: Lane[EventExpressionBody]) -> int | None:
    """Return the index of the entry whose events arrived; None if all entries timed out."""
    frame = lane.frame
    taken, expected = frame.taken, expectations(state)
    while not frame.complete:
        ends = await _entry_ends(state, data, lane)
        entries = [state.on_events[index] for index in ends]
        refs = list(dict.fromkeys(ref for entry in entries for ref in entry.event_refs if ref not in taken))
        if not refs:
            return None
        known = set(lane.correlation.names)
        soonest = min((end for end in ends.values() if end is not None), default=None)
        got = await wait_for_event(refs, soonest, lane)
        if got is None:
            continue
        taken[refs[got[0]]] = got[1].to_record()
        frame.fixed += [name for name in lane.correlation.names if name not in known]
        met = next((index for index in ends if _is_met(expected[index].need, taken)), None)
        if met is not None:
            frame.entry, frame.complete = met, True
            _release_others(state.on_events[met], lane)
    return frame.entry


async def _entry_ends(state: EventState, data: JSON, lane: Lane[EventExpressionBody]) -> dict[int, float | None]:
    """Return the deadline of each entry that has not timed out.

    A state in which an instance starts waits for its first event without limit, as in later versions.
    """
    if lane.is_starting and not lane.frame.taken:
        return dict.fromkeys(range(len(state.on_events)))
    waits = lane.frame.waits
    ends: dict[int, float | None] = {}
    for index, entry in enumerate(expectations(state)):
        end = await lane.deadline(waits.get(str(index)), entry.timeout, data)
        if end is not None:
            waits[str(index)] = end
        if end is None or lane.run.time() < end:
            ends[index] = end
    return ends


def _is_met(need: EventNeed, taken: Mapping[str, JSON]) -> bool:
    if need.join == "event":
        return need.ref in taken
    met = [_is_met(part, taken) for part in need.parts]
    return all(met) if need.join == "and" else any(met)


def _release_others(entry: OnEvents, lane: Lane[EventExpressionBody]) -> None:
    """Put back events taken for other entries than *entry*, which was met: another state may wait for them."""
    taken = lane.frame.taken
    put_back(drop(taken, [ref for ref in taken if ref not in entry.event_refs], lane), lane)
