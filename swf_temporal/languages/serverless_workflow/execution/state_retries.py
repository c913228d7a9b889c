"""Running a whole state once more (draft of May 2020, section "Workflow Error Handling - Retrying").

A retry is asked for by a condition on the state's data and its error: either may call for another attempt, since a
function may also tell of an error in its result. The first retry whose condition holds decides. The state begins anew
with the data that it was entered with; only events that an event state has taken stay its own.
"""

from collections.abc import Awaitable, Callable

from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.languages.serverless_workflow.execution.error_data import with_error
from swf_temporal.languages.serverless_workflow.execution.frames import StateFrame
from swf_temporal.languages.serverless_workflow.execution.giving_back import begin_anew
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import State, StateRetry
from swf_temporal.runtime.attempts import AttemptsFrame, repeat
from swf_temporal.runtime.host import TraceKind


async def with_retries(
    state: State, data: JSON, lane: Lane[StateFrame], attempt: Callable[[], Awaitable[Step]]
) -> Step:
    """Return what an *attempt* at *state* comes to, the last one if its retries ask for several.

    Raises the fault of the last one, if it met one.
    """
    frame = lane.frame
    attempts = frame.attempts = frame.attempts or AttemptsFrame()

    def again_at(outcome: Step | WorkflowFault) -> float | None:
        fault = outcome if isinstance(outcome, WorkflowFault) else None
        if fault is not None and not lane.locate(fault).catchable:
            return None
        reached = outcome.data if isinstance(outcome, Step) else frame.latest_data(data)
        seen = with_error(reached, fault, lane.program.state_word)
        index = next((i for i, retry in enumerate(state.retries) if lane.holds(retry.condition, seen)), None)
        if index is None:
            return None
        retry, count = state.retries[index], attempts.counts.get(str(index), 0)
        if count >= retry.max_attempts:
            return None
        delay = _delay(retry, count, data, lane)
        name = None if fault is None else fault.name
        lane.emit(TraceKind.STATE_RETRIED, lane.state_path, attempt=attempts.number, error=name, delay=delay)
        attempts.counts[str(index)] = count + 1
        begin_anew(frame, lane)
        return lane.run.time() + delay

    return await repeat(attempts, attempt, again_at, lane.wait_to_retry)


def _delay(retry: StateRetry, count: int, data: JSON, lane: Lane) -> float:
    """Return how many seconds to wait before the next attempt, of which there were *count* before."""
    first = 0.0 if retry.delay is None else lane.duration(retry.delay, data).total_seconds()
    added = 0.0 if retry.increment is None else lane.duration(retry.increment, data).total_seconds()
    return first + count * added
