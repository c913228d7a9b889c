"""The execution timeout of an instance: run to the end, to the timeout, or without limit if it is kept active."""

import asyncio
from typing import TYPE_CHECKING

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import TimedOut, WrongData
from swf_temporal.languages.serverless_workflow.execution.compensation import compensate
from swf_temporal.languages.serverless_workflow.execution.data_schemas import check_input, check_output
from swf_temporal.languages.serverless_workflow.execution.events import release, release_within
from swf_temporal.languages.serverless_workflow.execution.frames import (
    CompensationFrame,
    EventsBody,
    WalkFrame,
    forget_calls,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Terminated
from swf_temporal.languages.serverless_workflow.model.states import ContinueAs, EventState
from swf_temporal.languages.serverless_workflow.model.workflow import WorkflowExecTimeout
from swf_temporal.runtime.host import Completed, ContinuedAs, ContinueTimeout, Timer
from swf_temporal.runtime.joining import MISSING, cancel_next_wait, within

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.execution import Execution
    from swf_temporal.languages.serverless_workflow.execution.step import Ended


class Expired(Exception):  # noqa: N818 - a moment, not an error
    """The workflow timed out, and the state that was running then has finished."""


async def run_in_time(execution: "Execution") -> Completed | ContinuedAs:
    """Run to the end within the workflow's timeout (section "WorkflowExecTimeout Definition").

    On timeout, the running state is interrupted or, with `interrupt: false`, may finish. Then the `runBefore` state
    runs, and those that it leads to: they handle the timeout, and their end ends the workflow as any other does.
    Without `runBefore` it fails with TimedOut. A cancelled run compensates if its definition asks for that by
    `metadata.compensateOnCancel`. Data that does not fit its schema ends a run as well.
    """
    frame = execution.frame
    try:
        await execution.set_parameters()
    except asyncio.CancelledError:
        if execution.run.is_new:
            raise
        await execution.set_parameters()  # compensating what earlier executions did needs them
        cancel_next_wait()
    await check_input(execution)
    if frame.cancelled is None:
        try:
            outcome = await _run_in_time(execution)
            if isinstance(outcome, ContinuedAs):
                await execution.run.leave(outcome)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or not execution.compensated_on_cancel:
                raise
            current.uncancel()
            _release_events(execution)
        else:
            return outcome
        frame.cancelled = _interrupted_compensation(execution) or CompensationFrame()
    await compensate(execution.latest_data, frame.cancelled, _lane(execution))
    raise asyncio.CancelledError


def _interrupted_compensation(execution: "Execution") -> CompensationFrame | None:
    """Return the progress of a compensation that the cancellation interrupted: it resumes and undoes nothing twice."""
    walk = execution.frame.walk_under_way
    if walk is None or walk.run is None:
        return None
    interrupted, walk.run.compensation = walk.run.compensation, None
    if interrupted is not None:
        forget_calls(interrupted)
    return interrupted


async def _run_in_time(execution: "Execution") -> Completed | ContinuedAs:
    timeout = _timeout(execution)
    if timeout is not None and timeout.run_before is not None:
        _check_run_before(timeout.run_before, execution)
    if timeout is None:
        return await _run_through(execution)
    frame = execution.frame
    if not frame.expired:
        outcome = await _run_until(timeout, execution)
        if outcome is not None:
            return outcome
        frame.expired = True
        _release_events(execution)
        execution.note_timeout()
    if timeout.run_before is not None:
        frame.before = frame.before or WalkFrame(timeout.run_before, execution.latest_data)
        try:
            left = await execution.walk(frame.before)
        except Terminated as terminated:
            left = terminated.ended
        return await _outcome(left, execution)
    raise TimedOut(f"workflow {execution.program.workflow.id!r} took longer than it may")


def _timeout(execution: "Execution") -> WorkflowExecTimeout | None:
    """Return the workflow's timeout, or the one that a `continueAs` sets in its place."""
    limit = execution.run.limit
    if limit is None:
        return execution.program.workflow.timeouts.workflow_exec_timeout
    return WorkflowExecTimeout(duration=f"PT{limit.seconds:f}S", interrupt=limit.interrupt, run_before=limit.run_before)


def _check_run_before(state: str, execution: "Execution") -> None:
    """Raise WrongData if `runBefore` of a `continueAs` is not a state: it is only known at run time."""
    workflow = execution.program.workflow
    if state not in execution.program.scope.states:
        raise WrongData(f"runBefore names {state!r}, which is not a state of workflow {workflow.id!r}")


async def _run_until(timeout: WorkflowExecTimeout, execution: "Execution") -> Completed | ContinuedAs | None:
    frame = execution.frame
    deadline = frame.deadline = await _lane(execution).deadline(frame.deadline, timeout.duration, execution.run.input)
    if deadline is None:
        return await _run_through(execution)
    if timeout.interrupt:
        expiry = execution.run.time_out_at(deadline, Timer("timeout", ""))
        outcome = await within(_run_through(execution), expiry)
        return None if outcome is MISSING else outcome
    try:
        with execution.soft_deadline(deadline):
            if not execution.program.workflow.keep_active:
                return await _run_through(execution)
            outcome = await within(_run_through(execution), _idle_at(deadline, execution))
    except Expired:
        return None
    return None if outcome is MISSING else outcome


async def _idle_at(moment: float, execution: "Execution") -> None:
    """Wait until *moment*; if something is running then, wait forever: it finishes and checks the time itself."""
    await execution.run.time_out_at(moment, Timer("timeout", ""))
    if not _is_idle(execution):
        await asyncio.get_running_loop().create_future()


def _is_idle(execution: "Execution") -> bool:
    """Return True if a round has ended and the next has not received an event yet."""
    frame = execution.frame
    if frame.idle or frame.walk is None:
        return frame.idle
    if not frame.again or frame.walk.state != execution.program.workflow.start_state:
        return False
    run = frame.walk.run
    return run is None or (run.left is None and not (isinstance(run.body, EventsBody) and run.body.taken))


async def _run_through(execution: "Execution") -> Completed | ContinuedAs:
    """Walk from the start state to an end, and begin again as long as the workflow is kept active."""
    workflow = execution.program.workflow
    frame = execution.frame
    start = workflow.start_state
    while True:
        if frame.idle:
            if execution.deadline_passed:
                raise Expired
            await execution.run.stand_still()
        frame.walk = frame.walk or WalkFrame(start, execution.run.input)
        try:
            left = await execution.walk_to_end(frame.walk)
        except Terminated as terminated:
            left = terminated.ended
        if left.end.continue_as is not None or left.end.terminate or not workflow.keep_active:
            return await _outcome(left, execution)
        # The start state waits again, with the data that this round ended with.
        frame.walk, frame.again = WalkFrame(start, left.data), True
        frame.idle = not isinstance(execution.program.scope.state(start), EventState)


async def _outcome(left: "Ended", execution: "Execution") -> Completed | ContinuedAs:
    """Return the outcome of a run whose last walk is *left*."""
    execution.latest_data = left.data
    if left.end.continue_as is not None:
        return await _continued(left.end.continue_as, left, execution)
    await check_output(execution, left.data)
    return Completed(left.data)


async def _continued(to: ContinueAs, left: "Ended", execution: "Execution") -> ContinuedAs:
    lane = _lane(execution)
    data: JSON = left.data
    if isinstance(to.data, str):
        data = await lane.filtered(to.data, data)
    elif to.data is not None:
        data = await lane.fill(to.data, data)
    limit = await _limit(to.workflow_exec_timeout, data, lane)
    return ContinuedAs(to.workflow_id, to.version, data, limit, execution.run.inbox.record())


async def _limit(given: JSON, data: JSON, lane: Lane) -> ContinueTimeout | None:
    """Return the timeout that a `continueAs` sets for the next execution."""
    if given is None:
        return None
    fields: dict[str, JSON] = given if isinstance(given, dict) else {"duration": given}
    interrupt, run_before = (
        await lane.fill(fields.get("interrupt", True), data),
        await lane.fill(fields.get("runBefore"), data),
    )
    if not isinstance(interrupt, bool) or not isinstance(run_before, str | None):
        message = "the workflowExecTimeout of continueAs needs true or false as 'interrupt', and a name as 'runBefore'"
        raise lane.locate(WrongData(message))
    return ContinueTimeout(
        (await lane.duration(str(fields.get("duration")), data)).total_seconds(), interrupt, run_before
    )


def _release_events(execution: "Execution") -> None:
    """Put back the events that the interrupted state had taken: states that run now may wait for them."""
    walk = execution.frame.innermost_walk
    if walk is not None and walk.run is not None:
        scope = execution.program.scope
        state = scope.state(walk.state)
        lane = Lane(execution, state, walk.run, execution.variables(), scope.path_of(state.name), scope)
        release(walk.run.body, lane)
    for left in execution.frame.running:
        release_within(left.part, left.scope, execution.detached_lane(left))


def _lane(execution: "Execution") -> Lane:
    """Return a lane for work that does not belong to a state."""
    workflow = execution.program.workflow
    scope = execution.program.scope
    return Lane(execution, workflow.states[0], execution.frame, execution.variables(), "", scope)
