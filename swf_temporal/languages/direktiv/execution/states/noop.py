"""The `noop` state: nothing but what every state does."""

from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import NoopState


async def run(state: NoopState, lane: Lane) -> StateExit:
    return StateExit(lane.data, state.transform, state.transition)
