"""How is what was done undone?

Every completed execution of a state that names a `compensatedBy` state goes into the record. When a transition or
an end asks for compensation, they are undone in reverse order: for each, the chain of states that begins with its
compensatedBy state runs to its end, the current data going through. Then the record is empty
(section "Workflow Compensation").
"""

from swf_temporal.data import JSON
from swf_temporal.interpreter.host import Happening
from swf_temporal.interpreter.lane import Lane


async def compensate(data: JSON, lane: Lane) -> JSON:
    """Undo all that is in the record and return the data as it is then."""
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
            ended = await interpretation.walk(first, data, frame.setdefault("walk", {}), recording=False)
            data = ended.data
        interpretation.record.pop()
        frame.pop("walk", None)
        frame["data"] = data
    frame["done"], frame["data"] = True, data
    return data
