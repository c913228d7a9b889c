"""How is what was done undone?

Every completed execution of a state that names a `compensatedBy` state goes into the record. When a transition or
an end asks for compensation, they are undone in reverse order: for each, the chain of states that begins with its
compensatedBy state runs to its end, the current data going through. Then the record is empty
(section "Workflow Compensation").

Undoing is not recursive: what the states that undo say of ends, and of compensation on their way, is ignored.
"""

from swf_temporal.data import JSON
from swf_temporal.interpreter.host import Happening
from swf_temporal.interpreter.lane import Lane
from swf_temporal.model.states import End, Transition


async def compensate(data: JSON, lane: Lane) -> JSON:
    """Undo all that is in the record and return the data as it is then."""
    interpretation = lane.interpretation
    if interpretation.undoing:
        return data
    interpretation.undoing = True
    try:
        return await _undo(data, lane)
    finally:
        interpretation.undoing = False


def while_undoing(leaving: Transition | End) -> Transition | End:
    """Return how a state that undoes is left: an end of it only ends the chain."""
    return End() if isinstance(leaving, End) else leaving


async def _undo(data: JSON, lane: Lane) -> JSON:
    interpretation = lane.interpretation
    frame = lane.frame.setdefault("compensation", {})
    if frame.get("done"):
        done: JSON = frame["data"]
        return done
    data = frame.get("data", data)
    while interpretation.record:
        state = interpretation.record[-1]
        first = interpretation.program.state(state).compensated_by
        if first is not None:
            if "walk" not in frame:
                lane.note(Happening.COMPENSATING, state, by=first)
            ended = await interpretation.walk(first, data, frame.setdefault("walk", {}))
            data = ended.data
        interpretation.record.pop()
        frame.pop("walk", None)
        frame["data"] = data
    frame["done"], frame["data"] = True, data
    return data
