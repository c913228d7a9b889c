"""The `foreach` state: one call for each element of an array, all at once."""

from swf_temporal.base.data import JSON
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.execution.calls import perform
from swf_temporal.languages.direktiv.execution.data import with_result
from swf_temporal.languages.direktiv.execution.frames import ActionFrame, ForeachBody, StateFrame
from swf_temporal.languages.direktiv.execution.lane import Lane, not_object
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import ForeachState
from swf_temporal.runtime.iterations import Iterations, begin_front
from swf_temporal.runtime.outputs import Front


async def run(state: ForeachState, frame: StateFrame, lane: Lane) -> StateExit:
    """Make the calls; the first that fails fails the state, and ends the others."""
    values = await _in_turn(state, await _elements(state, frame, lane), frame, lane)
    return StateExit(with_result(lane.data, "return", values), state.transform, state.transition)


async def _in_turn(state: ForeachState, elements: list[JSON], frame: StateFrame, lane: Lane) -> list[JSON]:
    """Return the results of the calls. Of those that are complete from the first on, only these are kept."""
    if not isinstance(frame.body, ForeachBody):
        frame.body = ForeachBody(begin_front(Front, len(elements), lane))
    front, actions = frame.body.front, frame.body.actions

    async def run_one(index: int) -> None:
        action = actions.setdefault(index, ActionFrame())
        await perform(state.action, action, lane.iteration(index, elements[index]))

    def keep(action: ActionFrame) -> None:
        assert action.result is not None  # noqa: S101 - it is complete
        front.outputs.append(action.result.value)

    await Iterations(
        lane,
        front,
        actions,
        run_one=run_one,
        is_complete=lambda action: action.result is not None,
        keep=keep,
        calls={state.action.function},
    ).run()
    return await front.all_outputs(lane.run.host)


async def _elements(state: ForeachState, frame: StateFrame, lane: Lane) -> list[JSON]:
    """Return the elements, which are the same in each execution of the run: the time is that of the state's begin."""
    elements = await _given(state, frame.since, lane)
    if not isinstance(elements, list):
        raise codes.fault(codes.BAD_ARRAY, "jq returned a value that is not an array")
    for index, element in enumerate(elements):
        if not isinstance(element, dict):
            raise not_object(f"element {index} of the array is not an object")
    return elements


async def _given(state: ForeachState, since: float, lane: Lane) -> JSON:
    match lane.execution.program.compat.array:
        case "results":
            return await lane.results(state.array, lane.data, since)
        case "one":
            return await lane.evaluate(state.array, lane.data, since)
        case "any":
            results = await lane.results(state.array, lane.data, since)
            # A query with several results, such as .list[], yields the elements themselves.
            return results if len(results) > 1 else results[0]
