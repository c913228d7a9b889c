"""Tasks lead to tasks that stand beside them, from a start to an end (sections "Transitions", "Start Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules.context import Context
from swf_temporal.languages.serverless_workflow.drafts.may_2020.scopes import TaskScope, start_of, ways_of
from swf_temporal.text.suggestions import NEVER_ENTERED, meant_or_known


def check(context: Context) -> Iterator[Problem]:
    """Yield what is wrong with the ways through the tasks of a workflow, of its branches and of its iterations."""
    for scope in context.scopes():
        if not scope.tasks:
            message = f"{scope.owner}: {context.wording('tasks')} is empty"
            hint = f"write at least one {context.wording('task')}, such as '- {{name: ..., type: inject, data: {{}}}}'"
            yield context.error("empty-list", message, scope.node.where.value("tasks"), hint)
            continue
        yield from _names(context, scope)
        yield from _start(context, scope)
        yield from _ends(context, scope)
        yield from _targets(context, scope)
        yield from _unreachable(context, scope)
    for parallel, owner in context.each(model.ParallelTask):
        yield from context.repeated("branch", parallel.branches, f" in {owner}")
    yield from context.repeated("function", context.root.functions)
    yield from context.repeated("event", context.root.events)


def _names(context: Context, scope: TaskScope) -> Iterator[Problem]:
    within = "" if scope.node is context.root else f" in {scope.owner}"
    yield from context.repeated(context.wording("task"), scope.tasks, within)
    yield from context.repeated_ids(context.wording("task"), scope.tasks, within)


def _start(context: Context, scope: TaskScope) -> Iterator[Problem]:
    root, word = context.root, context.wording("task")
    named = root.starts_at if scope.node is root else None
    known = {name for task in scope.tasks for name in (task.name, task.id) if name is not None}
    if named is not None and named not in known:
        message = f"startsAt names {named!r}, which is not a {word} here"
        yield context.error("transition-target", message, root.where.value("startsAt"), meant_or_known(named, known))
    starts = [task for task in scope.tasks if task.start is not None]
    chosen = start_of(scope.tasks, named)
    if not starts and named is None:
        message = f"{scope.owner} has no start {word}: it begins with {chosen.name!r}, the first"
        yield context.warning("start", message, chosen.where.position, "write 'start: {kind: default}' in one")
    for other in starts:
        if other is not chosen:
            message = f"{scope.owner} begins with {chosen.name!r}: that {other.name!r} is a start has no effect"
            yield context.warning("start", message, other.where.key("start"), "remove its start")


def _ends(context: Context, scope: TaskScope) -> Iterator[Problem]:
    word = context.wording("task")
    prefix = "" if scope.node is context.root else f" of {scope.owner}"
    for task in scope.tasks:
        owner = f"{word} {task.name!r}{prefix}"
        if isinstance(task, model.SwitchTask):
            for key, value in (("transition", task.transition), ("end", task.end)):
                if value is not None:
                    message = f"{owner} is a switch: its conditions say where it leads, and this {key} is never taken"
                    hint = "remove it, and say in default where the switch leads if no condition is met"
                    yield context.warning("transition-or-end", message, task.where.key(key), hint)
        elif task.transition is not None and task.end is not None:
            message = f"{owner} has a transition and an end: it can have only one of them"
            hint = f"remove the end if another {word} follows, and the transition if none does"
            yield context.error("transition-or-end", message, task.where.key("end"), hint)
        elif task.transition is None and task.end is None:
            message = f"{owner} has neither a transition nor an end: the path ends here"
            yield context.warning("transition-or-end", message, task.where.position, "write 'end: {kind: default}'")
    if all(task.end is None and (task.transition or isinstance(task, model.SwitchTask)) for task in scope.tasks):
        message = f"{scope.owner} has no end {word}: no path through it comes to an end"
        hint = f"write 'end: {{kind: default}}' in the {word} that is the last, in place of its transition"
        yield context.error("transition-or-end", message, scope.node.where.key("tasks"), hint)


def _targets(context: Context, scope: TaskScope) -> Iterator[Problem]:
    word, key = context.wording("task"), context.wording("nextTask")
    known = {name for task in scope.tasks for name in (task.name, task.id) if name is not None}
    elsewhere = {task.name for other in context.scopes() for task in other.tasks}
    for task in scope.tasks:
        for way in ways_of(task):
            if way.next_task in known:
                continue
            message = f"{word} {task.name!r} leads to {way.next_task!r}, which is not a {word} here"
            hint = meant_or_known(way.next_task, known)
            if way.next_task in elsewhere:
                message = f"{word} {task.name!r} leads to {way.next_task!r}, which does not stand beside it"
                hint = f"{key} names a {word} of the same {_holder(scope)}"
            yield context.error("transition-target", message, way.where.value("nextTask"), hint)


def _holder(scope: TaskScope) -> str:
    if isinstance(scope.node, model.Branch):
        return "branch"
    return "foreach" if isinstance(scope.node, model.ForeachTask) else "workflow, outside of branches and foreach"


def _unreachable(context: Context, scope: TaskScope) -> Iterator[Problem]:
    by_name = {task.id: task for task in scope.tasks if task.id is not None}
    by_name |= {task.name: task for task in scope.tasks}
    start = start_of(scope.tasks, context.root.starts_at if scope.node is context.root else None)
    entered: set[int] = set()
    waiting = [start]
    while waiting:
        task = waiting.pop()
        if id(task) not in entered:
            entered.add(id(task))
            waiting += [by_name[way.next_task] for way in ways_of(task) if way.next_task in by_name]
    for task in scope.tasks:
        if id(task) not in entered:
            message = f"{context.wording('task')} {task.name!r} is never entered"
            yield context.warning("unreachable-state", message, task.where.value("name"), NEVER_ENTERED)
