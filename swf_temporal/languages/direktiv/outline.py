"""The outline of a definition: its states with their work and transitions."""

from collections.abc import Iterator

from swf_temporal.base.calendars.wording import schedule_words
from swf_temporal.drawing.outline import Outline, OutlinePart, Section, Way, Work, WorkflowRef, in_a_line
from swf_temporal.languages.direktiv.model import (
    Action,
    ActionState,
    DelayState,
    ErrorState,
    EventsXorState,
    ForeachState,
    GenerateEventState,
    GetterState,
    ParallelState,
    ScheduledStart,
    SetterState,
    State,
    SubflowFunction,
    SwitchState,
    ValidateState,
    Workflow,
    actions_of,
    kind_of,
    kinds_awaited,
)
from swf_temporal.languages.direktiv.names import split_name
from swf_temporal.languages.direktiv.starts import parts_of


def outline_of(workflow: Workflow) -> Outline:
    start, timeouts = workflow.start, workflow.timeouts
    flows = {one.id: one.workflow for one in workflow.functions if isinstance(one, SubflowFunction)}
    limits = {} if timeouts is None else {"interrupt": timeouts.interrupt, "kill": timeouts.kill}
    limits = {name: length for name, length in limits.items() if length is not None}
    return Outline(
        parts=tuple(_part(one, flows) for one in sorted(workflow.states, key=lambda one: one.id != workflow.first)),
        schedule=_schedule(start.cron) if isinstance(start, ScheduledStart) else None,
        sections=(Section("timeouts", tuple(f"{name} {length}" for name, length in limits.items()), limits),),
    )


def _schedule(written: str) -> dict[str, str]:
    cron, interval, timezone = parts_of(written)
    return {"cron": written, "words": schedule_words(cron=cron, interval=interval, timezone=timezone)}


def _part(state: State, flows: dict[str, str]) -> OutlinePart:
    timeout = getattr(state, "timeout", None)
    return OutlinePart(
        path=state.id,
        kind=state.type,
        name=state.id,
        work=tuple(_work(state, flows)),
        limits={} if timeout is None else {"timeout": timeout},
        ways=tuple(_ways(state)),
    )


def _work(state: State, flows: dict[str, str]) -> Iterator[Work]:
    awaited = tuple(type_ for type_, *_ in kinds_awaited(state))
    if awaited:
        together = " or " if isinstance(state, EventsXorState) else " and "
        yield Work(text=f"waits for {together.join(awaited)}", awaits=awaited)
    if isinstance(state, GenerateEventState):
        yield Work(produces=(state.event.type,), also=() if state.delay is None else (f"after {state.delay}",))
    text = _text(state)
    if text is not None:
        yield Work(text=text)
    also = ("without waiting for it",) if isinstance(state, ActionState) and state.async_ else ()
    yield from (_call(action, flows, also) for action in actions_of(state))


def _text(state: State) -> str | None:
    match state:
        case DelayState():
            return f"waits {state.duration}"
        case ErrorState():
            return f"fails at its end with {state.error}: {in_a_line(state.message)}"
        case ForeachState():
            return f"each of {in_a_line(state.array)}"
        case ParallelState():
            return "all of these" if state.mode == "and" else "the first of these"
        case GetterState() | SetterState():
            word = "loads" if isinstance(state, GetterState) else "stores"
            return f"{word} {', '.join(one.key for one in state.variables)}"
        case ValidateState():
            return f"compares {'the data' if state.subject is None else in_a_line(state.subject)} with a schema"
    return None


def _call(action: Action, flows: dict[str, str], also: tuple[str, ...]) -> Work:
    retried = tuple(f"again {one.max_attempts} times at most on {', '.join(one.codes)}" for one in action.retries)
    flow = flows.get(action.function)
    return Work(
        calls=action.function if flow is None else None,
        runs=None if flow is None else WorkflowRef(*split_name(flow)),
        also=(*also, *retried),
    )


def _ways(state: State) -> Iterator[Way]:
    if isinstance(state, SwitchState):
        for one in state.conditions:
            yield Way("condition", one.transition, f"if {in_a_line(one.condition)}")
        yield Way("default", state.default_transition, "otherwise")
    elif isinstance(state, EventsXorState):
        for entry in state.events:
            type_ = kind_of(entry)[0]
            yield Way("event", entry.transition or state.transition, f"on {type_}", awaits=(type_,))
    else:
        yield Way("completion", state.transition)
    for handler in state.catch:
        yield Way("error", handler.transition, f"on error {handler.error}")
