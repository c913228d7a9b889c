"""Event: waits for events and runs actions (section "Event State").

Exclusive: the first event of any entry runs that entry's actions, and the state is left. Not exclusive: all the
events of all the entries are waited for, then every entry's actions run, in the order written.
"""

from swf_temporal.data import JSON
from swf_temporal.errors import TimedOut
from swf_temporal.interpreter.actions import run_actions
from swf_temporal.interpreter.catching import handler_of_timeout
from swf_temporal.interpreter.events import merge_event, payload_of
from swf_temporal.interpreter.lane import Lane
from swf_temporal.interpreter.step import Step
from swf_temporal.model.cloudevent import CloudEvent
from swf_temporal.model.states import EventState, OnEvents


async def run(state: EventState, data: JSON, lane: Lane) -> Step:
    """Wait for the state's events, merge them into *data*, and run the actions of the entries they complete."""
    if not await _came(state, data, lane):
        fault = TimedOut(f"state {state.name!r} did not get its events in time")
        if handler_of_timeout(state, lane.interpretation.program.errors, fault):
            raise lane.locate(fault)
        return Step(data)
    frame = lane.frame
    done = frame.get("entry", 0)
    data = frame.get("data", data)
    timeout = lane.interpretation.program.timeouts(state).action_exec_timeout
    for index, entry in enumerate(state.on_events):
        if index < done or not _is_complete(state, entry, frame["taken"]):
            continue
        actions = lane.child("actions", lane.path)
        if "merged" not in actions.frame:
            data = _merged(entry, data, frame["taken"], lane)
            actions.frame["merged"] = True
            frame["data"] = data
        data = await run_actions(entry.actions, entry.action_mode, data, actions, timeout)
        frame["data"], frame["entry"] = data, index + 1
        del frame["actions"]
    return Step(data)


async def _came(state: EventState, data: JSON, lane: Lane) -> bool:
    """Take the events that the state needs; tell whether they came in time."""
    interpretation = lane.interpretation
    frame = lane.frame
    taken: dict[str, JSON] = frame.setdefault("taken", {})
    if frame.get("complete"):
        return True
    deadline = lane.deadline("deadline", interpretation.program.timeouts(state).event_timeout, data)
    wanted = list(dict.fromkeys(ref for entry in state.on_events for ref in entry.event_refs))
    while not taken if state.exclusive else len(taken) < len(wanted):
        missing = [ref for ref in wanted if ref not in taken]
        got = await interpretation.wait_for_event(missing, deadline, lane)
        if got is None:
            return False
        index, event = got
        taken[missing[index]] = event.to_record()
    frame["complete"] = True
    return True


def _is_complete(state: EventState, entry: OnEvents, taken: dict[str, JSON]) -> bool:
    """Tell whether *entry*'s actions are to run. An event that several entries name belongs to the first of them."""
    if not state.exclusive:
        return True
    first = next(e for e in state.on_events if any(ref in taken for ref in e.event_refs))
    return entry is first


def _merged(entry: OnEvents, data: JSON, taken: dict[str, JSON], lane: Lane) -> JSON:
    for ref in entry.event_refs:
        event = taken.get(ref)
        if isinstance(event, dict):
            payload = payload_of(lane.interpretation.program.event(ref), CloudEvent.from_record(event))
            data = merge_event(payload, entry.event_data_filter, data, lane)
    return data
