"""Running a whole state once more on an error, before 0.7 (section "Defining Retries").

The entry of a state's onErrors that covers the error may name a retry. While that allows another attempt, the state
begins anew with the data that it was entered with; an event state keeps the events that it took. Each entry counts its
own attempts. Only when they are used up does the entry lead on.
"""

from collections.abc import Awaitable, Callable

from swf_temporal.errors import WorkflowFault
from swf_temporal.languages.serverless_workflow.execution.catching import handler_of
from swf_temporal.languages.serverless_workflow.execution.frames import StateFrame
from swf_temporal.languages.serverless_workflow.execution.giving_back import begin_anew
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import State
from swf_temporal.runtime.attempts import AttemptsFrame, repeat
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.retrying import no_jitter


async def with_error_retries(state: State, lane: Lane[StateFrame], attempt: Callable[[], Awaitable[Step]]) -> Step:
    """Return what an *attempt* at *state* comes to, the last one if its errors are retried; raises the last fault."""
    frame = lane.frame
    attempts = frame.attempts = frame.attempts or AttemptsFrame()

    def again_at(outcome: Step | WorkflowFault) -> float | None:
        if not isinstance(outcome, WorkflowFault):
            return None
        fault = lane.locate(outcome)
        entry = handler_of(state, lane.program.errors, fault)
        if entry is None or entry.retry_ref is None or not fault.retryable:
            return None
        number = str(state.on_errors.index(entry))
        failed = attempts.counts.get(number, 0) + 1
        # Jitter would have to be the same when this is replayed: there is none.
        delay = lane.program.state_retry_rule(entry.retry_ref).after(failed, fault, no_jitter)
        if delay is None:
            return None
        seconds = delay.total_seconds()
        lane.emit(TraceKind.STATE_RETRIED, lane.state_path, attempt=attempts.number, error=fault.name, delay=seconds)
        attempts.counts[number] = failed
        begin_anew(frame, lane)
        frame.forget_deadlines()
        return lane.run.time() + seconds

    return await repeat(attempts, attempt, again_at, lane.wait_to_retry)
