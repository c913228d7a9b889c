"""The outline of a workflow, in the words of its language version."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from swf_temporal.base.calendars.wording import schedule_words
from swf_temporal.base.data import JSON
from swf_temporal.base.durations import format_duration
from swf_temporal.base.grammar import counted
from swf_temporal.drawing.outline import Outline, OutlinePart, Section, Way, Work, WorkflowRef, in_a_line
from swf_temporal.languages.serverless_workflow.execution.retries import rule_of
from swf_temporal.languages.serverless_workflow.model.actions import Action, ResultRetry
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    CallbackState,
    DataCondition,
    DefaultCondition,
    EventCondition,
    EventNeed,
    EventState,
    ExpectedEvent,
    ForeachState,
    InjectState,
    NestedStates,
    OnError,
    OnEvents,
    OperationState,
    ParallelState,
    Repeat,
    SleepState,
    State,
    StateBase,
    StateRetry,
    WithTransition,
)
from swf_temporal.languages.serverless_workflow.model.workflow import (
    DataSchema,
    Retry,
    Schedule,
    Workflow,
    WorkflowTimeouts,
)
from swf_temporal.languages.serverless_workflow.validation.flow import diversions, ways
from swf_temporal.runtime.retrying import RetryRule


def written(node: Node, *without: str) -> dict[str, Any]:
    """Return the fields written in *node*, by the keys that authors use, except *without*."""
    fields = {name: info for name, info in type(node).model_fields.items() if name not in without and not info.exclude}
    return {
        (info.alias or name).removeprefix("@"): _plain(value)
        for name, info in fields.items()
        if (value := getattr(node, name)) != info.get_default(call_default_factory=True, validated_data={})
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return written(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


_SHOWN = 5
"""The number of delays that are listed."""


def facts_of_retries(workflow: Workflow) -> list[dict[str, Any]]:
    """Return the effect of each retry definition and, under the name null, that of `autoRetries` alone.

    Delays are those after the first attempts, in seconds, without jitter.
    """
    return [_facts(retry) for retry in (*workflow.retries, *([None] if workflow.auto_retries else []))]


def _facts(retry: Retry | None) -> dict[str, Any]:
    given = {"name": None} if retry is None else written(retry)
    try:
        rule = rule_of(retry, auto_retries=retry is None, retryable=(), non_retryable=())
    except ValueError:
        return given | {"words": "by its expressions, which are evaluated at run time"}
    if rule is None:
        return given | {"words": "not retried"}
    delays = _delays(rule)
    return given | {"delays": [delay.total_seconds() for delay in delays], "words": _words(rule, delays)}


def _delays(rule: RetryRule) -> list[timedelta]:
    even = replace(rule, jitter=0.0)
    found = (even.delay_after(attempt) for attempt in range(1, _SHOWN + 1))
    return [delay for delay in found if delay is not None]


def _words(rule: RetryRule, delays: list[timedelta]) -> str:
    if not delays:
        return "not retried"
    is_all = rule.max_attempts is not None and rule.max_attempts <= _SHOWN + 1
    attempts = "without limit" if rule.max_attempts is None else f"{rule.max_attempts} attempts in all"
    words = f"{attempts}, after {', '.join(map(format_duration, delays))}{'' if is_all else ' …'}"
    if rule.jitter:
        spread = f"{rule.jitter:.0%}" if rule.jitter_is_fraction else format_duration(timedelta(seconds=rule.jitter))
        words += f", each up to {spread} sooner or later"
    if rule.max_delay is not None:
        words += f", never more than {format_duration(timedelta(seconds=rule.max_delay))}"
    return words


def work_of(state: State) -> Iterator[Work]:
    """Yield the work of *state*. The branches of a parallel state, and states that it contains, are separate parts."""
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
    """Return the work of *actions*; several parallel ones are parts of one."""
    found = tuple(map(_action, actions))
    return (Work(text="in parallel:", work=found),) if mode == "parallel" and len(found) > 1 else found


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
        yield f"retried by {action.retry_ref}"
    yield from map(_result_retry, action.result_retries)
    if action.sleep is not None and action.sleep.before is not None:
        yield f"after a pause of {action.sleep.before}"


def _result_retry(retry: ResultRetry) -> str:
    often = "without limit" if retry.times is None else f"{counted(retry.times, 'more time')}"
    after = f" after {retry.interval} each" if retry.interval is not None and retry.times != 0 else ""
    return f"on {retry.match} {often}{after}"


def _state_retry(retry: StateRetry) -> str:
    """Return the condition, number and delay of the retries of a whole state."""
    times = retry.max_attempts
    often = f"again {counted(times, 'time')} at most" if times else "never again"
    after = f", after {retry.delay}" if times and retry.delay is not None else ""
    more = f" and {retry.increment} more each time" if after and retry.increment is not None else ""
    return f"{often} if {in_a_line(retry.condition)}{after}{more}"


def _repeated(repeat: Repeat) -> str:
    """Return the conditions and limit by which actions are repeated (0.6)."""
    words = ["repeated"]
    if repeat.expression is not None:
        words.append(f"while {repeat.expression} holds {'before' if repeat.check_before else 'after'} each run")
    if repeat.max:
        words.append(f"{in_a_line(repeat.max)} times at most")
    if repeat.stop_on_events:
        words.append(f"until {' or '.join(repeat.stop_on_events)} arrived")
    if repeat.continue_on_error:
        words.append("also after an error")
    return ", ".join(words)


def _iterating(state: ForeachState) -> Iterator[Work]:
    # A state with a loop (November 2019) gets each element as its data, and contains itself: it is shown as one state.
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


_JOINED = {"all": " and ", "any": " or ", "none": " nor "}


def ways_of(state: State, path: str) -> Iterator[Way]:
    """Yield the transitions and ends of *state*, to states whose paths begin with *path*."""
    if state.compensated_by is not None:
        yield Way("compensation", f"{path}{state.compensated_by}", "undone by")
    for leaving in ways(state):
        way = _way(leaving, path)
        if way is not None:
            yield way
    for retry in diversions(state):
        yield Way("retry", f"{path}{retry.next_state}", f"when retries on {retry.match} are used up")


def _way(leaving: WithTransition, path: str) -> Way | None:
    """Return the way of *leaving*, or None if it has no transition or end, as a compensating state may not."""
    transition, end = leaving.transition, leaving.end
    there = transition or end
    if there is None:
        return None
    onwards = None if end is None else end.continue_as
    only_if = None if transition is None or transition.condition is None else in_a_line(transition.condition)
    on, when = _occasion(leaving)
    return Way(
        on=on,
        to=None if transition is None else f"{path}{transition.next_state}",
        when=", ".join([*([when] if when else []), *([f"only if {only_if}"] if only_if is not None else [])]),
        name=getattr(leaving, "name", None) if not isinstance(leaving, StateBase) else None,
        awaits=(leaving.event_ref,) if isinstance(leaving, EventCondition) else (),
        produces=tuple(one.event_ref for one in there.produce_events),
        compensates=there.compensate,
        terminates=end is not None and end.terminate,
        continues_as=None if onwards is None else WorkflowRef(onwards.workflow_id, onwards.version),
        details={} if isinstance(leaving, StateBase) else written(leaving, "name", "transition", "end", "need"),
    )


def _occasion(leaving: WithTransition) -> tuple[Any, str]:
    """Return the occasion on which *leaving* is taken, as a kind and in words."""
    match leaving:
        case OnError():
            named = f"on error {', '.join(leaving.error_refs)}"
            condition = leaving.condition
            return "error", named if condition is None else f"on an error, if {in_a_line(condition)}"
        case DataCondition():
            return "condition", f"if {_condition(leaving.condition)}"
        case ExpectedEvent():
            return "event", f"on {needed(leaving.need)}"
        case EventCondition():
            return "event", f"on {leaving.event_ref}"
        case DefaultCondition():
            return "default", "otherwise"
    return "completion", ""


def _condition(condition: Any) -> str:
    """Return a condition in words: comparisons of the drafts spelt out, anything else as it is."""
    if not isinstance(condition, dict):
        return in_a_line(condition)
    for join, word in _JOINED.items():
        if isinstance(condition.get(join), list):
            words = word.join(map(_comparison, condition[join]))
            return f"not {words}" if join == "none" else words
    return _comparison(condition)


def _comparison(facts: dict[str, Any]) -> str:
    value = [] if facts.get("value") is None else [in_a_line(facts["value"])]
    return " ".join([facts["path"], facts["operator"], *value])


_SHOWN_FIELDS: Final = (
    "name", "type", "written_type", "actions", "on_events", "action", "branches", "scope", "data_conditions",
    "event_conditions", "default_condition", "on_errors", "retries", "transition", "end", "compensated_by", "timeouts",
)  # fmt: skip
"""The fields of states that an outline presents separately."""
_OTHERS: Final = ("key", "annotations", "keep_active", "metadata")
"""The fields of workflows that it includes as written."""
_WITHOUT_RETRY: Final = "actions without a retryRef"


def outline_of(workflow: Workflow) -> Outline:
    start = workflow.start
    return Outline(
        parts=_parts(workflow.states, workflow.start_state, ""),
        remarks=(
            *([f"in {start.window} only"] if start.window is not None else []),
            *(["stays active"] if workflow.keep_active else []),
        ),
        schedule=None if start.schedule is None else _schedule(start.schedule),
        sections=tuple(one for one in _sections(workflow) if one.lines),
        details=written(workflow, *(Workflow.model_fields.keys() - _OTHERS)),
    )


def _parts(states: Iterable[State], start: str, path: str) -> tuple[OutlinePart, ...]:
    return tuple(_part(state, path) for state in sorted(states, key=lambda one: one.name != start))


def _part(state: State, path: str) -> OutlinePart:
    own = f"{path}{state.name}"
    parts: tuple[OutlinePart, ...] = ()
    if isinstance(state, ParallelState):
        parts = tuple(_branch(branch, f"{own}/{branch.name}") for branch in state.branches)
    elif isinstance(state, ForeachState) and state.written_type is None:
        parts = _held(state.scope, own)
    return OutlinePart(
        path=own,
        kind=state.written_type or state.type,
        name=state.name,
        note="to undo another" if state.used_for_compensation else "",
        work=tuple(work_of(state)),
        limits=written(state.timeouts),
        ways=tuple(ways_of(state, path)),
        parts=parts,
        is_concurrent=isinstance(state, ParallelState),
        details=written(state, *_SHOWN_FIELDS),
    )


def _branch(branch: Branch, path: str) -> OutlinePart:
    return OutlinePart(
        path=path,
        kind="branch",
        name=branch.name,
        note="" if branch.is_awaited else "not waited for",
        work=actions_of(branch.actions),
        limits=written(branch.timeouts),
        parts=_held(branch.scope, path),
    )


def _held(scope: NestedStates | None, path: str) -> tuple[OutlinePart, ...]:
    return () if scope is None else _parts(scope.states, scope.start, f"{path}/")


def _schedule(schedule: Schedule) -> dict[str, JSON]:
    cron = schedule.cron
    words = schedule_words(
        interval=schedule.interval,
        cron=None if cron is None else cron.expression,
        valid_until=None if cron is None else cron.valid_until,
        timezone=schedule.timezone,
    )
    return {**written(schedule), "words": words}


def _sections(workflow: Workflow) -> Iterator[Section]:
    retries = facts_of_retries(workflow)
    errors = [written(one) for one in workflow.errors]
    auth = [{"name": one.name, "scheme": one.scheme} for one in workflow.auth]
    schemas = {"input": workflow.data_input_schema, "output": workflow.data_output_schema}
    yield Section("errors", tuple(map(_error, errors)), errors)
    yield Section("retries", tuple(f"{one['name'] or _WITHOUT_RETRY}: {one['words']}" for one in retries), retries)
    yield Section("auth", tuple(f"{one['name']}: {one['scheme']}" for one in auth), auth)
    yield Section("constants", tuple(workflow.constants), list(workflow.constants))
    yield Section("timeouts", tuple(_timeouts(workflow.timeouts)), written(workflow.timeouts))
    given = {name: schema for name, schema in schemas.items() if schema is not None}
    yield Section(
        "data schemas",
        tuple(_schema(name, schema) for name, schema in given.items()),
        {name: {"schema": one.schema_, "failOnValidationErrors": one.fail_on_validation_errors}
         for name, one in given.items()},
    )  # fmt: skip
    yield Section("extensions", tuple(map(in_a_line, workflow.extensions)), list(workflow.extensions))
    elsewhere: JSON = {kind: external.uri for kind, external in workflow.externals.items()}
    yield Section("elsewhere", tuple(f"{kind}: {one.uri}" for kind, one in workflow.externals.items()), elsewhere)


def _error(error: dict[str, str]) -> str:
    facts = ", ".join(in_a_line(error[key]) for key in ("code", "description") if key in error)
    return f"{error['name']}: {facts}" if facts else error["name"]


def _timeouts(timeouts: WorkflowTimeouts) -> Iterator[str]:
    whole = timeouts.workflow_exec_timeout
    if whole is not None:
        then = "" if whole.run_before is None else f", after {whole.run_before}"
        patient = "" if whole.interrupt else ", not in the middle of a state"
        yield f"workflowExecTimeout {whole.duration}{then}{patient}"
    yield from (f"{name} {length}" for name, length in written(timeouts, "workflow_exec_timeout").items())


def _schema(name: str, schema: DataSchema) -> str:
    strict = "mismatches are refused" if schema.fail_on_validation_errors else "mismatches are only reported"
    return f"{name}: {in_a_line(schema.schema_)}, {strict}"
