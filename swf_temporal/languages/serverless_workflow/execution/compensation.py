"""How is what was done undone?

Every completed execution of a state that names a `compensatedBy` state goes into the record. When a transition or
an end asks for compensation, they are undone in reverse order: for each, the chain of states that begins with its
compensatedBy state runs to its end, the current data going through. Then the record is empty
(section "Workflow Compensation").

A workflow's timeout may break undoing off. If the states that run before the end ask for compensation again, it goes on
where it was: in the middle of a chain, and of the actions of a state, on the data as they are by then.

Undoing is not recursive: what the states that undo say of ends, and of compensation on their way, is ignored.
"""

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.execution.frames import UndoingFrame, WalkFrame, forget_deadlines
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.model.states import End, Transition
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.semantics import FIRST_SEMANTICS


async def compensate(data: JSON, lane: Lane[UndoingFrame]) -> JSON:
    """Undo all that is in the record and return the data as it is then."""
    execution = lane.execution
    if execution.undoing:
        return data
    execution.undoing = True
    try:
        return await _undo(data, lane)
    finally:
        execution.undoing = False


def while_undoing(leaving: Transition | End) -> Transition | End:
    """Return how a state that undoes is left: an end of it only ends the chain."""
    return End() if isinstance(leaving, End) else leaving


async def _undo(data: JSON, lane: Lane[UndoingFrame]) -> JSON:
    execution = lane.execution
    frame = lane.frame.setdefault("compensation", {})
    if frame.get("done"):
        return frame["data"]
    data = frame.get("data", data)
    while execution.compensation_log:
        state = execution.compensation_log[-1]
        scope, name = execution.program.locate(state)
        first = scope.state(name).compensated_by
        if first is not None:
            if "walk" not in frame and (begun := _broken_off(data, lane)) is not None:
                frame["walk"] = begun
            if "walk" not in frame:
                lane.emit(TraceKind.COMPENSATING, state, by=first)
            ended = await execution.walk(first, data, frame.setdefault("walk", {}), scope)
            data = ended.data
        execution.compensation_log.pop()
        frame.pop("walk", None)
        frame["data"] = data
    frame["done"], frame["data"] = True, data
    return data


def _broken_off(data: JSON, lane: Lane) -> WalkFrame | None:
    """Return the progress of the chain that the workflow's timeout broke off, to go on with *data*, if there is one."""
    execution = lane.execution
    if execution.semantics == FIRST_SEMANTICS or not execution.is_expired:
        return None
    broken_off = execution.frame.get("walk", {}).get("run", {}).get("compensation", {})
    walk = broken_off.pop("walk", None)
    if walk is None:
        return None
    # While it did not run, its time did not either.
    forget_deadlines(walk)
    walk["data"] = data
    body = walk.get("run", {}).get("body", {})
    if "data" in body:
        body["data"] = data
    return walk
