"""Data flow in the drafts: as a pipeline in November 2019, and under the last keys of paths in May 2020.

In May 2020, what a path selects goes into the data under the last key of the path. The text says that it is merged, and
its examples show where: `$.payload.greeting` puts a greeting under `greeting`. A path that selects nothing does not
filter; the whole value then goes to the place that the path names, where later states read it. Injected texts are
appended to existing ones; other values replace existing ones (section "Workflow Data").
"""

from collections.abc import Callable, Sequence

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, Merger, add_result, identity, merge, put_at
from swf_temporal.base.errors import WorkflowFault, WrongData
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.error_data import error_of, public
from swf_temporal.languages.serverless_workflow.execution.frames import ActionResult
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.model.actions import Action, EventDataFilter
from swf_temporal.languages.serverless_workflow.model.states import (
    ForeachState,
    InjectState,
    OnError,
    State,
    SwitchState,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Event


class OneByOne:
    """Applies each effect to the data that results from the one before."""

    def __init__(self, apply: Callable[[ActionResult, JSON, Lane], JSON], data: JSON, lane: Lane) -> None:
        self._apply = apply
        self._lane = lane
        self.data = data
        """The data with everything applied so far."""

    def apply(self, effect: ActionResult) -> None:
        self.data = self._apply(effect, self.data, self._lane)


class LastKeys:
    """Data flow as in May 2020: what a path selects is put under the last key of the path."""

    async def with_injected(self, state: InjectState, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Add the state's data, which are literal."""
        return _added(data, state.data)

    async def state_input(self, state: State, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's path selects; all of it if that is nothing."""
        given = state.state_data_filter
        return data if given is None else (await _selected(given.input, data, lane))[1]

    async def state_output(self, state: State, given: JSON, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Return what the filter's path selects; all of it if that is nothing.

        A later state reads it by the path's last key, so a value that is not an object is put under that key, except in
        the output of the workflow itself.
        """
        leads_on = state.transition is not None or isinstance(state, SwitchState)
        return await _output(state, data, lane, leads_on=leads_on or lane.branch is not None)

    async def action_input(self, action: Action, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's path selects; all of it if that is nothing."""
        given = action.action_data_filter
        return data if given is None else (await _selected(given.from_state_data, data, lane))[1]

    async def action_result(self, action: Action, result: JSON, data: JSON, lane: Lane) -> ActionResult:  # noqa: ARG002 - used by other data flows
        """Return what the filter's path selects of *result*, and its place; without a path the whole, and no place."""
        given = action.action_data_filter
        if given is None or given.results is None or result is None:
            return ActionResult(value=result)
        place, value = await _selected(given.results, result, lane)
        return ActionResult(place, _single_element(value, given.results, lane))

    def apply(self, effect: ActionResult, data: JSON, lane: Lane) -> JSON:
        """Merge a value into the data, under a key if there is one."""
        path, value = effect.path, effect.value
        if value is None:
            return data
        if path is None:
            return add_result(data, value)
        given = lane.state.state_data_filter
        if not isinstance(data, dict) and given is not None and isinstance(given.input, str):
            # What was selected of the state's input is kept beside the value.
            data = {_path(given.input, lane).last_key or "data": data}
        return lane.merged_at(path, value, data)

    async def with_event(
        self, definition: Event, event: CloudEvent, given: EventDataFilter | None, data: JSON, lane: Lane
    ) -> JSON:
        """Merge the payload, or what the filter's path selects of it or of the event.

        The correlation attribute is added under its name, too, so that actions can be called with it.
        """
        if given is None or given.data is None:
            data = data if event.data is None else add_result(data, event.data)
        else:
            whole: JSON = event.to_json()
            place, value = await _selected(given.data, whole, lane, first=event.data)
            data = self.apply(ActionResult(place, _single_element(value, given.data, lane)), data, lane)
        for rule in definition.correlation:
            value = event.attribute(rule.context_attribute_name)
            if value is not None and isinstance(data, dict):
                data = {**data, rule.context_attribute_name: value}
        return data

    def folding(self, data: JSON, lane: Lane) -> OneByOne:
        """Return an object that applies effects one by one."""
        return OneByOne(self.apply, data, lane)

    def apply_all(self, effects: Sequence[ActionResult], data: JSON, lane: Lane) -> JSON:
        """Merge the results of actions, one after the other."""
        for effect in effects:
            data = self.apply(effect, data, lane)
        return data

    async def with_error(self, entry: OnError | None, fault: WorkflowFault, data: JSON, lane: Lane) -> JSON:
        """Put the error into the data as `error`, or the part that the entry's path selects under its last key."""
        error = error_of(fault, lane.program.state_word)
        known: JSON = {**error, "error": error, "exception": error}
        leads_on = entry is not None and entry.transition is not None
        place: Sequence[str | int] = ["error"]
        value: JSON = error
        if entry is not None and entry.data is not None:
            path = _path(entry.data, lane)
            found = path.found(known) or path.found(error.get("body"))
            place = _place(path, is_found=bool(found)) or place
            value = (found[0] if len(found) == 1 else found) if found else error
        return await _output(lane.state, await _put(data, place, value, lane), lane, leads_on=leads_on)

    async def iteration_input(self, state: ForeachState, item: JSON, data: JSON, lane: Lane) -> JSON:
        """Return the data with the element at the path that the iteration parameter names."""
        return await _put(data, await lane.target(state.iteration_param, data), item, lane)

    async def with_outputs(self, state: State, outputs: Sequence[JSON], data: JSON, lane: Lane) -> JSON:
        """Merge the changes of branches or iterations into the data, one after the other."""
        merger = Merger(data)
        for output in outputs:
            if isinstance(state, ForeachState):
                changes = _changes(data, await self._without_element(state, output, data, lane))
            else:
                changes = _changes(data, output)
            merger.add_result(changes)
        return merger.data

    async def _without_element(self, state: ForeachState, output: JSON, data: JSON, lane: Lane) -> JSON:
        key = str((await lane.target(state.iteration_param, data))[0])
        if not isinstance(output, dict):
            return output
        return {name: value for name, value in output.items() if name != key}


def _path(text: str, lane: Lane) -> EarlyPath:
    compiled = lane.program.expressions.expression(text)
    assert isinstance(compiled, EarlyPath)  # noqa: S101 - this draft has no expressions but paths
    return compiled


async def _selected(text: JSON, data: JSON, lane: Lane, *, first: JSON = None) -> tuple[list[str | int] | None, JSON]:
    """Return the place and the value of what the path *text* selects from *first*, or else from *data*, or else all."""
    if not isinstance(text, str):
        return None, data
    lane.run.pacing.charge()
    path = _path(text, lane)
    found = (path.found(first) if first is not None else []) or path.found(data)
    place = _place(path, is_found=bool(found))
    if not found:
        return place, data
    return place, found[0] if path.is_singular else found


def _place(path: EarlyPath, *, is_found: bool) -> list[str | int] | None:
    """Return the place for the value that *path* finds, or for the whole if it finds nothing; None if it has no key."""
    steps = path.steps
    if not is_found and steps and all(isinstance(step, str) for step in steps):
        return steps
    return None if path.last_key is None else [path.last_key]


def _single_element(value: JSON, text: JSON, lane: Lane) -> JSON:
    """Return the only element if the path *text*, which may find several, has found one."""
    if isinstance(text, str) and not _path(text, lane).is_singular and isinstance(value, list) and len(value) == 1:
        return value[0]
    return value


async def _output(state: State, data: JSON, lane: Lane, *, leads_on: bool) -> JSON:
    given = state.state_data_filter
    if given is None or given.output is None:
        return data
    place, value = await _selected(given.output, data, lane)
    return {str(place[-1]): value} if leads_on and place and not isinstance(value, dict) else value


def _added(data: JSON, addition: JSON) -> JSON:
    """Return *data* with *addition* merged in: texts are concatenated, everything else is merged as results are."""
    if addition in ({}, None):
        return data
    if isinstance(data, dict) and isinstance(addition, dict):
        added = {key: _added(data[key], value) if key in data else value for key, value in addition.items()}
        return {**data, **added}
    if isinstance(data, str) and isinstance(addition, str):
        return data + addition
    return merge(data, addition)


def _changes(given: JSON, output: JSON) -> JSON:
    """Return what *output* has and *given* has not; None if that is nothing."""
    if identity(given) == identity(output):
        return None
    if isinstance(given, dict) and isinstance(output, dict):
        found = {key: _changes(given[key], value) if key in given else value for key, value in output.items()}
        return {key: value for key, value in found.items() if value is not None} or None
    if isinstance(given, list) and isinstance(output, list) and identity(output[: len(given)]) == identity(given):
        return output[len(given) :]
    return output


async def _put(data: JSON, steps: Sequence[str | int], value: JSON, lane: Lane) -> JSON:
    """Return *data* with the value at the path *steps* replaced by *value*."""
    try:
        return put_at(data if isinstance(data, dict) else {}, steps, value)
    except (IndexError, TypeError) as error:
        raise lane.locate(WrongData(f"nothing can be put at {list(steps)} in the data: {error}")) from None


FILTER_ERROR = "SYS.FilterError"
"""The code of the error of a filter that selects nothing (the draft's list of errors)."""


class Pipeline:
    """Data flow in which data pass through states and actions, one after the other."""

    async def with_injected(self, state: InjectState, data: JSON, lane: Lane) -> JSON:
        return merge(data, await lane.fill(state.data, data))

    async def state_input(self, state: State, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's inputPath selects."""
        given = state.state_data_filter
        return data if given is None else await _pipeline_selected("inputPath", given.input, data, lane)

    async def state_output(self, state: State, given: JSON, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's outputPath selects of the data before the state with its result at resultPath."""
        own = state.state_data_filter
        if own is None:
            return data
        return await _pipeline_selected(
            "outputPath", own.output, await _pipeline_put(own.result, data, given, lane), lane
        )

    async def action_input(self, action: Action, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's inputPath selects."""
        given = action.action_data_filter
        return data if given is None else await _pipeline_selected("inputPath", given.from_state_data, data, lane)

    async def action_result(self, action: Action, result: JSON, data: JSON, lane: Lane) -> ActionResult:
        """Return the input of the next action: what outputPath selects, with the result at resultPath."""
        given = action.action_data_filter
        if given is None:
            return ActionResult([], result)
        put = await _pipeline_put(given.to_state_data, result, data, lane)
        return ActionResult([], await _pipeline_selected("outputPath", given.results, put, lane))

    def apply(self, effect: ActionResult, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Return the output of an action, in place of the data; an action that is not waited for has none."""
        path, value = effect.path, effect.value
        return data if path is None else value

    def folding(self, data: JSON, lane: Lane) -> OneByOne:
        """Return an object that applies effects one by one."""
        return OneByOne(self.apply, data, lane)

    def apply_all(self, effects: Sequence[ActionResult], data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Return the outputs of the actions, as an array."""
        return [effect.value for effect in effects]

    async def with_event(
        self,
        definition: Event,  # noqa: ARG002 - used by other data flows
        event: CloudEvent,
        given: EventDataFilter | None,
        data: JSON,
        lane: Lane,
    ) -> JSON:
        """Return the data with what inputPath selects of the event merged in, at resultPath if there is one.

        The path leads into the event's payload or, where it finds nothing there, into the event as a whole.
        """
        value = event.data
        if given is not None and given.data is not None:
            found = await lane.evaluate(lane.program.expressions.expression(given.data), event.data)
            value = (
                await _pipeline_selected("inputPath", given.data, event.to_json(), lane) if found is NOTHING else found
            )
        to = None if given is None else given.to_state_data
        if to is not None:
            return lane.merged_at(await lane.target(to, data), value, data)
        if value is None:
            return data  # an event without a payload has nothing to merge
        return merge(data, value) if isinstance(value, dict) else value

    async def with_error(self, entry: OnError | None, fault: WorkflowFault, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Return the data with the error at the resultPath of the state's filter, if it has one."""
        own = lane.state.state_data_filter
        return data if own is None or own.result is None else await _pipeline_put(own.result, public(fault), data, lane)

    async def iteration_input(self, state: ForeachState, item: JSON, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        return item

    async def with_outputs(self, state: State, outputs: Sequence[JSON], data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        return list(outputs)


async def _pipeline_selected(key: str, path: str | None, data: JSON, lane: Lane) -> JSON:
    if path is None:
        return data
    found = await lane.evaluate(lane.program.expressions.expression(path), data)
    if found is NOTHING:
        raise lane.locate(WrongData(f"{key} {path!r} leads to nothing in the data", code=FILTER_ERROR))
    value: JSON = found
    return value


async def _pipeline_put(path: str | None, value: JSON, into: JSON, lane: Lane) -> JSON:
    if path is None:
        return value
    try:
        return put_at(into, await lane.target(path, into), value)
    except (IndexError, TypeError) as error:
        message = f"resultPath {path!r} is not a valid path in the data: {error}"
        raise lane.locate(WrongData(message, code=FILTER_ERROR)) from None
