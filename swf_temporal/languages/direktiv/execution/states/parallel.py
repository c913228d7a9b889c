"""The `parallel` state: several calls at once."""

from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.calls import perform
from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import Leaving
from swf_temporal.languages.direktiv.model.states import Action, ParallelState
from swf_temporal.runtime.joining import MISSING, Path, join


async def run(state: ParallelState, lane: Lane) -> Leaving:
    """Wait for all calls or, in the mode `or`, for the first that succeeds; the others are ended then."""
    if state.mode == "and":
        results = await join([_call(action, lane.child(str(i), lane.data)) for i, action in enumerate(state.actions)])
    else:
        results = await join([_contender(i, state, lane) for i in range(len(state.actions))], need=1)
        if len(_failed(lane)) == len(state.actions):
            raise codes.fault(codes.ALL_FAILED, "all branches failed")
    values: list[JSON] = [None if one is MISSING else one for one in results]
    return Leaving(with_result(lane.data, "return", values), state.transform, state.transition)


def _call(action: Action, lane: Lane) -> Path[JSON]:
    return lambda: perform(action, lane)


def _contender(index: int, state: ParallelState, lane: Lane) -> Path[JSON]:
    """Return the path of one call in the mode `or`: one that fails waits for the others, unless it is the last."""
    own = lane.child(str(index), lane.data)

    async def path() -> JSON:
        failed = _failed(lane)
        if index not in failed:
            try:
                return await perform(state.actions[index], own)
            except WorkflowFault as fault:
                if not fault.catchable:
                    raise
                failed.append(index)
        if len(failed) < len(state.actions):
            await lane.run.inbox.wait(lambda _: False)
        return None

    return path


def _failed(lane: Lane) -> list[int]:
    failed: list[int] = lane.frame.setdefault("failed", [])
    return failed
