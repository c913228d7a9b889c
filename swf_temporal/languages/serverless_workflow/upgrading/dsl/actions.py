"""Actions as tasks of DSL 1.0."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from swf_temporal.languages.serverless_workflow.model.actions import Action, EventRef, FunctionRef, SubflowRef
from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import (
    Context,
    Step,
    Task,
    document_name,
    duration,
    refusal,
    semantic_version,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import is_retried, retried
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import emit, listen_to, merged_output
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import (
    Inexpressible,
    braced,
    grouped,
    piped,
    single,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.functions import asked, component, in_place
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import Merge, merge_of

RAW: Final = "$task.input"
"""The data of a task whose `input.from` selects other data for its work."""
WHOLE: Final = (
    "a branch of several tasks yields all its data: what it does not change replaces what branches before it changed"
)
COLLECTED: Final = "collected"
IN_PLACE: Final = "a call with secrets in its arguments stands in its place: settings of the function are its task's"
NONE_LEFT: Final = "a timeout that turns out to be 0 ends a task before it makes its call: in 0.8 after that"
LATE: Final = "a timeout of an action ends it when the time is over: 0.8 does when the next attempt would be too late"


def sequence(actions: Sequence[Action], timeout: str | None, context: Context) -> list[Step]:
    """Return the tasks that perform *actions* in turn, each of which merges its result into the data."""
    return [step for action in actions for step in _steps(action, timeout, context)]


def yielding(action: Action, timeout: str | None, context: Context, *, is_named: bool) -> list[Step]:
    """Return the tasks that perform *action* and yield its result: in place of the data, or under COLLECTED in it."""

    def put(merge: Merge, base: str) -> str:
        return f"{base} + {{{COLLECTED}: {grouped(merge.alone())}}}" if is_named else merge.alone()

    return _steps(action, timeout, context, put)


def has_result(action: Action) -> bool:
    """Return whether *action* has a result that is used."""
    given = action.action_data_filter
    if given is not None and not given.use_results:
        return False
    if action.event_ref is not None:
        return action.event_ref.consume_event_ref is not None and action.event_ref.invoke != "async"
    ref = action.function_ref or action.sub_flow_ref
    return ref is not None and ref.invoke != "async"


def effect(action: Action, timeout: str | None, context: Context) -> Step:
    """Return the task that performs *action* and yields an object with its result, to be merged into the data."""
    if action.condition is not None or action.sleep is not None or action.event_ref is not None:
        context.differs(WHOLE, action)
        return context.inner.free(f"{name_of(action)} branch"), {"do": as_list(_steps(action, timeout, context))}
    [step] = _or_refused(action, lambda: [_effect(action, timeout, context)], context)
    return step


def _effect(action: Action, timeout: str | None, context: Context) -> Step:
    task, merge = _invoked(action, context)
    if merge is not None:
        context.note(merge.notes)
    name = context.inner.free(name_of(action))
    task = {**task, "output": {"as": "{}" if merge is None else merge.effect()}}
    return _completed(action, (name, task), timeout, context)


def name_of(action: Action) -> str:
    """Return the name of *action*, or else that of what it performs."""
    if action.name:
        return action.name
    if action.function_ref is not None:
        return action.function_ref.ref_name
    if action.sub_flow_ref is not None:
        return action.sub_flow_ref.workflow_id
    return action.event_ref.produce_event_ref if action.event_ref is not None else "action"


def _said(action: Action) -> str:
    return f"the action {name_of(action)!r}"


Put: TypeAlias = Callable[[Merge, str], str]
"""The expression that puts a result into the data at a path."""


def _into(merge: Merge, base: str) -> str:
    return merge.into(base)


def _steps(action: Action, timeout: str | None, context: Context, put: Put = _into) -> list[Step]:
    def write() -> list[Step]:
        return _with_waits(action, _performing(action, timeout, context, put), context)

    return _or_refused(action, write, context)


def _or_refused(action: Action, write: Callable[[], list[Step]], context: Context) -> list[Step]:
    """Return the tasks that *write* does; if it cannot, one that raises an error stands for what *action* performs.

    Around it are the retries, the condition and the sleep of the action, as they will be around what a person writes in
    its place; the retries do not repeat that error.
    """
    names = context.inner
    try:
        with context.at(action):
            context.inner = names.copy()
            steps = write()
            context.becomes(action, steps[0][0])
            return steps
    except Inexpressible as error:
        context.inner = names
        message = f"{_said(action)}: {error}"
        context.refused(message, action)
        called = None if action.function_ref is None else action.function_ref.ref_name
        function = next((one for one in context.workflow.functions if one.name == called), None)
        steps = [(names.free(name_of(action)), refusal(message, action=action, function=function))]
        with suppress(Inexpressible), context.at(action):
            steps = [retried(action, steps[0], context)]
        with suppress(Inexpressible), context.at(action):
            steps = _with_waits(action, steps, context)
        context.becomes(action, steps[0][0])
        return steps


def _with_waits(action: Action, steps: list[Step], context: Context) -> list[Step]:
    """Return *steps* with the sleep and the condition of *action*."""
    sleep = action.sleep
    if sleep is not None and sleep.before is not None:
        wait = {"wait": duration(sleep.before, context.translate)}
        steps = [(context.inner.free(f"wait before {name_of(action)}"), wait), *steps]
    if sleep is not None and sleep.after is not None:
        wait = {"wait": duration(sleep.after, context.translate)}
        steps = [*steps, (context.inner.free(f"wait after {name_of(action)}"), wait)]
    if action.condition is None:
        return steps
    condition = {"if": context.translate.condition(action.condition)}
    if len(steps) == 1:
        ((name, task),) = steps
        return [(name, {**condition, **task})]
    return [(context.inner.free(name_of(action)), {**condition, "do": as_list(steps)})]


def _performing(action: Action, timeout: str | None, context: Context, put: Put) -> list[Step]:
    if action.event_ref is not None:
        return _exchanged(action, action.event_ref, timeout, context, put)
    task, merge = _invoked(action, context)
    base = RAW if "input" in task else "$input"
    if merge is None:
        # A task that is not awaited yields its input.
        is_dropped = task.get("run", {}).get("await") is not False and "catch" not in task
        task = {**task, **({"output": {"as": base}} if is_dropped else {})}
    else:
        context.note(merge.notes if put is _into else [])
        task = {**task, "output": {"as": put(merge, base)}}
    return [_completed(action, (context.inner.free(name_of(action)), task), timeout, context)]


def _completed(action: Action, step: Step, timeout: str | None, context: Context) -> Step:
    """Return *step* with the retries and the timeout of *action*."""
    if "catch" not in step[1]:
        step = retried(action, step, context)
    if timeout is None or "set" in step[1]:
        return step
    if "${" in timeout:
        context.note([NONE_LEFT])
    if "try" in step[1]:
        context.note([LATE])
    return step[0], {**step[1], "timeout": {"after": duration(timeout, context.translate)}}


def _invoked(action: Action, context: Context) -> tuple[Task, Merge | None]:
    """Return the task that invokes what *action* names, and how its result is merged."""
    before = "."
    given = action.action_data_filter
    selected = None if given is None or given.from_state_data is None else context.translate.jq(given.from_state_data)
    if action.function_ref is not None:
        ref = action.function_ref
        function = next(one for one in context.workflow.functions if one.name == ref.ref_name)
        if function.type == "expression":
            task = _evaluated(ref, function, selected, context)
        else:
            task, before = _call(ref, function, selected, context)
        if ref.invoke == "async":
            return _ignored(action, task, context), None
    elif action.sub_flow_ref is not None:
        # 0.8 ignores the filter of what it does not await.
        is_async = action.sub_flow_ref.invoke == "async"
        task = _run(action, action.sub_flow_ref, None if is_async else selected, context)
        if is_async:
            return task, None
    else:
        raise Inexpressible(f"{_said(action)}, which names nothing to perform")
    if given is not None and not given.use_results:
        return task, None
    return task, merge_of(given, None if given is None else given.results, context.translate, before)


def _ignored(action: Action, task: Task, context: Context) -> Task:
    """Return *task* so that neither its result nor its errors matter, as those of calls that are not awaited."""
    context.differs(f"1.0 awaits every call: {_said(action)} is awaited, and its errors are caught", action)
    inner = {**task, "output": {"as": RAW if "input" in task else "$input"}}
    return {"try": as_list([(context.inner.free(f"call {name_of(action)}"), inner)]), "catch": {}}


def _evaluated(ref: FunctionRef, function: Function, selected: str | None, context: Context) -> Task:
    expression = context.translate.jq(function.operation)
    parts = [] if selected is None else [single(selected)]
    if "$args" in expression:
        arguments = "null" if ref.arguments is None else context.translate.construction(ref.arguments)
        return {"set": braced(piped(*parts, f"{grouped(arguments)} as $args | {expression}"))}
    return {"set": braced(piped(*parts, expression))}


def _call(ref: FunctionRef, function: Function, selected: str | None, context: Context) -> tuple[Task, str]:
    """Return the task that calls *function*, and the path of its result in what the task yields."""
    arguments = context.translate.arguments(ref.arguments)
    has_expressions = context.translate.has_expressions(arguments)
    taken = {"input": {"from": selected}} if selected is not None and has_expressions else {}
    if function.type in ("graphql", "odata"):
        request, before = asked(function, ref, context)
        return {**taken, **request}, before
    if "$SECRETS" in str(arguments) and isinstance(arguments, Mapping):
        # Secrets are known where a call is performed, and not where a function is called.
        context.note([IN_PLACE])
        return {**taken, **in_place(function, arguments, context.translate.with_secrets(), context)}, "."
    called = component(function, context)
    if not isinstance(arguments, Mapping):
        # Those of a function are an object, and without them it gets the input of the call.
        whole = piped(*(() if selected is None else (selected,)), context.translate.construction(arguments))
        return {"input": {"from": whole}, "call": function.name}, "."
    # Without arguments, a function of the worker gets the data, and others have nothing to fill in.
    needs_none = not arguments and ":" not in called["call"] and "${" not in str(called)
    given = {} if needs_none else {"with": context.translate.template(arguments)}
    return {**taken, "call": function.name, **given}, "."


def _run(action: Action, ref: SubflowRef, selected: str | None, context: Context) -> Task:
    name = document_name(ref.workflow_id)
    if name != ref.workflow_id:
        context.reshaped(f"the workflow {ref.workflow_id!r} is called {name!r}", action)
    task: Task = {
        **({} if selected is None else {"input": {"from": selected}}),
        "run": {
            "workflow": {
                "namespace": context.namespace,
                "name": name,
                "version": "latest" if ref.version is None else semantic_version(ref.version),
            }
        },
    }
    if ref.invoke == "async":
        task["run"]["await"] = False
        if ref.on_parent_complete == "terminate":
            context.differs(
                f"the workflow that {_said(action)} starts outlives this one: in 0.8 it ends with it", action
            )
    elif ref.on_parent_complete == "continue":
        context.differs(f"the workflow that {_said(action)} runs ends with this one", action)
    return task


def _exchanged(action: Action, ref: EventRef, timeout: str | None, context: Context, put: Put) -> list[Step]:
    """Return the tasks that produce an event and wait for its answer."""
    given = action.action_data_filter
    sent = emit(context.events[ref.produce_event_ref], ref.data, ref.context_attributes, context)
    if given is not None and given.from_state_data is not None:
        sent = {"input": {"from": context.translate.jq(given.from_state_data)}, **sent, "output": {"as": RAW}}
    name = context.inner.free(name_of(action))
    steps = [(name, sent)]
    if ref.consume_event_ref is not None and ref.invoke != "async":
        answer = listen_to([ref.consume_event_ref], context)
        uses = given is None or given.use_results
        results = None if given is None else given.results
        merge = merge_of(given, results, context.translate, ".[0]") if uses else None
        answer = merged_output(answer, merge, context)
        if merge is not None:
            answer["output"] = {"as": piped(put(merge, "$input"))}
        if ref.consume_event_timeout is not None:
            answer["timeout"] = {"after": duration(ref.consume_event_timeout, context.translate)}
        elif timeout is not None and not is_retried(action, context):
            answer["timeout"] = {"after": duration(timeout, context.translate)}
            timeout = None
        steps.append((context.inner.free(ref.consume_event_ref), answer))
    if len(steps) == 1 or (timeout is None and not is_retried(action, context)):
        return steps
    whole = context.inner.free(f"exchange {name_of(action)}"), {"do": as_list(steps)}
    return [_completed(action, whole, timeout, context)]


def as_list(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return *steps* as a task list."""
    return [{name: task} for name, task in steps]
