"""How long does an instance live: until its end, its timeout, or for ever?"""

import asyncio
from typing import TYPE_CHECKING

from swf_temporal.data import JSON
from swf_temporal.errors import TimedOut, WrongData
from swf_temporal.languages.serverless_workflow.execution.compensation import compensate
from swf_temporal.languages.serverless_workflow.execution.data_schemas import check_input, check_output
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.progress import innermost_walk, walk_under_way
from swf_temporal.languages.serverless_workflow.execution.states.event import give_back
from swf_temporal.languages.serverless_workflow.model.states import ContinueAs, EventState
from swf_temporal.languages.serverless_workflow.model.workflow import WorkflowExecTimeout
from swf_temporal.runtime.host import Completed, ContinuedAs, Limit, Outcome
from swf_temporal.runtime.joining import MISSING, within
from swf_temporal.runtime.semantics import FIRST_SEMANTICS

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.interpretation import Ended, Interpretation


class Expired(Exception):  # noqa: N818 - a moment, not an error
    """The workflow's time is over, and the state that was running then has finished."""


async def run_in_time(interpretation: "Interpretation") -> Outcome:
    """Run to the end within the workflow's timeout (section "WorkflowExecTimeout Definition").

    When the time is over, what is running is interrupted or, with `interrupt: false`, its state may finish. Then the
    `runBefore` state runs, and those that it leads to: they deal with the timeout, and their end ends the workflow as
    any other does. Without a `runBefore` it fails with TimedOut. A run that is cancelled undoes what it did if its
    definition asks for that by `metadata.compensateOnCancel`. Data that does not fit its schema ends a run as well.
    """
    frame = interpretation.frame
    check_input(interpretation)
    if "cancelled" not in frame:
        try:
            return await _run_in_time(interpretation)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or not _undoes_when_cancelled(interpretation):
                raise
            current.uncancel()
            _give_back(interpretation)
    lane = _lane(interpretation)
    lane.frame = frame.setdefault("cancelled", _undone_so_far(interpretation))
    await compensate(interpretation.latest_data, lane)
    raise asyncio.CancelledError


def _undoes_when_cancelled(interpretation: "Interpretation") -> bool:
    asked = interpretation.program.workflow.metadata.get("compensateOnCancel")
    if interpretation.semantics > FIRST_SEMANTICS and isinstance(asked, str):
        # The specification knows metadata as texts (section "Workflow Metadata").
        asked = asked.strip().lower() == "true"
    return asked is True and bool(interpretation.record)


def _undone_so_far(interpretation: "Interpretation") -> dict[str, JSON]:
    """Return how far a compensation is that the cancellation broke off: it goes on, and undoes nothing twice."""
    run = walk_under_way(interpretation.frame).get("run", {})
    return {"compensation": run["compensation"]} if "compensation" in run else {}


async def _run_in_time(interpretation: "Interpretation") -> Outcome:
    timeout = _timeout(interpretation)
    if timeout is not None and timeout.run_before is not None:
        _check_run_before(timeout.run_before, interpretation)
    if timeout is None:
        return await _run_through(interpretation)
    frame = interpretation.frame
    if "expired" not in frame:
        outcome = await _run_until(timeout, interpretation)
        if outcome is not None:
            return outcome
        frame["expired"] = True
        _give_back(interpretation)
        interpretation.note_timeout()
    if timeout.run_before is not None:
        data = interpretation.latest_data
        left = await interpretation.walk(timeout.run_before, data, frame.setdefault("before", {}))
        if interpretation.semantics > FIRST_SEMANTICS:
            return _outcome(left, interpretation)
    raise TimedOut(f"workflow {interpretation.program.workflow.id!r} took longer than it may")


def _timeout(interpretation: "Interpretation") -> WorkflowExecTimeout | None:
    """Return the workflow's timeout, or what a `continueAs` sets in its place."""
    limit = interpretation.limit
    if limit is None:
        return interpretation.program.workflow.timeouts.workflow_exec_timeout
    return WorkflowExecTimeout(duration=f"PT{limit.seconds:f}S", interrupt=limit.interrupt, run_before=limit.run_before)


def _check_run_before(state: str, interpretation: "Interpretation") -> None:
    """Refuse what only a run can tell: a `continueAs` names a state of another workflow."""
    workflow = interpretation.program.workflow
    if all(one.name != state for one in workflow.states):
        raise WrongData(f"{state!r} is to run before the end, and is no state of workflow {workflow.id!r}")


async def _run_until(timeout: WorkflowExecTimeout, interpretation: "Interpretation") -> Outcome | None:
    deadline = _lane(interpretation).deadline("deadline", timeout.duration, interpretation.input)
    if deadline is None:
        return await _run_through(interpretation)
    if timeout.interrupt:
        expiry = interpretation.time_out_at(deadline, "timeout of the workflow")
        outcome = await within(_run_through(interpretation), expiry)
        return None if outcome is MISSING else outcome
    interpretation.last_moment = deadline
    try:
        if not interpretation.program.workflow.keep_active:
            return await _run_through(interpretation)
        outcome = await within(_run_through(interpretation), _idle_at(deadline, interpretation))
    except Expired:
        return None
    else:
        return None if outcome is MISSING else outcome
    finally:
        interpretation.last_moment = None


async def _idle_at(moment: float, interpretation: "Interpretation") -> None:
    """Wait until *moment*, and for ever if something is running then, which finishes and looks at the time itself."""
    await interpretation.time_out_at(moment, "timeout of the workflow")
    if not _is_idle(interpretation):
        await asyncio.get_running_loop().create_future()


def _is_idle(interpretation: "Interpretation") -> bool:
    """Tell whether a round has ended, and no other has begun: no event of it has come."""
    frame = interpretation.frame
    if "idle" in frame:
        return True
    walk = frame.get("walk", {})
    is_waiting = walk.get("state") == interpretation.program.workflow.start_state
    return "again" in frame and is_waiting and not walk.get("run", {}).get("body", {}).get("taken")


async def _run_through(interpretation: "Interpretation") -> Outcome:
    """Walk from the start state to an end, and begin again as long as the workflow is to be kept active."""
    workflow = interpretation.program.workflow
    frame = interpretation.frame
    start = workflow.start_state
    while True:
        if "idle" in frame:
            if interpretation.is_over:
                raise Expired
            await interpretation.inbox.wait(lambda _: False)
        walk = frame.setdefault("walk", {})
        left = await interpretation.walk(start, interpretation.input, walk)
        if left.end.continue_as is not None or left.end.terminate or not workflow.keep_active:
            return _outcome(left, interpretation)
        # The start state waits anew, with the data that this round ended with.
        frame["walk"] = {"state": start, "data": left.data}
        frame["again"] = True
        if not isinstance(interpretation.program.state(start), EventState):
            frame["idle"] = True


def _outcome(left: "Ended", interpretation: "Interpretation") -> Outcome:
    """Return what a run comes to whose last walk ended so."""
    if left.end.continue_as is not None:
        return _continued(left.end.continue_as, left, interpretation)
    check_output(interpretation, left.data)
    return Completed(left.data)


def _continued(to: ContinueAs, left: "Ended", interpretation: "Interpretation") -> ContinuedAs:
    lane = _lane(interpretation)
    data: JSON = left.data
    if isinstance(to.data, str):
        data = lane.filtered(to.data, data)
    elif to.data is not None:
        data = lane.fill(to.data, data)
    limit = _limit(to.workflow_exec_timeout, data, lane)
    return ContinuedAs(to.workflow_id, to.version, data, limit, tuple(interpretation.inbox.kept))


def _limit(given: JSON, data: JSON, lane: Lane) -> Limit | None:
    """Return what a `continueAs` says of the time that the other execution may take."""
    if given is None:
        return None
    said: dict[str, JSON] = given if isinstance(given, dict) else {"duration": given}
    interrupt, run_before = lane.fill(said.get("interrupt", True), data), lane.fill(said.get("runBefore"), data)
    if not isinstance(interrupt, bool) or not isinstance(run_before, str | None):
        message = "the workflowExecTimeout of continueAs needs true or false as 'interrupt', and a name as 'runBefore'"
        raise lane.locate(WrongData(message))
    return Limit(lane.duration(str(said.get("duration")), data).total_seconds(), interrupt, run_before)


def _give_back(interpretation: "Interpretation") -> None:
    """Give the events back that the state had taken that was broken off: those that run now may wait for them."""
    walk = innermost_walk(interpretation.frame)
    run = walk.get("run")
    if run is not None:
        name: str = walk["state"]
        state = interpretation.program.state(name)
        give_back(run.get("body", {}), Lane(interpretation, state, run, interpretation.variables(), name))


def _lane(interpretation: "Interpretation") -> Lane:
    """Return a lane for what belongs to no state."""
    workflow = interpretation.program.workflow
    return Lane(interpretation, workflow.states[0], interpretation.frame, interpretation.variables(), "")
