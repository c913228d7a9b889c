"""Data flow between a state, its actions and events, which differs between versions of the language.

A version with different rules for filters and merging has its own class that implements `DataFlow`; `data_flow_of`
chooses it once for a program. `Merging` follows the specification since 0.5.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, Merger, Path, ReplacingMerger, add_result
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.serverless_workflow.execution.events import payload_of
from swf_temporal.languages.serverless_workflow.execution.frames import ActionResult
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.last_keys import LastKeys, Pipeline
from swf_temporal.languages.serverless_workflow.model.actions import Action, EventDataFilter
from swf_temporal.languages.serverless_workflow.model.states import ForeachState, InjectState, OnError, State
from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind, Event, Workflow


class Folding(Protocol):
    """Applies the results of many actions to the state's data, one after the other."""

    @property
    def data(self) -> JSON:
        """The data with everything applied so far."""

    def apply(self, effect: ActionResult) -> None:
        """Apply the result of one more action, as `DataFlow.apply` does."""


class DataFlow(Protocol):
    """The data flow of a version: which data states, actions and events get, and where their results go."""

    async def with_injected(self, state: InjectState, data: JSON, lane: Lane) -> JSON:
        """Return the data of *state* with the injected data."""

    async def state_input(self, state: State, data: JSON, lane: Lane) -> JSON:
        """Return the data that *state*, entered with *data*, works on."""

    async def state_output(self, state: State, given: JSON, data: JSON, lane: Lane) -> JSON:
        """Return the output of *state*, which was entered with *given* and ended with *data*."""

    async def action_input(self, action: Action, data: JSON, lane: Lane) -> JSON:
        """Return what *action* sees of the state's data."""

    async def action_result(self, action: Action, result: JSON, data: JSON, lane: Lane) -> ActionResult:
        """Return which part of the *result* of *action* goes where in the state's data."""

    def apply(self, effect: ActionResult, data: JSON, lane: Lane) -> JSON:
        """Return the state's data with the result of an action: see `action_result`."""

    def folding(self, data: JSON, lane: Lane) -> Folding:
        """Return an object that applies effects to *data* one by one; its data may change until the last is applied."""

    def apply_all(self, effects: Sequence[ActionResult], data: JSON, lane: Lane) -> JSON:
        """Return the state's data with the results of parallel actions, in the order written."""

    async def with_event(
        self, definition: Event, event: CloudEvent, given: EventDataFilter | None, data: JSON, lane: Lane
    ) -> JSON:
        """Return the state's data with what a state sees of *event*."""

    async def with_error(self, entry: OnError | None, fault: WorkflowFault, data: JSON, lane: Lane) -> JSON:
        """Return the data after *entry* of a state's onErrors, or a retry without one, has handled *fault*."""

    async def iteration_input(self, state: ForeachState, item: JSON, data: JSON, lane: Lane) -> JSON:
        """Return what an iteration over *item* sees."""

    async def with_outputs(self, state: State, outputs: Sequence[JSON], data: JSON, lane: Lane) -> JSON:
        """Return the data of *state* with the outputs of branches or iterations that hold states, in their order."""


class Merging:
    """Data flow by filters and merging (sections "State Data Filters" to "Data Merging")."""

    merger: type[Merger] = Merger
    """The class that merges one value into another."""

    async def with_injected(self, state: InjectState, data: JSON, lane: Lane) -> JSON:
        """Merge the state's data, with its expressions evaluated."""
        return self._with(data, await lane.fill(state.data, data))

    async def state_input(self, state: State, data: JSON, lane: Lane) -> JSON:
        """Return what the filter's `input` selects."""
        given = state.state_data_filter
        return data if given is None else await lane.filtered(given.input, data)

    async def state_output(self, state: State, given: JSON, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Return what the filter's `output` selects."""
        own = state.state_data_filter
        return data if own is None or own.output is None else await lane.filtered(own.output, data)

    async def action_input(self, action: Action, data: JSON, lane: Lane) -> JSON:
        """Return what `fromStateData` selects."""
        given = action.action_data_filter
        return data if given is None else await lane.selected(given.from_state_data, data)

    async def action_result(self, action: Action, result: JSON, data: JSON, lane: Lane) -> ActionResult:
        """Return what `results` selects, and the path that `toStateData` names."""
        given = action.action_data_filter
        if given is None:
            return ActionResult(value=result)
        if not given.use_results:
            return ActionResult()
        value = await lane.selected(given.results, result)
        return ActionResult(
            None if given.to_state_data is None else await lane.target(given.to_state_data, data), value
        )

    def apply(self, effect: ActionResult, data: JSON, lane: Lane) -> JSON:
        """Merge the value at the effect's path; without a path into the whole data."""
        path, value = effect.path, effect.value
        return data if value is None else self._with_result(data, path, value, lane)

    def folding(self, data: JSON, lane: Lane) -> Folding:
        """Return an object that merges effects one by one."""
        return _Merged(self.merger(data), lane)

    def apply_all(self, effects: Sequence[ActionResult], data: JSON, lane: Lane) -> JSON:
        folding = self.folding(data, lane)
        for effect in effects:
            folding.apply(effect)
        return folding.data

    async def with_event(
        self, definition: Event, event: CloudEvent, given: EventDataFilter | None, data: JSON, lane: Lane
    ) -> JSON:
        """Merge what the event's filter selects of its payload or, with `dataOnly: false`, of all of it."""
        payload = payload_of(definition, event)
        if given is None:
            return self._with_result(data, None, payload, lane)
        if not given.use_data:
            return data
        value = await lane.selected(given.data, payload)
        if value is None:
            return data
        to = given.to_state_data
        return self._with_result(data, None if to is None else await lane.target(to, data), value, lane)

    async def with_error(self, entry: OnError | None, fault: WorkflowFault, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - the error is in $WORKFLOW.error
        return data

    async def iteration_input(self, state: ForeachState, item: JSON, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Return the data with the element under the name of the iteration parameter."""
        param = state.iteration_param
        return {**data, param: item} if isinstance(data, dict) else {param: item}

    async def with_outputs(self, state: State, outputs: Sequence[JSON], data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - used by other data flows
        """Merge the outputs into the data, one after the other."""
        return self._with(data, *outputs)

    def _with(self, data: JSON, *additions: JSON) -> JSON:
        merger = self.merger(data)
        for addition in additions:
            merger.merge(addition)
        return merger.data

    def _with_result(self, data: JSON, path: Path | None, value: JSON, lane: Lane) -> JSON:
        merger = self.merger(data)
        if path is None:
            merger.add_result(value)
        else:
            lane.merge_at(path, value, merger)
        return merger.data


class Replacing(Merging):
    """Data flow in which arrays are replaced and scalars are kept, as in SonataFlow."""

    merger = ReplacingMerger


class _Merged:
    """Merges effects into data; the cost of each is proportional to its own size."""

    def __init__(self, merger: Merger, lane: Lane) -> None:
        self._merger = merger
        self._lane = lane

    @property
    def data(self) -> JSON:
        return self._merger.data

    def apply(self, effect: ActionResult) -> None:
        """Merge the value at the effect's path; without a path into the whole data."""
        path, value = effect.path, effect.value
        if value is None:
            return
        if path is None:
            self._merger.add_result(value)
        else:
            self._lane.merge_at(path, value, self._merger)


class KeyedMerging(Merging):
    """Data flow as in 0.5: the last name on a path is the key of what the path selects.

    `{{ $.payload.greeting }}` for an action's results puts the greeting into the data as `greeting`; `{{ $.hello }}`
    for a state's input leaves data with `hello` only. The result of a path without a name, such as `$` or a filter of
    the whole, is used as it is. A path that finds nothing filters nothing.
    """

    async def state_input(self, state: State, data: JSON, lane: Lane) -> JSON:
        """Return what `dataInputPath` selects."""
        given = state.state_data_filter
        return data if given is None else await _keyed(given.input, data, lane, data)

    async def state_output(self, state: State, given: JSON, data: JSON, lane: Lane) -> JSON:  # noqa: ARG002 - as in `Merging`
        """Return what `dataOutputPath` selects."""
        own = state.state_data_filter
        return data if own is None else await _keyed(own.output, data, lane, data)

    async def action_input(self, action: Action, data: JSON, lane: Lane) -> JSON:
        """Return what `dataInputPath` selects."""
        given = action.action_data_filter
        return data if given is None else await _keyed(given.from_state_data, data, lane, data)

    async def action_result(self, action: Action, result: JSON, data: JSON, lane: Lane) -> ActionResult:
        """Return what `dataResultsPath` selects of the result."""
        given = action.action_data_filter
        if given is None or given.to_state_data is not None:
            return await super().action_result(action, result, data, lane)
        return ActionResult(value=await _keyed(given.results, result, lane, result))

    async def with_event(
        self, definition: Event, event: CloudEvent, given: EventDataFilter | None, data: JSON, lane: Lane
    ) -> JSON:
        """Merge what `dataOutputPath` selects of the payload or, with a path from `$.data` on, of the whole event."""
        payload = payload_of(definition, event)
        if given is None or given.data is None:
            return await super().with_event(definition, event, given, data, lane)
        selected = await _keyed(given.data, payload, lane, None)
        if selected is None:
            selected = await _keyed(given.data, event.to_json(), lane, payload)
        return add_result(data, selected)


async def _keyed(path: JSON, data: JSON, lane: Lane, without: JSON) -> JSON:
    """Return what *path* selects of *data* under the last name on it; *without* if it selects nothing."""
    if path is None:
        return without
    compiled = lane.program.expressions.expression(path)
    value = await lane.evaluate(compiled, data)
    if value is NOTHING:
        return without
    key = compiled.last_key if isinstance(compiled, EarlyPath) else None
    return value if key is None else {key: value}


_DATA_FLOWS: Final[Mapping[DataFlowKind, DataFlow]] = {
    DataFlowKind.MERGING: Merging(),
    DataFlowKind.REPLACING: Replacing(),
    DataFlowKind.KEYED_MERGING: KeyedMerging(),
    DataFlowKind.LAST_KEYS: LastKeys(),
    DataFlowKind.PIPELINE: Pipeline(),
}


def data_flow_of(workflow: Workflow) -> DataFlow:
    """Return the data flow of the language version of *workflow*."""
    return _DATA_FLOWS[workflow.language_version.data_flow]
