"""The life of an instance: to its end, to its execution timeout, or without limit where it is kept active."""

import asyncio
from typing import TYPE_CHECKING

from swf_temporal.data import JSON
from swf_temporal.errors import TimedOut, WrongData
from swf_temporal.languages.serverless_workflow.execution.compensation import compensate
from swf_temporal.languages.serverless_workflow.execution.data_schemas import check_input, check_output
from swf_temporal.languages.serverless_workflow.execution.frames import InstanceFrame, UndoingFrame
from swf_temporal.languages.serverless_workflow.execution.functions import truth_of
from swf_temporal.languages.serverless_workflow.execution.giving_back import give_back, give_back_within
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.progress import innermost_walk, walk_under_way
from swf_temporal.languages.serverless_workflow.execution.step import Terminated
from swf_temporal.languages.serverless_workflow.model.states import ContinueAs, EventState
from swf_temporal.languages.serverless_workflow.model.workflow import WorkflowExecTimeout
from swf_temporal.runtime.host import Completed, ContinuedAs, Limit
from swf_temporal.runtime.joining import MISSING, within

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.execution import Execution
    from swf_temporal.languages.serverless_workflow.execution.step import Ended


class Expired(Exception):  # noqa: N818 - a moment, not an error
    """The workflow's time is over, and the state that was running then has finished."""


async def run_in_time(execution: "Execution") -> Completed | ContinuedAs:
    """Run to the end within the workflow's timeout (section "WorkflowExecTimeout Definition").

    When the time is over, what is running is interrupted or, with `interrupt: false`, its state may finish. Then the
    `runBefore` state runs, and those that it leads to: they deal with the timeout, and their end ends the workflow as
    any other does. Without a `runBefore` it fails with TimedOut. A run that is cancelled undoes what it did if its
    definition asks for that by `metadata.compensateOnCancel`. Data that does not fit its schema ends a run as well.
    """
    frame = execution.walks
    check_input(execution)
    if "cancelled" not in frame:
        try:
            return await _run_in_time(execution)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or not _undoes_when_cancelled(execution):
                raise
            current.uncancel()
            _give_back(execution)
    undoing = frame.setdefault("cancelled", _undone_so_far(execution))
    await compensate(execution.latest_data, _lane(execution).child(undoing, ""))
    raise asyncio.CancelledError


def _undoes_when_cancelled(execution: "Execution") -> bool:
    asked = execution.program.workflow.metadata.get("compensateOnCancel")
    return truth_of(asked) is True and bool(execution.compensation)


def _undone_so_far(execution: "Execution") -> UndoingFrame:
    """Return how far a compensation is that the cancellation broke off: it goes on, and undoes nothing twice."""
    run = walk_under_way(execution.walks).get("run", {})
    return {"compensation": run["compensation"]} if "compensation" in run else {}


async def _run_in_time(execution: "Execution") -> Completed | ContinuedAs:
    timeout = _timeout(execution)
    if timeout is not None and timeout.run_before is not None:
        _check_run_before(timeout.run_before, execution)
    if timeout is None:
        return await _run_through(execution)
    frame = execution.walks
    if "expired" not in frame:
        outcome = await _run_until(timeout, execution)
        if outcome is not None:
            return outcome
        frame["expired"] = True
        _give_back(execution)
        execution.note_timeout()
    if timeout.run_before is not None:
        data = execution.latest_data
        try:
            left = await execution.walk(timeout.run_before, data, frame.setdefault("before", {}))
        except Terminated as terminated:
            left = terminated.ended
        return _outcome(left, execution)
    raise TimedOut(f"workflow {execution.program.workflow.id!r} took longer than it may")


def _timeout(execution: "Execution") -> WorkflowExecTimeout | None:
    """Return the workflow's timeout, or what a `continueAs` sets in its place."""
    limit = execution.run.limit
    if limit is None:
        return execution.program.workflow.timeouts.workflow_exec_timeout
    return WorkflowExecTimeout(duration=f"PT{limit.seconds:f}S", interrupt=limit.interrupt, run_before=limit.run_before)


def _check_run_before(state: str, execution: "Execution") -> None:
    """Refuse what only a run can tell: a `continueAs` names a state of another workflow."""
    workflow = execution.program.workflow
    if state not in execution.program.scope.states:
        raise WrongData(f"{state!r} is to run before the end, and is not a state of workflow {workflow.id!r}")


async def _run_until(timeout: WorkflowExecTimeout, execution: "Execution") -> Completed | ContinuedAs | None:
    deadline = _lane(execution).deadline("deadline", timeout.duration, execution.run.input)
    if deadline is None:
        return await _run_through(execution)
    if timeout.interrupt:
        expiry = execution.run.time_out_at(deadline, "timeout of the workflow")
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
    """Wait until *moment*, and without end if something is running then: that finishes, and checks the time itself."""
    await execution.run.time_out_at(moment, "timeout of the workflow")
    if not _is_idle(execution):
        await asyncio.get_running_loop().create_future()


def _is_idle(execution: "Execution") -> bool:
    """Tell whether a round has ended, and no other has begun: no event of it has come."""
    frame = execution.walks
    if "idle" in frame:
        return True
    walk = frame.get("walk", {})
    is_waiting = walk.get("state") == execution.program.workflow.start_state
    return "again" in frame and is_waiting and not walk.get("run", {}).get("body", {}).get("taken")


async def _run_through(execution: "Execution") -> Completed | ContinuedAs:
    """Walk from the start state to an end, and begin again as long as the workflow is to be kept active."""
    workflow = execution.program.workflow
    frame = execution.walks
    start = workflow.start_state
    while True:
        if "idle" in frame:
            if execution.deadline_passed:
                raise Expired
            await execution.run.inbox.wait(lambda _: False)
        walk = frame.setdefault("walk", {})
        try:
            left = await execution.walk_to_end(start, execution.run.input, walk)
        except Terminated as terminated:
            left = terminated.ended
        if left.end.continue_as is not None or left.end.terminate or not workflow.keep_active:
            return _outcome(left, execution)
        # The start state waits anew, with the data that this round ended with.
        frame["walk"] = {"state": start, "data": left.data}
        frame["again"] = True
        if not isinstance(execution.program.scope.state(start), EventState):
            frame["idle"] = True


def _outcome(left: "Ended", execution: "Execution") -> Completed | ContinuedAs:
    """Return what a run comes to whose last walk ended so."""
    if left.end.continue_as is not None:
        return _continued(left.end.continue_as, left, execution)
    check_output(execution, left.data)
    return Completed(left.data)


def _continued(to: ContinueAs, left: "Ended", execution: "Execution") -> ContinuedAs:
    lane = _lane(execution)
    data: JSON = left.data
    if isinstance(to.data, str):
        data = lane.filtered(to.data, data)
    elif to.data is not None:
        data = lane.fill(to.data, data)
    limit = _limit(to.workflow_exec_timeout, data, lane)
    return ContinuedAs(to.workflow_id, to.version, data, limit, tuple(execution.run.inbox.kept))


def _limit(given: JSON, data: JSON, lane: Lane) -> Limit | None:
    """Return what a `continueAs` says of the time that the other execution may take."""
    if given is None:
        return None
    fields: dict[str, JSON] = given if isinstance(given, dict) else {"duration": given}
    interrupt, run_before = lane.fill(fields.get("interrupt", True), data), lane.fill(fields.get("runBefore"), data)
    if not isinstance(interrupt, bool) or not isinstance(run_before, str | None):
        message = "the workflowExecTimeout of continueAs needs true or false as 'interrupt', and a name as 'runBefore'"
        raise lane.locate(WrongData(message))
    return Limit(lane.duration(str(fields.get("duration")), data).total_seconds(), interrupt, run_before)


def _give_back(execution: "Execution") -> None:
    """Give the events back that the state had taken that was broken off: those that run now may wait for them."""
    walk = innermost_walk(execution.walks)
    run = walk.get("run")
    if run is not None:
        name = walk["state"]
        scope = execution.program.scope
        lane = Lane(execution, scope.state(name), run, execution.variables(), scope.path_of(name), scope)
        give_back(run.get("body", {}), lane)
    for left in execution.walks.get("running", ()):
        give_back_within(left, left["scope"], execution.lane_left(left))


def _lane(execution: "Execution") -> Lane[InstanceFrame]:
    """Return a lane for what belongs to no state."""
    workflow = execution.program.workflow
    scope = execution.program.scope
    return Lane(execution, workflow.states[0], execution.walks, execution.variables(), "", scope)
