"""Makes the common model of a definition of the draft of November 2019.

Every part keeps the place where it was written. What has the same meaning becomes what says it now: a delay is a sleep
state, a sub-workflow an operation with one action. What has another meaning goes into fields that no author of a later
version can write, or is a matter of `execution/pipeline.py`, which says how data flow in this draft.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from swf_temporal.function_types import TYPES
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.event_expressions import (
    BadEventExpression,
    names_in,
    parsed,
)
from swf_temporal.languages.serverless_workflow.drafts.november_2019.repetitions import repetition_of
from swf_temporal.languages.serverless_workflow.expressions import EARLY
from swf_temporal.languages.serverless_workflow.model import actions as to_actions
from swf_temporal.languages.serverless_workflow.model import definitions as to
from swf_temporal.languages.serverless_workflow.model import states as to_states
from swf_temporal.languages.serverless_workflow.model.schedules import Start
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow

VERSION: Final = "November 2019"
"""The `languageVersion` of these definitions."""
TOKEN: Final = "correlationToken"  # noqa: S105 - the name that the draft has for it
"""The name of the value by which the events of an instance are told from others."""
_ALL_DATA: Final = "$"


def lowered(definition: model.Definition) -> Workflow:
    """Return *definition* as the common model has it."""
    return Workflow(
        id=definition.id,
        name=definition.name,
        version=definition.version,
        description=definition.description,
        start=Start(state_name=_Names(definition.states).of(definition.starts_at)),
        expression_lang=EARLY,
        events=tuple(map(_event, definition.trigger_defs)),
        functions=tuple(map(function_of, functions_in(definition.states))),
        states=_states(definition.states, tuple(one.name for one in definition.trigger_defs)),
        metadata=definition.metadata,
        language_version=VERSION,
        source=definition.source,
        where=definition.where,
    )


def actions_in(states: Iterable[model.State]) -> Iterator[model.Action]:
    """Yield the actions of *states*, at any depth."""
    for state in states:
        match state:
            case model.OperationState():
                yield from state.actions
            case model.EventState():
                for entry in state.events:
                    yield from entry.actions
            case model.ParallelState():
                for branch in state.branches:
                    yield from actions_in(branch.states)
            case _:
                pass


class _Names:
    """The states of one scope, which may be named by their ids as well."""

    def __init__(self, states: Iterable[model.State]) -> None:
        states = tuple(states)
        names = {state.name for state in states}
        self._ids = {state.id: state.name for state in states if state.id is not None and state.id not in names}

    def of(self, reference: str) -> str:
        """Return the name of the state that *reference* is the name or id of."""
        return self._ids.get(reference, reference)


def _event(trigger: model.Trigger) -> to.Event:
    correlation = to.Correlation(context_attribute_name=TOKEN, path=trigger.correlation_token, where=trigger.where)
    return to.Event(
        name=trigger.name,
        source=trigger.source,
        type=trigger.type,
        correlation=() if trigger.correlation_token is None else (correlation,),
        metadata=trigger.metadata,
        where=trigger.where,
    )


def functions_in(states: Iterable[model.State]) -> Iterator[model.Function]:
    """Yield each function that actions in *states* call, once, with the type and resource that one of them says."""
    found: dict[str, model.Function] = {}
    for action in actions_in(states):
        function = action.function
        known = found.setdefault(function.name, function)
        update = {
            key: getattr(function, key)
            for key in ("type", "resource")
            if getattr(known, key) is None and getattr(function, key) is not None
        }
        if update:
            found[function.name] = known.model_copy(update=update)
    yield from found.values()


def function_of(function: model.Function) -> to.Function:
    """Return *function* as definitions declare one. Its type is one of ours, whatever its case, or its own."""
    own = function.type or "custom"
    return to.Function(
        name=function.name,
        type=own.lower() if own.lower() in TYPES else own,
        operation=function.resource or (function.name if ":" in function.name else None),
        metadata=function.metadata,
        where=function.where,
    )


def _states(states: tuple[model.State, ...], triggers: tuple[str, ...]) -> tuple[to_states.State, ...]:
    names = _Names(states)
    return tuple(_state(state, names, triggers) for state in states)


def _state(state: model.State, names: _Names, triggers: tuple[str, ...]) -> to_states.State:
    if state.loop is not None:
        return _loop(state, state.loop, names, triggers)
    common = {
        "name": state.name,
        "id": state.id,
        "written_type": state.type,
        "state_data_filter": _state_filter(state.filter),
        "on_errors": tuple(_on_error(entry, names) for entry in state.on_error),
        "metadata": state.metadata,
        "where": state.where,
    }
    leaving = _leaving(state, names)
    match state:
        case model.EventState():
            entries = tuple(_entry(entry, state, names, triggers) for entry in state.events)
            return to_states.EventState(type="event", on_events=entries, **common)
        case model.OperationState():
            return to_states.OperationState(
                type="operation",
                action_mode=_mode(state.action_mode),
                actions=tuple(_action(action, names) for action in state.actions),
                **common,
                **leaving,
            )
        case model.SwitchState():
            return to_states.SwitchState(
                type="switch",
                data_conditions=tuple(_condition(choice, names) for choice in state.choices),
                default_condition=_default(state, names),
                **common,
            )
        case model.DelayState():
            return to_states.SleepState(type="sleep", duration=state.time_delay, **common, **leaving)
        case model.ParallelState():
            branches = tuple(_branch(branch, triggers) for branch in state.branches)
            return to_states.ParallelState(type="parallel", branches=branches, **common, **leaving)
        case model.SubFlowState():
            return to_states.OperationState(type="operation", actions=(_sub_flow(state),), **common, **leaving)
        case model.RelayState():
            return to_states.InjectState(type="inject", data=state.inject, **common, **leaving)


def _loop(state: model.State, loop: model.Loop, names: _Names, triggers: tuple[str, ...]) -> to_states.ForeachState:
    """Return what runs *state* for each element, one after the other; what surrounds the state is that of all of it."""
    once = {"loop": None, "filter": None, "on_error": (), "next_state": None, "end": True}
    inner = _state(state.model_copy(update=once), names, triggers)
    return to_states.ForeachState(
        type="foreach",
        name=state.name,
        id=state.id,
        written_type=state.type,
        input_collection=loop.input_collection,
        output_collection=loop.output_collection,
        mode="sequential",
        pause=loop.time_delay,
        until=None if loop.completion_condition is None else loop.completion_condition.body,
        scope=to_states.Scope(start=state.name, states=(inner,), where=state.where),
        state_data_filter=_state_filter(state.filter),
        on_errors=tuple(_on_error(entry, names) for entry in state.on_error),
        metadata=state.metadata,
        where=state.where,
        **_leaving(state, names),
    )


def _on_error(entry: model.ErrorHandler, names: _Names) -> to_states.OnError:
    leads_on = entry.next_state is not None and not entry.end
    return to_states.OnError(
        error_refs=(),
        condition=entry.condition.body,
        transition=to_states.Transition(next_state=names.of(entry.next_state or ""), where=entry.where)
        if leads_on
        else None,
        end=None if leads_on else to_states.End(where=entry.where),
        where=entry.where,
    )


def _leaving(state: model.StateBase, names: _Names) -> dict[str, to_states.Transition | to_states.End]:
    if state.end or state.next_state is None:
        return {"end": to_states.End(where=state.where)}
    condition = None if state.condition is None else state.condition.body
    next_state = names.of(state.next_state)
    return {"transition": to_states.Transition(next_state=next_state, condition=condition, where=state.where)}


def _state_filter(given: model.Filter | None) -> to_states.StateDataFilter | None:
    if given is None:
        return None
    return to_states.StateDataFilter(
        input=given.input_path, output=given.output_path, result=given.result_path, where=given.where
    )


def _entry(
    entry: model.EventDefinition, state: model.EventState, names: _Names, triggers: tuple[str, ...]
) -> to_states.OnEvents:
    need = _need(entry.event_expression, triggers)
    given = entry.filter
    wanted = entry.next_state
    if wanted is None and not state.end:
        wanted = state.next_state
    leaving: dict[str, Any] = (
        {"end": to_states.End(where=entry.where)}
        if wanted is None
        else {"transition": to_states.Transition(next_state=names.of(wanted), where=entry.where)}
    )
    return to_states.OnEvents(
        event_refs=names_in(need),
        expected=to_states.Expected(need=need, timeout=entry.timeout, where=entry.where, **leaving),
        action_mode=_mode(entry.action_mode),
        actions=tuple(_action(action, names) for action in entry.actions),
        event_data_filter=None if given is None else _event_filter(given),
        where=entry.where,
    )


def _need(expression: str, triggers: tuple[str, ...]) -> to_states.EventNeed:
    try:
        return parsed(expression, triggers)
    except BadEventExpression:
        return to_states.EventNeed(join="or")  # a rule tells what is wrong with it


def _event_filter(given: model.Filter) -> to_actions.EventDataFilter:
    return to_actions.EventDataFilter(data=given.input_path, to_state_data=given.result_path, where=given.where)


def _mode(mode: model.Mode) -> Literal["sequential", "parallel"]:
    return "sequential" if mode == "SEQUENTIAL" else "parallel"


def _action(action: model.Action, names: _Names) -> to_actions.Action:
    function, given = action.function, action.filter
    return to_actions.Action(
        name=action.name,
        function_ref=to_actions.FunctionRef(
            ref_name=function.name,
            arguments=_ALL_DATA if function.parameters is None else function.parameters,
            where=function.where,
        ),
        timeout=action.timeout,
        action_data_filter=None if given is None else _action_filter(given),
        result_retries=tuple(_retry(retry, names) for retry in action.retry),
        where=action.where,
    )


def _action_filter(given: model.Filter) -> to_actions.ActionDataFilter:
    return to_actions.ActionDataFilter(
        from_state_data=given.input_path, results=given.output_path, to_state_data=given.result_path, where=given.where
    )


def _retry(retry: model.Retry, names: _Names) -> to_actions.ResultRetry:
    interval, times = repetition_of(retry.retry_interval)
    return to_actions.ResultRetry(
        match=retry.match,
        interval=interval,
        times=times if retry.max_retry is None else retry.max_retry,
        next_state=None if retry.next_state is None else names.of(retry.next_state),
        where=retry.where,
    )


_JOINS: Final[Mapping[str, str]] = {"single": "any", "and": "all", "or": "any", "not": "none"}


def _condition(choice: model.Choice, names: _Names) -> to_states.DataCondition:
    kind, rules = next(rules_of(choice), ("single", ()))
    return to_states.DataCondition(
        condition={
            _JOINS[kind]: [{"path": rule.path, "operator": rule.operator, "value": rule.value} for rule in rules]
        },
        transition=to_states.Transition(next_state=names.of(choice.next_state), where=choice.where),
        metadata=choice.metadata,
        where=choice.where,
    )


def rules_of(choice: model.Choice) -> Iterator[tuple[str, tuple[model.Rule, ...]]]:
    """Yield the keys under which *choice* has rules, each with these."""
    for kind, rules in (("single", choice.single), ("and", choice.and_), ("or", choice.or_), ("not", choice.not_)):
        if rules is not None:
            yield kind, rules


def _default(state: model.SwitchState, names: _Names) -> to_states.DefaultCondition | None:
    if state.default is None:
        return None
    where = state.where
    transition = to_states.Transition(next_state=names.of(state.default), where=where)
    return to_states.DefaultCondition(transition=transition, where=where)


def _branch(branch: model.Branch, triggers: tuple[str, ...]) -> to_states.Branch:
    return to_states.Branch(
        name=branch.name,
        actions=(),
        scope=to_states.Scope(
            start=_Names(branch.states).of(branch.starts_at),
            states=_states(branch.states, triggers),
            where=branch.where,
        ),
        is_awaited=branch.wait_for_completion,
        where=branch.where,
    )


def _sub_flow(state: model.SubFlowState) -> to_actions.Action:
    return to_actions.Action(
        sub_flow_ref=to_actions.SubflowRef(
            workflow_id=state.workflow_id,
            invoke="sync" if state.wait_for_completion else "async",
            on_parent_complete="continue",
            where=state.where,
        ),
        where=state.where,
    )
