"""The `switch` state: the first condition that is met decides where to go on."""

from swf_temporal.base.data import JSON
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import SwitchState


async def run(state: SwitchState, lane: Lane) -> StateExit:
    """Return the way of the first condition that is met, or the default."""
    for one in state.conditions:
        await lane.run.pacing.give_way()
        if is_met(await lane.evaluate(one.condition, lane.data)):
            return StateExit(lane.data, one.transform, one.transition)
    return StateExit(lane.data, state.default_transform, state.default_transition)


def is_met(value: JSON) -> bool:
    """Tell whether a condition with this value is met: anything but null, false, 0, and what is empty."""
    return not (value is None or value is False or value in ("", [], {}) or value == 0)
