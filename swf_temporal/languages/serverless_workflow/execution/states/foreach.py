"""Foreach: runs actions for each element of an array (section "ForEach State").

Every iteration sees the state's data and the element: as a field of the data and as a variable, both with the name of
the iteration parameter. With an outputCollection, the result of each iteration (from its last action with a result, or
else null) is appended to it, in the order of the input. Without one, the results of all their actions are merged as any
action's results are.
"""

from typing import Any

from swf_temporal.base.data import JSON, change_at
from swf_temporal.base.errors import WrongData
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.actions import name_of, run_sequence
from swf_temporal.languages.serverless_workflow.execution.frames import (
    ActionResult,
    ForeachBody,
    ForeachFront,
    PartFrame,
)
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.parameters import describe_value
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.runtime.iterations import MAX_AT_ONCE, Iterations, begin_front
from swf_temporal.runtime.progress import Value


async def run(state: ForeachState, data: JSON, lane: Lane[ForeachBody]) -> Step:
    """Run the state's actions for each element, with the concurrency that its mode and batchSize allow."""
    items = await _collection(state, data, lane)
    if state.output_collection is not None:
        # Fail before anything runs whose results could not be stored.
        await _check_output(state.output_collection, data, lane)
    window = 1 if state.mode == "sequential" else await _window(state, data, lane)
    iterations = _Iterations(state, items, data, lane, one_at_a_time=window == 1)
    return Step(await iterations.run(window))


class _Iterations:
    def __init__(
        self, state: ForeachState, items: list[JSON], data: JSON, lane: Lane[ForeachBody], *, one_at_a_time: bool
    ) -> None:
        self._state = state
        self._items = items
        self._data = data
        self._lane = lane
        self._flow = lane.program.data_flow
        self._timeout = lane.program.timeouts(state).action_exec_timeout
        self._turns = _IterationSchedule(state, data, one_at_a_time=one_at_a_time)
        self._keeps_outputs = state.output_collection is not None or state.scope is not None
        self._front = front = self._begun()
        self._folding = self._flow.folding(data if front.data is None else front.data.value, lane)

    def _begun(self) -> ForeachFront:
        """Return the front; create it if necessary."""
        lane, state = self._lane, self._state
        if lane.frame.front is None:
            calls = max(1, len(state.actions))
            lane.frame.front = begin_front(ForeachFront, len(self._items), lane, calls)
            lane.frame.front.in_turn = state.mode == "sequential" and not self._keeps_outputs
        return lane.frame.front

    async def run(self, window: int) -> JSON:
        """Run the iterations, and return the state's data with their results."""
        lane, state, front = self._lane, self._state, self._front
        self._turns.go_on(front, lane.frame.iterations)
        await Iterations(
            lane,
            front,
            lane.frame.iterations,
            run_one=self._one,
            is_complete=lambda part: part.done,
            keep=self._keep,
            calls=None if state.scope is not None else {name_of(action) for action in state.actions},
        ).run(
            window=window,
            passed_over=self._passed_over,
            # A condition sees all outputs after each iteration: then they must stay together.
            hands_over=self._keeps_outputs and state.until is None,
        )
        if not self._keeps_outputs:
            return self._folding.data
        return await self._with_outputs(await front.all_outputs(lane.run.host))

    def _keep(self, part: PartFrame) -> None:
        """Move the result of an iteration into the front."""
        if not self._keeps_outputs:
            for effect in part.effects:
                self._merge(effect)
        elif part.output is not None:
            self._front.outputs.append(part.output.value)

    def _merge(self, effect: ActionResult) -> None:
        """Merge the result of an action into the state's data."""
        self._folding.apply(effect if self._data != {} else _beside_element(effect))
        self._front.data = Value(self._folding.data)

    async def _with_outputs(self, outputs: list[JSON]) -> JSON:
        if self._state.output_collection is not None:
            return await _appended(outputs, self._state.output_collection, self._data, self._lane)
        return await self._flow.with_outputs(self._state, outputs, self._data, self._lane)

    def _passed_over(self, _: int) -> PartFrame | None:
        return PartFrame(done=True) if self._turns.are_over else None

    async def _one(self, index: int) -> None:
        """Run one iteration, unless it is complete."""
        if self._state.scope is not None:
            await self._scope(index)
            return
        own = self._own(index)
        effects = own.frame.effects
        if not own.frame.done:
            seen = await self._flow.iteration_input(self._state, self._items[index], self._data, own)
            # In sequential mode, each result is merged as soon as it is available.
            merge = self._merge if self._front.in_turn else None
            await run_sequence(self._state.actions, seen, own, self._timeout, effects, merge)
            if self._state.output_collection is not None:
                done = PartFrame(output=_output_of(effects), done=True)
            else:
                done = PartFrame(effects=effects if merge is None else [], done=True)
            self._lane.frame.iterations[index] = done

    async def _scope(self, index: int) -> None:
        lane, state, turns = self._lane, self._state, self._turns
        if turns.are_over:
            return
        own = self._own(index)
        if own.frame.output is None:
            await turns.wait(index, own, lane)
            seen = await self._flow.iteration_input(state, self._items[index], self._data, own)
            output = await own.run_scope(lane.state_path, seen)
            lane.frame.iterations[index] = PartFrame(output=Value(output), done=True)
        else:
            output = own.frame.output.value
        await turns.note(output, own)

    def _own(self, index: int) -> Lane[PartFrame]:
        lane = self._lane
        variables = {self._state.iteration_param: self._items[index]}
        frame = lane.frame.iterations.setdefault(index, PartFrame())
        return lane.child(frame, f"{lane.path}[{index}]", variables=variables)


def _output_of(effects: list[ActionResult]) -> Value:
    """Return the element that an iteration appends to the output collection: the result of its last action with one."""
    return Value(next((effect.value for effect in reversed(effects) if effect.value is not None), None))


def _beside_element(effect: ActionResult) -> ActionResult:
    """Return *effect* as merged in the iteration, whose data was not `{}` as the state's is: it had the element."""
    if effect.path is not None or effect.value is None or isinstance(effect.value, dict):
        return effect
    return ActionResult(["response"], effect.value)


class _IterationSchedule:
    """The schedule of a state's iterations: when each begins, if there is a pause, and which is the last."""

    def __init__(self, state: ForeachState, data: JSON, *, one_at_a_time: bool) -> None:
        self._state = state
        self._pause = state.pause
        self._data = data
        self._one_at_a_time = one_at_a_time
        self._outputs: list[JSON] = []
        self._front = ForeachFront(0)
        self.are_over = False
        """Whether no further iteration begins."""

    def go_on(self, front: ForeachFront, iterations: dict[int, PartFrame]) -> None:
        """Resume the state with the progress in *front* and *iterations*."""
        self._front = front
        self.are_over = front.over
        if self._state.until is not None:
            behind = (iterations[index].output for index in sorted(iterations))
            self._outputs = [*front.outputs, *(output.value for output in behind if output is not None)]

    async def note(self, output: JSON, own: Lane[PartFrame]) -> None:
        """Record the *output* of an iteration, and whether the state is complete after it.

        The condition sees the state's data, the collection with the outputs so far, and on top the fields of this one.
        """
        state = self._state
        if state.until is None:
            return
        self._outputs.append(output)
        seen = self._data
        if state.output_collection is not None:
            seen = await _appended(self._outputs, state.output_collection, seen, own)
        if isinstance(output, dict):
            seen = {**(seen if isinstance(seen, dict) else {}), **output}
        self.are_over = self._front.over = await own.holds(state.until, seen)

    async def wait(self, index: int, own: Lane[PartFrame], lane: Lane[ForeachBody]) -> None:
        """Wait until the iteration *index* of *lane*, the next in turn, begins."""
        if self._pause is None:
            return
        begin = own.frame.before
        if begin is None:
            now, length = lane.run.time(), (await lane.duration(self._pause, self._data)).total_seconds()
            last = now if self._one_at_a_time or lane.frame.begun is None else lane.frame.begun
            begin = max(now, last + length) if index else now
            own.frame.before = lane.frame.begun = begin
        await lane.sleep_until(begin, "sleep before", f"iteration {index + 1}")


async def _collection(state: ForeachState, data: JSON, lane: Lane) -> list[JSON]:
    """Return the elements: those of an array, or else the selected values themselves."""
    items = await lane.elements(lane.program.expressions.expression(state.input_collection), data)
    if items is NOTHING and lane.program.expressions.is_jq:
        return []
    if items is None or items is NOTHING:  # a path that finds nothing is an error
        found = "null" if items is None else "nothing"
        raise lane.locate(WrongData(f"inputCollection {state.input_collection!r} of {state.name!r} yields {found}"))
    return items if isinstance(items, list) else [items]


async def _window(state: ForeachState, data: JSON, lane: Lane) -> int:
    size: Any = state.batch_size
    if isinstance(size, str):
        size = await lane.fill(size, data)
        if isinstance(size, str) and size.strip().isdigit():
            size = int(size)
    if size is None or size == 0:
        return MAX_AT_ONCE
    if not isinstance(size, int | float) or isinstance(size, bool) or size < 1 or size != int(size):
        raise lane.locate(WrongData(f"batchSize of {state.name!r} is {size!r}, which is not a count"))
    return min(int(size), MAX_AT_ONCE)


async def _check_output(target: str, data: JSON, lane: Lane) -> None:
    """Raise WrongData if the output collection would replace existing data."""
    present: Any = data
    for step in await lane.target(target, data):
        kind: Any = dict if isinstance(step, str) else list
        if present is not None and not isinstance(present, kind):
            needed = "an object" if kind is dict else "an array"
            raise lane.locate(_in_the_way(target, f"{describe_value(present)} stands where {needed} is needed"))
        try:
            present = None if present is None else present[step]
        except (KeyError, IndexError):
            return
    if present is not None and not isinstance(present, list):
        raise lane.locate(_in_the_way(target, f"{describe_value(present)} already exists, and is not an array"))


def _in_the_way(target: str, what: str) -> WrongData:
    return WrongData(f"nothing can be appended to outputCollection {target!r}: {what}")


async def _appended(results: list[JSON], target: str, data: JSON, lane: Lane) -> JSON:
    is_replaced = lane.program.workflow.language_version.data_flow is DataFlowKind.REPLACING

    def appended(present: JSON) -> JSON:
        if is_replaced:
            return results
        # Appended and not merged: merging would drop duplicate results.
        return [*present, *results] if isinstance(present, list) else results

    path = await lane.target(target, data)
    try:
        return change_at(data, path, appended)
    except IndexError as error:
        raise lane.locate(WrongData(f"outputCollection refers to the element {error}, which does not exist")) from None
