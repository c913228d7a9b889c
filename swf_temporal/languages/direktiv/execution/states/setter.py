"""The `setter` state: stores variables."""

from swf_temporal.languages.direktiv.execution.frames import SetterBody
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.execution.variables import store, variable_of
from swf_temporal.languages.direktiv.model.states import SetterState


async def run(state: SetterState, body: SetterBody, lane: Lane) -> StateExit:
    """Store the variables, one after the other."""
    for one in state.variables[body.stored :]:
        lane.run.checkpoint()
        value = await lane.evaluate(one.value, lane.data)
        await store(one.scope, one.key, variable_of(value, one.mime_type, lane.execution.program.compat), lane)
        body.stored += 1
    return StateExit(lane.data, state.transform, state.transition)
