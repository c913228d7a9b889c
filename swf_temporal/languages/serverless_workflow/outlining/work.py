"""What a state does, and its actions."""

from collections.abc import Iterator

from swf_temporal.base.grammar import counted
from swf_temporal.drawing.outline import Work, WorkflowRef, in_a_line
from swf_temporal.languages.serverless_workflow.model.actions import Action, ResultRetry
from swf_temporal.languages.serverless_workflow.model.states import (
    CallbackState,
    EventNeed,
    EventState,
    ForeachState,
    InjectState,
    OnEvents,
    OperationState,
    ParallelState,
    Repeat,
    SleepState,
    State,
    StateRetry,
)
from swf_temporal.languages.serverless_workflow.outlining.written import written


def work_of(state: State) -> Iterator[Work]:
    """Yield what *state* does. The branches of a parallel state, and states that it holds, are parts of their own."""
    match state:
        case EventState():
            together = " or " if state.exclusive else " and "
            yield from (_awaited(entry, together) for entry in state.on_events)
        case OperationState():
            yield from actions_of(state.actions, state.action_mode)
            if state.repeat is not None:
                yield Work(text=_repeated(state.repeat), awaits=state.repeat.stop_on_events)
        case SleepState():
            yield Work(text=f"waits {state.duration}")
        case ParallelState():
            enough = state.num_completed or 0 if state.completion_type == "atLeast" else "all"
            yield Work(text=f"until {enough} of these are complete")
        case InjectState():
            yield Work(text=f"puts in {in_a_line(state.data)}")
        case ForeachState():
            yield from _iterating(state)
        case CallbackState():
            yield from actions_of((state.action,))
            yield Work(awaits=(state.event_ref,))
    yield from (Work(text=_state_retry(one)) for one in state.retries)


def actions_of(actions: tuple[Action, ...], mode: str = "sequential") -> tuple[Work, ...]:
    """Return *actions*; those of several that run in parallel as parts of one."""
    found = tuple(map(_action, actions))
    return (Work(text="side by side:", work=found),) if mode == "parallel" and len(found) > 1 else found


def needed(need: EventNeed, *, within: bool = False) -> str:
    if need.join == "event":
        return need.ref
    words = f" {need.join} ".join(needed(part, within=True) for part in need.parts)
    return f"({words})" if within else words


def _awaited(entry: OnEvents, together: str) -> Work:
    words, also, expected = together.join(entry.event_refs), tuple[str, ...](), entry.expected
    if expected is not None:
        words, also = needed(expected.need), () if expected.timeout is None else (f"for {expected.timeout}",)
    actions = actions_of(entry.actions, entry.action_mode)
    return Work(text=f"waits for {words}", awaits=entry.event_refs, also=also, work=actions)


def _action(action: Action) -> Work:
    call, event, flow = action.function_ref, action.event_ref, action.sub_flow_ref
    return Work(
        name=action.name,
        calls=None if call is None else call.ref_name,
        runs=None if flow is None else WorkflowRef(flow.workflow_id, flow.version),
        produces=() if event is None else (event.produce_event_ref,),
        awaits=() if event is None or event.consume_event_ref is None else (event.consume_event_ref,),
        also=tuple(_also(action)),
        details=written(action, "name", "function_ref", "event_ref", "sub_flow_ref"),
    )


def _also(action: Action) -> Iterator[str]:
    reference = action.function_ref or action.event_ref or action.sub_flow_ref
    if reference is not None and reference.invoke == "async":
        yield "without waiting for it"
    if action.condition is not None:
        yield f"if {in_a_line(action.condition)}"
    if action.timeout is not None:
        yield f"for {action.timeout} at most"
    if action.retry_ref is not None:
        yield f"tried again by {action.retry_ref}"
    yield from map(_result_retry, action.result_retries)
    if action.sleep is not None and action.sleep.before is not None:
        yield f"after a pause of {action.sleep.before}"


def _result_retry(retry: ResultRetry) -> str:
    often = "as often as it takes" if retry.times is None else f"{counted(retry.times, 'more time')}"
    after = f" after {retry.interval} each" if retry.interval is not None and retry.times != 0 else ""
    return f"on {retry.match} {often}{after}"


def _state_retry(retry: StateRetry) -> str:
    """Return when, how often and after how long a whole state is run once more."""
    times = retry.max_attempts
    often = f"again {counted(times, 'time')} at most" if times else "never again"
    after = f", after {retry.delay}" if times and retry.delay is not None else ""
    more = f" and {retry.increment} more each time" if after and retry.increment is not None else ""
    return f"{often} if {in_a_line(retry.condition)}{after}{more}"


def _repeated(repeat: Repeat) -> str:
    """Return how often, and until when, a sub-workflow is run again and again (0.6)."""
    words = ["again and again"]
    if repeat.expression is not None:
        words.append(f"while {repeat.expression} holds {'before' if repeat.check_before else 'after'} each run")
    if repeat.max:
        words.append(f"{in_a_line(repeat.max)} times at most")
    if repeat.stop_on_events:
        words.append(f"until {' or '.join(repeat.stop_on_events)} came")
    if repeat.continue_on_error:
        words.append("also after an error")
    return ", ".join(words)


def _iterating(state: ForeachState) -> Iterator[Work]:
    # A state with a loop (November 2019) gets each element as its data, and holds itself: it is told as one state.
    is_loop = state.written_type is not None
    words = [
        f"for each of {state.input_collection}"
        if is_loop
        else f"each of {state.input_collection} as {state.iteration_param}",
        state.mode,
        *([] if state.batch_size is None else [f"{state.batch_size} at once"]),
        *([] if state.pause is None else [f"{state.pause} apart"]),
        *([] if state.until is None else [f"until {state.until}"]),
    ]
    yield Work(text=", ".join(words))
    yield from actions_of(state.actions)
    if is_loop and state.scope is not None:
        yield from work_of(state.scope.states[0])
