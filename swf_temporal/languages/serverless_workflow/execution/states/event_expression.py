"""Event state of the draft of November 2019: waits for the events of the first entry whose expression is met.

Every entry has its own timeout. Once all entries have timed out, the workflow or the branch ends. Events that were
taken for other entries than the one that was met are released to the inbox.
"""

from collections.abc import Mapping

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.actions import run_actions
from swf_temporal.languages.serverless_workflow.execution.events import merge_event, release, wait_for_event
from swf_temporal.languages.serverless_workflow.execution.frames import EntryFrame, EventExpressionBody
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import ByEntry, Nowhere, Step
from swf_temporal.languages.serverless_workflow.model.states import EventNeed, EventState, OnEvents, expectations
from swf_temporal.runtime.progress import Value
from swf_temporal.runtime.waiting import drop, put_back


async def run(state: EventState, data: JSON, lane: Lane[EventExpressionBody]) -> Step:
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
        ends = await _ends(state, data, lane)
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


async def _ends(state: EventState, data: JSON, lane: Lane[EventExpressionBody]) -> dict[int, float | None]:
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
