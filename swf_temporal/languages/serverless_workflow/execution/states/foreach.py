"""Foreach: runs actions for each element of an array (section "ForEach State").

Every iteration sees the state's data and the element: as a field of the data and as a variable, both by the name of
the iteration parameter. With an outputCollection the results of the iterations, which are those of the last actions
that they ran, are appended to it in the order of the input: one for each element, null where there is none. Without
one the results of all their actions are merged as any action's results are.
"""

from typing import Any

from swf_temporal.data import JSON, change_at
from swf_temporal.errors import WrongData
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.actions import apply, run_sequence
from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionResult,
    BodyFrame,
    IterationFrame,
    iteration,
    keep_result,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.execution.wording import describe_value
from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.runtime.joining import MISSING, Missing, Path, join
from swf_temporal.runtime.semantics import FIRST_SEMANTICS

MAX_AT_ONCE = 1000
"""The number of iterations that run at once where there is no batchSize: what an engine can hold, with room."""


async def run(state: ForeachState, data: JSON, lane: Lane[BodyFrame]) -> Step:
    """Run the state's actions for each element, as many at once as its mode and batchSize allow."""
    items = _collection(state, data, lane)
    if state.output_collection is not None and lane.semantics > FIRST_SEMANTICS:
        # Before anything is done whose results would have no place.
        _check_output(state.output_collection, data, lane)
    window = 1 if state.mode == "sequential" else _window(state, data, lane)
    if state.scope is not None:
        turns = _Turns(state, data, one_at_a_time=window == 1)
        scopes = [_scope(state, index, item, data, lane, turns) for index, item in enumerate(items)]
        found = [output for output in await join(scopes, window=window) if output is not MISSING]
        if state.output_collection is not None:
            return Step(_appended(found, state.output_collection, data, lane))
        return Step(lane.program.data_flow.with_outputs(state, found, data, lane))
    paths = [_iteration(state, index, item, data, lane) for index, item in enumerate(items)]
    results = [effects for effects in await join(paths, window=window) if effects is not MISSING]
    if state.output_collection is None:
        for effects in results:
            for effect in effects:
                data = apply(effect, data, lane)
        return Step(data)
    outputs = [effects[-1][1] if effects else None for effects in results]
    return Step(_appended(outputs, state.output_collection, data, lane))


def _iteration(
    state: ForeachState, index: int, item: JSON, data: JSON, lane: Lane[BodyFrame]
) -> Path[list[ActionResult]]:
    timeout = lane.program.timeouts(state).action_exec_timeout

    async def path() -> list[ActionResult]:
        param = state.iteration_param
        own = lane.child(iteration(lane.frame, index), f"{lane.path}[{index}]", variables={param: item})
        frame = own.frame
        if "done" not in frame:
            seen = lane.program.data_flow.iteration_input(state, item, data, own)
            effects = frame.setdefault("effects", [])
            await run_sequence(state.actions, seen, own, timeout, effects)
            keep_result(frame, {"effects": effects, "done": True})
        return frame["effects"]

    return path


def _scope(
    state: ForeachState, index: int, item: JSON, data: JSON, lane: Lane[BodyFrame], turns: "_Turns"
) -> Path[JSON | Missing]:
    async def path() -> JSON | Missing:
        if turns.are_over:
            return MISSING
        variables = {state.iteration_param: item}
        own = lane.child(iteration(lane.frame, index), f"{lane.path}[{index}]", variables=variables)
        if "done" not in own.frame:
            await turns.wait(index, own, lane)
            seen = lane.program.data_flow.iteration_input(state, item, data, own)
            output = await own.run_scope(lane.state_path, seen)
            keep_result(own.frame, {"output": output, "done": True})
        turns.note(own.frame["output"], own)
        return own.frame["output"]

    return path


class _Turns:
    """When the iterations of a state begin, if it has a pause between them, and which of them is the last."""

    def __init__(self, state: ForeachState, data: JSON, *, one_at_a_time: bool) -> None:
        self._state = state
        self._pause = state.pause
        self._data = data
        self._one_at_a_time = one_at_a_time
        self._outputs: list[JSON] = []
        self.are_over = False
        """Whether no further iteration begins."""

    def note(self, output: JSON, own: Lane[IterationFrame]) -> None:
        """Note what an iteration came to, after which the state may be complete.

        The condition sees the state's data, the collection with what there is so far, and over them the fields of this
        output. It is asked again where a run goes on, and answers as before.
        """
        state = self._state
        self._outputs.append(output)
        if state.until is None:
            return
        seen = self._data
        if state.output_collection is not None:
            seen = _appended(self._outputs, state.output_collection, seen, own)
        if isinstance(output, dict):
            seen = {**(seen if isinstance(seen, dict) else {}), **output}
        self.are_over = own.holds(state.until, seen)

    async def wait(self, index: int, own: Lane[IterationFrame], lane: Lane[BodyFrame]) -> None:
        """Wait until the iteration *index* of *lane* begins, whose turn it is now."""
        if self._pause is None:
            return
        begin = own.frame.get("before")
        if begin is None:
            now, length = lane.run.time(), lane.duration(self._pause, self._data).total_seconds()
            last = now if self._one_at_a_time else lane.frame.get("begun", now)
            begin = own.frame["before"] = max(now, last + length) if index else now
            lane.frame["begun"] = begin
        await lane.run.sleep_until(begin, f"before iteration {index + 1} of {lane.state_path}")


def _collection(state: ForeachState, data: JSON, lane: Lane) -> list[JSON]:
    items = lane.evaluate(lane.program.expressions.expression(state.input_collection), data)
    if not isinstance(items, list):
        found = "nothing" if items is NOTHING else describe_value(items)
        raise lane.locate(
            WrongData(f"inputCollection {state.input_collection!r} of {state.name!r} yields {found}, not an array")
        )
    return items


def _window(state: ForeachState, data: JSON, lane: Lane) -> int:
    size: Any = state.batch_size
    if isinstance(size, str):
        size = lane.fill(size, data)
        if isinstance(size, str) and size.strip().isdigit():
            size = int(size)
    if size is None or size == 0:
        return MAX_AT_ONCE
    if not isinstance(size, int | float) or isinstance(size, bool) or size < 1 or size != int(size):
        raise lane.locate(WrongData(f"batchSize of {state.name!r} is {size!r}, which is not a count"))
    return min(int(size), MAX_AT_ONCE)


def _check_output(target: str, data: JSON, lane: Lane) -> None:
    """Raise WrongData where something stands in the way of the output collection: to replace it would lose data."""
    present: Any = data
    for step in lane.target(target, data):
        kind: Any = dict if isinstance(step, str) else list
        if present is not None and not isinstance(present, kind):
            needed = "an object" if kind is dict else "an array"
            raise lane.locate(_in_the_way(target, f"{describe_value(present)} stands where {needed} is needed"))
        try:
            present = None if present is None else present[step]
        except (KeyError, IndexError):
            return
    if present is not None and not isinstance(present, list):
        raise lane.locate(_in_the_way(target, f"{describe_value(present)} is there already, not an array"))


def _in_the_way(target: str, what: str) -> WrongData:
    return WrongData(f"nothing can be appended to outputCollection {target!r}: {what}")


def _appended(results: list[JSON], target: str, data: JSON, lane: Lane) -> JSON:
    def appended(present: JSON) -> JSON:
        # Not merged: merging would drop results that are equal to others.
        return [*present, *results] if isinstance(present, list) else results

    path = lane.target(target, data)
    try:
        # What is in the way is replaced in runs that began with the first semantics; others have refused it before.
        return change_at(data, path, appended, replaces_parents=True)
    except IndexError as error:
        raise lane.locate(WrongData(f"outputCollection names the element {error}, which is not there")) from None
