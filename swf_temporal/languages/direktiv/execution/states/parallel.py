"""The `parallel` state: several calls at once."""

from swf_temporal.base.data import JSON
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.calls import perform
from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.frames import ActionFrame, ParallelBody
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import ParallelState
from swf_temporal.runtime.branches import first_to_succeed
from swf_temporal.runtime.joining import MISSING, Path, join


async def run(state: ParallelState, body: ParallelBody, lane: Lane) -> StateExit:
    """Wait for all calls or, in the mode `or`, for the first that succeeds; the others are ended then."""
    paths = [_call(index, state, body, lane) for index in range(len(state.actions))]
    if state.mode == "and":
        results = await join(paths)
    else:
        results = await first_to_succeed(
            paths, body.failed, lane, lambda: codes.fault(codes.ALL_FAILED, "all branches failed")
        )
    values: list[JSON] = [None if one is MISSING else one for one in results]
    return StateExit(with_result(lane.data, "return", values), state.transform, state.transition)


def _call(index: int, state: ParallelState, body: ParallelBody, lane: Lane) -> Path[JSON]:
    frame = body.actions.setdefault(index, ActionFrame())
    return lambda: perform(state.actions[index], frame, lane.child(str(index)))
