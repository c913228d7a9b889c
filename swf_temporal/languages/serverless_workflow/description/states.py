"""The facts of each state: what it does, and where it leads."""

from swf_temporal.languages.serverless_workflow.description.compact import Facts, compact, written
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.states import (
    CallbackState,
    DataCondition,
    DefaultCondition,
    EventCondition,
    EventNeed,
    EventState,
    Expected,
    ForeachState,
    InjectState,
    Leaving,
    OnError,
    OnEvents,
    OperationState,
    ParallelState,
    Scope,
    SleepState,
    State,
    SwitchState,
    Transition,
)
from swf_temporal.languages.serverless_workflow.validation.flow import diversions, ways


def facts_of_state(state: State) -> Facts:
    """Return what *state* is, what it does, and its ways: each with what it is taken on and where it leads."""
    return {
        "name": state.name,
        "type": state.type,
        **compact(written_type=state.written_type),
        **_work(state),
        **compact(
            timeouts=written(state.timeouts),
            retries=[written(one) for one in state.retries],
            compensated_by=state.compensated_by,
            used_for_compensation=state.used_for_compensation,
        ),
        "ways": [
            *(facts for way in ways(state) if (facts := _way(way)) is not None),
            *({"on": "retry", "match": one.match, "to": one.next_state} for one in diversions(state)),
        ],
    }


def _work(state: State) -> Facts:
    match state:
        case EventState():
            return {
                "waitsFor": "any" if state.exclusive else "all",
                "onEvents": [_entry(one) for one in state.on_events],
            }
        case OperationState():
            return {**_actions(state.actions, state.action_mode), **compact(repeat=written(state.repeat))}
        case SwitchState():
            return {"decidesBy": "events" if state.event_conditions else "data"}
        case SleepState():
            return {"duration": state.duration}
        case ParallelState():
            branches = [
                {"name": one.name, **_held(one.scope, one.actions), **compact(timeouts=written(one.timeouts))}
                | ({} if one.is_awaited else {"isAwaited": False})
                for one in state.branches
            ]
            return {
                "completionType": state.completion_type,
                **compact(num_completed=state.num_completed),
                "branches": branches,
            }
        case InjectState():
            return {"data": state.data}
        case ForeachState():
            return {
                "inputCollection": state.input_collection,
                # A state with a loop is called by its own type, and gets each element as its data.
                **compact(iteration_param=state.iteration_param if state.written_type is None else None),
                "mode": state.mode,
                **compact(batch_size=state.batch_size, pause=state.pause, until=state.until),
                **_held(state.scope, state.actions),
            }
        case CallbackState():
            return {**_actions((state.action,)), "awaits": [state.event_ref]}


def _entry(entry: OnEvents) -> Facts:
    expected = entry.expected
    return {
        "awaits": list(entry.event_refs),
        **(
            {}
            if expected is None
            else {"expression": expression_of(expected.need), **compact(timeout=expected.timeout)}
        ),
        **_actions(entry.actions, entry.action_mode),
    }


def expression_of(need: EventNeed, *, within: bool = False) -> str:
    """Return which events are needed, as an expression."""
    if need.join == "event":
        return need.ref
    words = f" {need.join} ".join(expression_of(part, within=True) for part in need.parts)
    return f"({words})" if within else words


def _held(scope: Scope | None, actions: tuple[Action, ...]) -> Facts:
    """Return the states that a branch or an iteration holds, or its actions."""
    if scope is None:
        return _actions(actions)
    return {"actions": [], "start": scope.start, "states": [facts_of_state(state) for state in scope.states]}


def _actions(actions: tuple[Action, ...], mode: str | None = None) -> Facts:
    """Return the actions; how they run is told where there are several, and where it is theirs to say."""
    several = len(actions) > 1 and mode is not None
    return {**({"actionMode": mode} if several else {}), "actions": [_action(one) for one in actions]}


def _action(action: Action) -> Facts:
    call, event, flow = action.function_ref, action.event_ref, action.sub_flow_ref
    reference = call or event or flow
    facts = compact(
        name=action.name,
        calls=call and call.ref_name,
        produces=event and event.produce_event_ref,
        awaits=event and event.consume_event_ref,
        runs=flow and flow.workflow_id,
        version=flow and flow.version,
        asynchronous=reference is not None and reference.invoke == "async",
        retry=action.retry_ref,
        timeout=action.timeout,
        result_retries=[written(one) for one in action.result_retries],
        retryable_errors=action.retryable_errors,
        non_retryable_errors=action.non_retryable_errors,
        sleep=written(action.sleep),
    )
    # One that is false says something: the action never runs.
    return facts if action.condition is None else {**facts, "condition": action.condition}


def _way(way: Leaving) -> Facts | None:
    """Return where *way* leads, or None if it leads nowhere, as that of a compensating state may."""
    facts = _on(way)
    there = way.transition or way.end
    if there is None:
        return None
    if isinstance(there, Transition):
        facts |= {"to": there.next_state, **compact(only_if=there.condition)}
    else:
        onwards = there.continue_as
        facts |= {"end": True, **compact(terminates=there.terminate)}
        facts |= compact(continues_as=onwards and onwards.workflow_id, version=onwards and onwards.version)
    return facts | compact(compensates=there.compensate, produces=tuple(one.event_ref for one in there.produce_events))


def _on(way: Leaving) -> Facts:
    """Return what *way* is taken on."""
    match way:
        case OnError():
            return {"on": "error", "errors": list(way.error_refs), **compact(condition=way.condition)}
        case DataCondition():
            return {"on": "condition", "condition": way.condition, **compact(name=way.name)}
        case Expected():
            return {"on": "event", "event": expression_of(way.need)}
        case EventCondition():
            return {"on": "event", "event": way.event_ref, **compact(name=way.name)}
        case DefaultCondition():
            return {"on": "default"}
        case _:
            return {"on": "completion"}
