"""Running a whole state once more, with the data that it was entered with; an event state keeps the events it took.

Before 0.7 (section "Defining Retries"), the entry of a state's onErrors that covers the error may name a retry. Each
entry counts its own attempts. Only when they are used up does the entry lead on.

In the draft of May 2020 (section "Workflow Error Handling - Retrying"), a retry is asked for by a condition on the
state's data and its error: either may call for another attempt, since a function may also report an error in its
result. The first retry whose condition holds decides.
"""

from collections.abc import Awaitable, Callable

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.languages.serverless_workflow.execution.catching import handler_of
from swf_temporal.languages.serverless_workflow.execution.error_data import with_error
from swf_temporal.languages.serverless_workflow.execution.event_release import begin_anew
from swf_temporal.languages.serverless_workflow.execution.frames import StateFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import State, StateRetry
from swf_temporal.runtime.attempts import AttemptsFrame
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.retrying import no_jitter


async def with_retries(
    state: State, data: JSON, lane: Lane[StateFrame], attempt: Callable[[], Awaitable[Step]]
) -> Step:
    """Return what an *attempt* at *state* comes to, the last one if its retries ask for several.

    Raises the fault of the last one, if it met one.
    """
    frame = lane.frame
    attempts = frame.attempts = frame.attempts or AttemptsFrame()

    async def delay_after(outcome: Step | WorkflowFault) -> float | None:
        fault = outcome if isinstance(outcome, WorkflowFault) else None
        if fault is not None and not lane.locate(fault).catchable:
            return None
        reached = outcome.data if isinstance(outcome, Step) else frame.latest_data(data)
        seen = with_error(reached, fault, lane.program.state_word, data)
        index = await _asked_for(state, seen, lane)
        if index is None:
            return None
        retry, count = state.retries[index], attempts.counts.get(str(index), 0)
        if count >= retry.max_attempts:
            return None
        delay = await _delay(retry, count, data, lane)
        name = None if fault is None else fault.name
        lane.emit(TraceKind.STATE_RETRIED, lane.state_path, attempt=attempts.number, error=name, delay=delay)
        attempts.counts[str(index)] = count + 1
        begin_anew(frame, lane)
        return delay

    return await lane.repeat(attempts, attempt, delay_after)


async def _asked_for(state: State, seen: JSON, lane: Lane) -> int | None:
    """Return which retry of *state* is to be made: the first whose condition holds of what is *seen*."""
    for index, retry in enumerate(state.retries):
        if await lane.holds(retry.condition, seen):
            return index
    return None


async def _delay(retry: StateRetry, count: int, data: JSON, lane: Lane) -> float:
    """Return how many seconds to wait before the next attempt, of which there were *count* before."""
    first = 0.0 if retry.delay is None else (await lane.duration(retry.delay, data)).total_seconds()
    added = 0.0 if retry.increment is None else (await lane.duration(retry.increment, data)).total_seconds()
    return first + count * added


async def with_error_retries(state: State, lane: Lane[StateFrame], attempt: Callable[[], Awaitable[Step]]) -> Step:
    """Return what an *attempt* at *state* comes to, the last one if its errors are retried; raises the last fault."""
    frame = lane.frame
    attempts = frame.attempts = frame.attempts or AttemptsFrame()

    async def delay_after(outcome: Step | WorkflowFault) -> float | None:
        if not isinstance(outcome, WorkflowFault):
            return None
        fault = lane.locate(outcome)
        closest = lane.program.workflow.language_version.closest_handler
        entry = await lane.run.evaluated(lambda: handler_of(state, lane.program.errors, fault, closest=closest))
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
        return seconds

    return await lane.repeat(attempts, attempt, delay_after)
