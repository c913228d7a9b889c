"""Parallel: runs branches concurrently (section "Parallel State").

Every branch works on its own copy of the data. The effects of the actions of completed branches are applied to the
state's data in the order in which the branches are written.
"""

from itertools import chain

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WrongData
from swf_temporal.languages.serverless_workflow.execution.actions import apply_each, run_sequence
from swf_temporal.languages.serverless_workflow.execution.events import release
from swf_temporal.languages.serverless_workflow.execution.frames import ActionResult, ParallelBody, PartFrame
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import Branch, ParallelState
from swf_temporal.runtime.joining import MISSING, Path, join
from swf_temporal.runtime.progress import Value


async def run(state: ParallelState, data: JSON, lane: Lane[ParallelBody]) -> Step:
    """Run the state's branches until all, or the number that it needs, have completed."""
    need = None if state.completion_type == "allOf" else await _needed(state, data, lane)
    if any(branch.scope is not None for branch in state.branches):
        outputs = await join([_scope(state, branch, data, lane) for branch in state.branches], need=need)
        release(lane.frame, lane)  # events that unfinished branches took
        found = [output for output in outputs if output is not MISSING]
        return Step(await lane.program.data_flow.with_outputs(state, found, data, lane))
    results = await join([_branch(state, branch, data, lane) for branch in state.branches], need=need)
    found_effects = chain.from_iterable(effects for effects in results if effects is not MISSING)
    return Step(apply_each(found_effects, data, lane))


def _branch(state: ParallelState, branch: Branch, data: JSON, lane: Lane[ParallelBody]) -> Path[list[ActionResult]]:
    inherited = lane.program.timeouts(state)
    action_timeout = branch.timeouts.action_exec_timeout or inherited.action_exec_timeout
    branch_timeout = branch.timeouts.branch_exec_timeout or inherited.branch_exec_timeout

    async def path() -> list[ActionResult]:
        own = _own(branch, lane)
        frame = own.frame
        if not frame.done:
            frame.deadline = await own.deadline(frame.deadline, branch_timeout, data)
            work = run_sequence(branch.actions, data, own, action_timeout, frame.effects)
            await own.within(frame.deadline, work, f"branch {branch.name!r}", branch.name)
            lane.frame.branches[branch.name] = PartFrame(effects=frame.effects, done=True)
        return frame.effects

    return path


def _scope(state: ParallelState, branch: Branch, data: JSON, lane: Lane[ParallelBody]) -> Path[JSON]:
    timeout = branch.timeouts.branch_exec_timeout or lane.program.timeouts(state).branch_exec_timeout

    async def path() -> JSON:
        own = _own(branch, lane)
        frame, path = own.frame, f"{lane.state_path}/{branch.name}"
        if frame.output is not None:
            return frame.output.value
        output: JSON = None
        if branch.is_awaited:
            frame.deadline = await own.deadline(frame.deadline, timeout, data)
            output = await own.within(frame.deadline, own.run_scope(path, data), f"branch {branch.name!r}", branch.name)
        else:
            # Its output is null, so that the positions of the other outputs still identify their branches.
            lane.execution.detach(path, data, own)
        lane.frame.branches[branch.name] = PartFrame(output=Value(output), done=True)
        return output

    return path


def _own(branch: Branch, lane: Lane[ParallelBody]) -> Lane[PartFrame]:
    frame = lane.frame.branches.setdefault(branch.name, PartFrame())
    return lane.child(frame, f"{lane.path}/{branch.name}", branch=branch.name)


async def _needed(state: ParallelState, data: JSON, lane: Lane) -> int:
    """Return the number of branches that must complete, which may be an expression. A larger number means all."""
    number: JSON = state.num_completed
    if isinstance(number, str):
        number = await lane.fill(number, data)
        if isinstance(number, str) and number.strip().isdigit():
            number = int(number)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise lane.locate(WrongData(f"numCompleted of {state.name!r} is {number!r}, which is not a count"))
    return number
