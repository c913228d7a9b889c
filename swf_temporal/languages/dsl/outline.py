"""The outline of a definition: its tasks with their work and transitions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from swf_temporal.base.calendars.wording import schedule_words
from swf_temporal.drawing.outline import Outline, OutlinePart, Section, Way, Work, WorkflowRef, in_a_line
from swf_temporal.languages.dsl.execution.errors import short_type
from swf_temporal.languages.dsl.execution.filters import filters_of
from swf_temporal.languages.dsl.model.lists import escaped, lists_of
from swf_temporal.languages.dsl.model.parts import EventStrategy
from swf_temporal.languages.dsl.model.workflow import (
    BUILT_IN,
    CallFunction,
    CallHttp,
    EmitTask,
    ForkTask,
    ForTask,
    ListenTask,
    NamedTask,
    RaiseTask,
    RunTask,
    SetTask,
    SwitchTask,
    Task,
    TaskBase,
    TryTask,
    WaitTask,
    Workflow,
    WorkflowProcess,
)
from swf_temporal.languages.dsl.model.zigflow import QUERY, ZigflowWorkflow, messages_of
from swf_temporal.languages.dsl.names import LATEST, id_of, own_function
from swf_temporal.languages.dsl.schedules import written


def outline_of(workflow: Workflow) -> Outline:
    """Return the outline of *workflow*."""
    timeout = _limit(workflow.timeout, workflow)
    sections = (Section("timeouts", (f"workflow {timeout}",), {"workflow": timeout}),) if timeout else ()
    parts = _parts(workflow.do, "/do", workflow)
    if parts:  # the first is where it starts
        parts += (*_functions(workflow), *_extensions(workflow))
    return Outline(parts=parts, schedule=_schedule(workflow), sections=sections)


def _functions(workflow: Workflow) -> Iterator[OutlinePart]:
    """Yield the functions of *workflow*, each a part to which no other leads."""
    for name, task in workflow.use.functions.items():
        part = _part(name, task, f"/use/functions/{escaped(name)}", None, {}, workflow)
        yield replace(part, note="function", ways=())


def _extensions(workflow: Workflow) -> Iterator[OutlinePart]:
    """Yield what the extensions of *workflow* do before the tasks that they extend, and after them."""
    for index, one in enumerate(workflow.use.extensions):
        name, extension = one.name, one.extension
        condition = () if extension.when is None else (Work(text=f"if {in_a_line(extension.when)}"),)
        for when, tasks in (("before", extension.before), ("after", extension.after)):
            path = f"/use/extensions/{index}/{escaped(name)}/{when}"
            extended = "all tasks" if extension.extend == "all" else f"{extension.extend} tasks"
            if tasks:
                parts = _parts(tasks, path, workflow)
                yield OutlinePart(path, "extension", name, f"{when} {extended}", work=condition, parts=parts)


def _schedule(workflow: Workflow) -> dict[str, Any] | None:
    schedule = workflow.schedule
    if schedule is None:
        return None
    if schedule.cron is not None:
        return {"cron": schedule.cron, "words": schedule_words(cron=schedule.cron, interval=None, timezone=None)}
    if schedule.every is not None:
        every = written(schedule.every)
        return {"every": every, "words": schedule_words(cron=None, interval=f"R/{every}", timezone=None)}
    if schedule.after is not None:
        return {"after": written(schedule.after), "words": f"again {written(schedule.after)} after it has completed"}
    return None


def _limit(timeout: Any, workflow: Workflow) -> str | None:
    found = workflow.use.timeouts.get(timeout) if isinstance(timeout, str) else timeout
    return None if found is None else written(found.after)


def _parts(tasks: Sequence[NamedTask], place: str, workflow: Workflow) -> tuple[OutlinePart, ...]:
    paths = [f"{place}/{index}/{escaped(one.name)}" for index, one in enumerate(tasks)]
    named: dict[str, str] = {}
    for one, path in zip(tasks, paths, strict=True):
        named.setdefault(one.name, path)
    return tuple(
        _part(one.name, one.task, path, paths[index + 1] if index + 1 < len(paths) else None, named, workflow)
        for index, (one, path) in enumerate(zip(tasks, paths, strict=True))
    )


def _part(
    name: str, task: Task, path: str, following: str | None, named: Mapping[str, str], workflow: Workflow
) -> OutlinePart:
    limit = _limit(task.timeout, workflow)
    return OutlinePart(
        path=path,
        kind=task.kind,
        name=name,
        work=tuple(_work_in(name, task, workflow)),
        limits={} if limit is None else {"timeout": limit},
        ways=tuple(_ways(task, path, following, named)),
        parts=tuple(_inner(task, path, workflow)),
        is_concurrent=isinstance(task, ForkTask),
    )


def _inner(task: Task, path: str, workflow: Workflow) -> Iterator[OutlinePart]:
    """Yield the parts in *task*; what a try task does about an error is a separate part."""
    for key, tasks in lists_of(task):
        parts = _parts(tasks, f"{path}/{key}", workflow)
        if isinstance(task, ForkTask):
            yield from (replace(branch, ways=()) for branch in parts)  # no branch leads to another
        elif key != "catch/do":
            yield from parts
        elif parts and isinstance(task, TryTask):
            yield OutlinePart(path=f"{path}/catch", kind="catch", name=_caught(task), parts=parts)


def _caught(task: TryTask) -> str:
    """Return the words for the errors that *task* catches."""
    catch = task.catch
    wanted = None if catch.errors is None else catch.errors.with_
    words = (
        []
        if wanted is None
        else [
            short_type(value) if name == "type" else in_a_line(value)
            for name, value in wanted
            if name != "where" and value is not None
        ]
    )
    condition = "" if catch.when is None else f" if {in_a_line(catch.when)}"
    return f"on error {' '.join(words)}".strip() + condition


def _work_in(name: str, task: TaskBase, workflow: Workflow) -> Iterator[Work]:
    also = () if task.if_ is None else (f"if {in_a_line(task.if_)}",)
    if isinstance(workflow, ZigflowWorkflow) and isinstance(task, ListenTask):
        messages = messages_of(task)
        awaited = tuple(one.id for one in messages if one.type != QUERY)
        answered = [one.id for one in messages if one.type == QUERY]
        words = f"waits for {' and '.join(awaited)}" if awaited else f"answers {', '.join(answered)}"
        yield Work(text=words, awaits=awaited, also=also)
    elif isinstance(workflow, ZigflowWorkflow) and isinstance(task, CallFunction):
        yield Work(calls=name, also=also)
    else:
        yield from _work(name, task, workflow.use.functions)


def _work(name: str, task: TaskBase, functions: Collection[str]) -> Iterator[Work]:  # noqa: C901, PLR0912 - a case for each type
    also = () if task.if_ is None else (f"if {in_a_line(task.if_)}",)
    match task:
        case CallFunction() if own_function(task.call) is None or task.call in functions:
            yield Work(text=f"runs function {task.call}", also=also)
        case CallFunction():
            yield Work(calls=name, also=also)
        case CallHttp():
            given = task.with_
            uri = given.endpoint if isinstance(given.endpoint, str) else given.endpoint.uri
            yield Work(calls=name, also=(f"{given.method.upper()} {in_a_line(uri)}", *also))
        case TaskBase() if getattr(task, "call", None) in BUILT_IN:
            yield Work(calls=name, also=also)
        case RunTask() if task.run.workflow is not None:
            waits = () if task.run.await_ else ("without waiting for it",)
            yield Work(runs=reference_to(task.run.workflow), also=(*also, *waits))
        case RunTask():
            yield Work(calls=name, also=also)
        case EmitTask():
            given = task.emit.event.with_
            kind = given.get("type") if isinstance(given, dict) else None
            yield Work(produces=(str(kind),), also=also)
        case ListenTask():
            yield _listening(task, also)
        case ForTask():
            yield Work(text=f"each {task.for_.each} of {in_a_line(task.for_.in_)}", also=also)
        case ForkTask():
            yield Work(text="the first of these" if task.fork.compete else "all of these", also=also)
        case WaitTask():
            yield Work(text=f"waits {written(task.wait)}", also=also)
        case RaiseTask():
            error = task.raise_.error
            yield Work(text=f"raises {error if isinstance(error, str) else error.type}", also=also)
        case SetTask():
            yield Work(text=f"sets {in_a_line(task.set)}", also=also)
        case _:
            if also:
                yield Work(text=also[0])


def reference_to(process: WorkflowProcess) -> WorkflowRef:
    """Return the definition that *process* runs."""
    return WorkflowRef(id_of(process.namespace, process.name), None if process.version == LATEST else process.version)


def _listening(task: ListenTask, also: tuple[str, ...]) -> Work:
    to = task.listen.to
    names = tuple(dict.fromkeys(one.name for one in filters_of(to)))
    words = "waits for " + (" and " if to.all is not None else " or ").join(names)
    if isinstance(to.until, str):
        words += f" until {in_a_line(to.until)}"
    elif isinstance(to.until, EventStrategy):
        words += f" until {' or '.join(one.name for one in filters_of(to.until))}"
    return Work(text=words, awaits=names, also=also)


def _ways(task: TaskBase, path: str, following: str | None, named: Mapping[str, str]) -> Iterator[Way]:
    is_inner = path.count("/") > "/do/0/name".count("/")

    def way(
        on: Literal["completion", "condition", "default", "error"],
        then: str | None,
        when: str = "",
        name: str | None = None,
    ) -> Way:
        return Way(on, _target(then, following, named), when, name=name, terminates=is_inner and then == "end")

    if isinstance(task, SwitchTask):
        has_default = False
        for one in task.switch:
            if one.case.when is None:
                has_default = True
                yield way("default", one.case.then, "otherwise", one.name)
            else:
                yield way("condition", one.case.then, f"if {in_a_line(one.case.when)}", one.name)
        if not has_default:
            yield way("default", task.then, "otherwise")
        return
    if not isinstance(task, RaiseTask):
        yield way("completion", task.then)
    if isinstance(task, TryTask) and task.catch.then is not None:
        yield way("error", task.catch.then, "on error")


def _target(then: str | None, following: str | None, named: Mapping[str, str]) -> str | None:
    if then in (None, "continue"):
        return following
    return None if then in ("exit", "end") else named.get(then)
