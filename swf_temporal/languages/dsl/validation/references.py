"""Rules about names: those that tasks refer to are there, those in a list differ, and every task can be reached."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from swf_temporal.languages.dsl.model.node import Node
from swf_temporal.languages.dsl.model.parts import Authentication, Credentials
from swf_temporal.languages.dsl.model.workflow import (
    BUILT_IN,
    CallFunction,
    NamedCase,
    NamedTask,
    RaiseTask,
    SwitchTask,
    TaskBase,
    TryTask,
    Use,
    Workflow,
)
from swf_temporal.languages.dsl.model.zigflow import ACTIVITY
from swf_temporal.languages.dsl.names import DIRECTIVES, LIKE_ZIGFLOW, VERSION_FORM, own_function
from swf_temporal.languages.dsl.validation.walk import Kind, Place, Report, Walk, components_in, parts_of
from swf_temporal.text.suggestions import did_you_mean, meant_or_known

_DURATION: Final = re.compile(r"P\w+|\$\{.*", re.DOTALL)
_VERSIONED: Final = re.compile(rf"[^:@/]+:{VERSION_FORM}")


def check_references(walk: Walk, report: Report, missing: Iterable[str]) -> None:
    """Add the problems of the names in a definition; functions that are *missing* are reported already."""
    workflow, places = walk.workflow, walk.places
    names = {place.name for place in places if place.kind is not Kind.FUNCTIONS}
    for place in places:
        if isinstance(place.task, SwitchTask):
            _duplicates("cases", "switch", place.task.switch, report)
        _targets(place, names, report)
        _components(place, workflow, report, set(missing))
    _timeout("the workflow", workflow, workflow, report)
    for owner, component in components_in(workflow):
        _authentications(owner, component, workflow, report)
    for one in walk.lists:
        _duplicates("tasks", "list", one.tasks, report)
        if one.kind is Kind.LIST:
            _unreachable(one.tasks, report)


# Flow


def _ways(task: TaskBase) -> Iterator[tuple[str, Node]]:
    """Yield the flow directives of *task*, each with the node that has it under `then`."""
    if task.then is not None:
        yield task.then, task
    if isinstance(task, SwitchTask):
        yield from ((one.case.then, one.case) for one in task.switch)
    if isinstance(task, TryTask) and task.catch.then is not None:
        yield task.catch.then, task.catch


def _targets(place: Place, names: set[str], report: Report) -> None:
    for target, node in _ways(place.task):
        where = node.where.value("then")
        if target in DIRECTIVES:
            continue
        if place.kind is Kind.FUNCTIONS:
            message = f"{place.owner} leads to {target!r}, and what follows is decided by the task that calls it"
            report.error("transition-target", message, where, "write then in that task")
        elif place.kind is Kind.BRANCHES:
            message = f"{place.owner} leads to {target!r}, and is a branch, which nothing follows"
            report.error("transition-target", message, where, "write what follows in a do task, as one branch")
        elif target not in place.beside:
            message = f"{place.owner} leads to {target!r}, which is not a task of its list"
            hint: str | None
            if target in names:
                hint = f"{target!r} is in another list: then leads only to tasks of the same list"
            else:
                hint = did_you_mean(target, [*place.beside, *DIRECTIVES]) or meant_or_known(target, set(place.beside))
            report.error("transition-target", message, where, hint)


def _duplicates(what: str, where: str, named: Sequence[NamedTask | NamedCase], report: Report) -> None:
    seen: set[str] = set()
    for one in named:
        if one.name in seen:
            message = f"there are several {what} named {one.name!r} in one {where}"
            report.warning("duplicate-name", message, one.where.position, "rename one of them")
        seen.add(one.name)


def _unreachable(tasks: Sequence[NamedTask], report: Report) -> None:
    at = {one.name: index for index, one in reversed(list(enumerate(tasks)))}
    reached: set[int] = set()
    waiting = [0]
    while waiting:
        index = waiting.pop()
        if index < len(tasks) and index not in reached:
            reached.add(index)
            waiting += _following(tasks[index].task, index, at)
    for index, one in enumerate(tasks):
        if index not in reached:
            hint = "lead to it with then, or remove it"
            report.warning("unreachable-state", f"task {one.name!r} is never reached", one.where.position, hint)


def _following(task: TaskBase, index: int, at: dict[str, int]) -> Iterator[int]:
    """Yield the indexes of the tasks that may follow *task*, which is at *index*."""
    directives = [target for target, _ in _ways(task)]
    is_default = isinstance(task, SwitchTask) and any(one.case.when is None for one in task.switch)
    goes_on = task.then is None and not is_default and not isinstance(task, RaiseTask)
    if goes_on or task.if_ is not None or "continue" in directives:
        yield index + 1
    # A target that is not there is reported, and so is not what follows for want of it.
    yield from (at[target] for target in directives if target in at)


# Components


def _components(place: Place, workflow: Workflow, report: Report, missing: set[str]) -> None:
    task, use = place.task, workflow.use
    _timeout(place.owner, task, workflow, report)
    is_known = isinstance(task, CallFunction) and (task.call in use.functions or own_function(task.call) is not None)
    if isinstance(task, CallFunction) and not is_known and task.call not in missing:
        message = f"{place.owner} calls the function {task.call!r}, which is not defined"
        report.error("function-undefined", message, task.where.value("call"), _undefined(task.call, use))
    if isinstance(task, RaiseTask) and isinstance(task.raise_.error, str) and task.raise_.error not in use.errors:
        message = f"{place.owner} raises the error {task.raise_.error!r}, which is not defined"
        hint = meant_or_known(task.raise_.error, use.errors, "define it under use.errors")
        report.error("error-undefined", message, task.raise_.where.value("error"), hint)
    if isinstance(task, TryTask) and isinstance(task.catch.retry, str) and task.catch.retry not in use.retries:
        message = f"{place.owner} refers to the retry policy {task.catch.retry!r}, which is not defined"
        hint = meant_or_known(task.catch.retry, use.retries, "define it under use.retries")
        report.error("retry-undefined", message, task.catch.where.value("retry"), hint)
    _authentications(place.owner, task, workflow, report)


def _undefined(called: str, use: Use) -> str:
    """Return a hint for a call of a function that is not defined: `name:version` is probably one of a catalog."""
    if called == ACTIVITY:
        return LIKE_ZIGFLOW
    meant = did_you_mean(called, [*use.functions, *BUILT_IN])
    if meant is not None:
        return meant
    if _VERSIONED.fullmatch(called) is None:
        return "define it under use.functions"
    catalog = next(iter(use.catalogs), "default")
    return f"a function of a catalog is called as {called}@CATALOG, such as {called}@{catalog}"


def _timeout(owner: str, node: TaskBase | Workflow, workflow: Workflow, report: Report) -> None:
    name = node.timeout
    if isinstance(name, str) and name not in workflow.use.timeouts:
        message = f"{owner} refers to the timeout {name!r}, which is not defined"
        if _DURATION.fullmatch(name):
            hint: str | None = f"a duration is written timeout: {{after: {name}}}"
        else:
            hint = meant_or_known(name, workflow.use.timeouts, "define it under use.timeouts")
        report.error("timeout-undefined", message, node.where.value("timeout"), hint)


def _authentications(owner: str, node: Node, workflow: Workflow, report: Report) -> None:
    for part in parts_of(node):
        if isinstance(part, Authentication):
            _authentication(owner, part, workflow, report)


def _authentication(owner: str, policy: Authentication, workflow: Workflow, report: Report) -> None:
    use = workflow.use
    if policy.use is not None and policy.use not in use.authentications:
        message = f"{owner} refers to the authentication policy {policy.use!r}, which is not defined"
        hint = meant_or_known(policy.use, use.authentications, "define it under use.authentications")
        report.error("auth-undefined", message, policy.where.value("use"), hint)
    for name in type(policy).model_fields:
        scheme = getattr(policy, name)
        if isinstance(scheme, Credentials) and scheme.use is not None and scheme.use not in use.secrets:
            message = f"{owner}: {name}.use names the secret {scheme.use!r}, which use.secrets does not name"
            hint = meant_or_known(scheme.use, use.secrets, f"write use: {{secrets: [{scheme.use}]}}")
            report.error("secret-undefined", message, scheme.where.value("use"), hint)
