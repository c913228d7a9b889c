"""The `parallel` state: several calls at once."""

from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.calls import perform
from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.frames import ActionFrame, ParallelBody
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import ParallelState
from swf_temporal.runtime.joining import MISSING, Path, join


async def run(state: ParallelState, body: ParallelBody, lane: Lane) -> StateExit:
    """Wait for all calls or, in the mode `or`, for the first that succeeds; the others are ended then."""
    if state.mode == "and":
        results = await join([_call(i, state, body, lane) for i in range(len(state.actions))])
    else:
        results = await join([_contender(i, state, body, lane) for i in range(len(state.actions))], need=1)
        if len(body.failed) == len(state.actions):
            raise codes.fault(codes.ALL_FAILED, "all branches failed")
    values: list[JSON] = [None if one is MISSING else one for one in results]
    return StateExit(with_result(lane.data, "return", values), state.transform, state.transition)


def _call(index: int, state: ParallelState, body: ParallelBody, lane: Lane) -> Path[JSON]:
    frame = body.actions.setdefault(index, ActionFrame())
    return lambda: perform(state.actions[index], frame, lane.child(str(index)))


def _contender(index: int, state: ParallelState, body: ParallelBody, lane: Lane) -> Path[JSON]:
    """Return the path of one call in the mode `or`: one that fails waits for the others, unless it is the last."""
    call = _call(index, state, body, lane)

    async def path() -> JSON:
        if index not in body.failed:
            try:
                return await call()
            except WorkflowFault as fault:
                if not fault.catchable:
                    raise
                body.failed.append(index)
        if len(body.failed) < len(state.actions):
            await lane.run.inbox.wait(lambda _: False)
        return None

    return path
