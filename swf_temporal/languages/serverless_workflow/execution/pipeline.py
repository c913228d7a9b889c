"""Data flow in the draft of November 2019: the output of each part is the input of the next.

Nothing is merged but events. A filter selects the input (`inputPath`), puts the result at a path in the data before it
(`resultPath`), and selects the output (`outputPath`); each defaults to `$`, the whole. Without an action, the result is
the input. A path that finds nothing is an error (section "Filter Mechanism").
"""

from collections.abc import Sequence

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, merge, put_at
from swf_temporal.base.errors import WorkflowFault, WrongData
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.error_data import public
from swf_temporal.languages.serverless_workflow.execution.frames import ActionResult
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.last_keys import OneByOne
from swf_temporal.languages.serverless_workflow.model.actions import Action, EventDataFilter
from swf_temporal.languages.serverless_workflow.model.states import ForeachState, InjectState, OnError, State
from swf_temporal.languages.serverless_workflow.model.workflow import Event

FILTER_ERROR = "SYS.FilterError"
"""The code of the error of a filter that selects nothing (the draft's list of errors)."""


class Pipeline:
    """Data flow in which data pass through states and actions, one after the other."""

    async def with_injected(self, state: InjectState, data: JSON, lane: Lane) -> JSON:
        return merge(data, await lane.fill(state.data, data))

    async def state_input(self, state: State, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's inputPath selects."""
        given = state.state_data_filter
        return data if given is None else await _selected("inputPath", given.input, data, lane)

    async def state_output(self, state: State, given: JSON, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's outputPath selects of the data before the state with its result at resultPath."""
        own = state.state_data_filter
        if own is None:
            return data
        return await _selected("outputPath", own.output, await _put(own.result, data, given, lane), lane)

    async def action_input(self, action: Action, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's inputPath selects."""
        given = action.action_data_filter
        return data if given is None else await _selected("inputPath", given.from_state_data, data, lane)

    async def action_result(self, action: Action, result: JSON, data: JSON, lane: Lane) -> ActionResult:
        """Return the input of the next action: what outputPath selects, with the result at resultPath."""
        given = action.action_data_filter
        if given is None:
            return ActionResult([], result)
        put = await _put(given.to_state_data, result, data, lane)
        return ActionResult([], await _selected("outputPath", given.results, put, lane))

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
            value = await _selected("inputPath", given.data, event.to_json(), lane) if found is NOTHING else found
        to = None if given is None else given.to_state_data
        if to is not None:
            return lane.merged_at(await lane.target(to, data), value, data)
        if value is None:
            return data  # an event without a payload has nothing to merge
        return merge(data, value) if isinstance(value, dict) else value

    async def with_error(self, entry: OnError | None, fault: WorkflowFault, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Return the data with the error at the resultPath of the state's filter, if it has one."""
        own = lane.state.state_data_filter
        return data if own is None or own.result is None else await _put(own.result, public(fault), data, lane)

    async def iteration_input(self, state: ForeachState, item: JSON, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        return item

    async def with_outputs(self, state: State, outputs: Sequence[JSON], data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        return list(outputs)


async def _selected(key: str, path: str | None, data: JSON, lane: Lane) -> JSON:
    if path is None:
        return data
    found = await lane.evaluate(lane.program.expressions.expression(path), data)
    if found is NOTHING:
        raise lane.locate(WrongData(f"{key} {path!r} leads to nothing in the data", code=FILTER_ERROR))
    value: JSON = found
    return value


async def _put(path: str | None, value: JSON, into: JSON, lane: Lane) -> JSON:
    if path is None:
        return value
    try:
        return put_at(into, await lane.target(path, into), value)
    except (IndexError, TypeError) as error:
        message = f"resultPath {path!r} is not a valid path in the data: {error}"
        raise lane.locate(WrongData(message, code=FILTER_ERROR)) from None
