"""Operation: runs actions, sequentially or in parallel (section "Operation State").

With `repeat`, they are run repeatedly (0.6, section "Repeat Definition"). The loop ends when one of the events in
`stopOnEvents` arrived, when `max` is reached, or when the expression does not hold. With `checkBefore: false` the
expression is not evaluated before the first run. The output of a run is the input of the next; a failed run, if errors
do not end the loop, leaves the data unchanged.
"""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault, WrongData
from swf_temporal.languages.serverless_workflow.execution.actions import run_actions
from swf_temporal.languages.serverless_workflow.execution.events import has_arrived
from swf_temporal.languages.serverless_workflow.execution.frames import OperationBody, RepeatFrame, SequenceFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import OperationState, Repeat
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.progress import Value


async def run(state: OperationState, data: JSON, lane: Lane[OperationBody]) -> Step:
    timeout = lane.program.timeouts(state).action_exec_timeout
    if state.repeat is not None:
        return Step(await _run_repeatedly(state, state.repeat, data, lane, timeout))
    return Step(await run_actions(state.actions, state.action_mode, data, lane, timeout))


async def _run_repeatedly(
    state: OperationState, repeat: Repeat, data: JSON, lane: Lane[OperationBody], timeout: str | None
) -> JSON:
    """Run the actions of *state* as often as *repeat* says, and return the resulting data."""
    frame = lane.frame.repeated = lane.frame.repeated or RepeatFrame()
    limit = await _limit(repeat, data, lane)
    data = data if frame.data is None else frame.data.value
    while frame.round is not None or await _continues(repeat, frame.times, limit, data, lane):
        frame.round = frame.round or SequenceFrame()
        own = lane.child(frame.round, lane.path)
        try:
            data = await run_actions(state.actions, state.action_mode, data, own, timeout)
        except WorkflowFault as fault:
            if not (repeat.continue_on_error and fault.catchable):
                raise
            lane.emit(TraceKind.ERROR_CAUGHT, fault.name, code=fault.code, message=fault.message)
        frame.data, frame.times, frame.round = Value(data), frame.times + 1, None
        lane.run.checkpoint()
    return data


async def _continues(repeat: Repeat, times: int, limit: int | None, data: JSON, lane: Lane) -> bool:
    if limit is not None and times >= limit:
        return False
    if repeat.stop_on_events and await has_arrived(repeat.stop_on_events, lane):
        return False
    if repeat.expression is None or (times == 0 and not repeat.check_before):
        return True
    return await lane.holds(repeat.expression, data)


async def _limit(repeat: Repeat, data: JSON, lane: Lane) -> int | None:
    """Return the maximum number of runs; None if there is no limit."""
    limit = await lane.fill(repeat.max, data)
    if isinstance(limit, str) and limit.strip().isdigit():
        limit = int(limit)
    if limit is None or limit == 0:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise lane.locate(WrongData(f"max of the repeat of {lane.state_path!r} is {limit!r}, which is not a count"))
    return limit
