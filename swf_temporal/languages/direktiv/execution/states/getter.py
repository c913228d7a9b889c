"""The `getter` state: loads variables, which stand under `var`."""

from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.frames import GetterBody
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.execution.variables import value_of
from swf_temporal.languages.direktiv.model.states import GetterState


async def run(state: GetterState, body: GetterBody, lane: Lane) -> StateExit:
    """Load the variables, one after the other."""
    for one in state.variables[len(body.found) :]:
        lane.run.checkpoint()
        body.found[one.as_ or one.key] = await value_of(one.scope, one.key, lane)
    return StateExit(with_result(lane.data, "var", dict(body.found)), state.transform, state.transition)
