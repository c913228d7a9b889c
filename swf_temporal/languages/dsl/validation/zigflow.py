"""Rules for zigflow documents: expressions compile, and tasks lead where zigflow follows."""

from collections.abc import Sequence
from typing import Final

from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.errors import Problem
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.languages.dsl.expressions import STATE, StrictExpressions
from swf_temporal.languages.dsl.model.parts import EventFilter
from swf_temporal.languages.dsl.model.workflow import (
    DoTask,
    NamedTask,
    RaiseTask,
    Schedule,
    SwitchTask,
    WorkflowProcess,
)
from swf_temporal.languages.dsl.model.zigflow import ZigflowWorkflow
from swf_temporal.languages.dsl.names import DIRECTIVES
from swf_temporal.languages.dsl.schedules import compiled
from swf_temporal.languages.dsl.validation.expressions import report_syntax
from swf_temporal.languages.dsl.validation.fields import Field, fields_of
from swf_temporal.languages.dsl.validation.values import check_values
from swf_temporal.languages.dsl.validation.walk import Kind, Report, Walk
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import did_you_mean

_ACTIVITY: Final = "$data.activity"
_TARGET: Final = "transition-target"
_OTHER_TARGETS: Final = "lead to a do of the list, to another workflow of the file, or to continue, exit or end"
_WITHIN: Final = "write the switch, and the do that it leads to, within a do, as one branch"


def validate_zigflow(workflow: ZigflowWorkflow, source: Source) -> list[Problem]:
    """Return the problems of *workflow*."""
    report, walk = Report(source), Walk(workflow)
    check_values(walk, report, but=(WorkflowProcess, EventFilter, Schedule))
    _check_schedule(workflow.schedule, report)
    for one in walk.lists:
        if one.kind is Kind.LIST:
            _check_flow(one.tasks, report)
        elif one.kind is Kind.BRANCHES:
            for named in one.tasks:
                if isinstance(named.task, SwitchTask):
                    _check_cases(named.name, named.task, one.tasks, report, _WITHIN)
    _check_expressions(list(fields_of(walk)), report)
    return report.problems


def _check_schedule(schedule: Schedule | None, report: Report) -> None:
    if schedule is None or schedule.cron is None:
        return
    try:
        compiled(schedule)
    except InvalidTime as error:
        report.error("schedule", error.message, schedule.where.value("cron"), error.hint)


def _check_flow(tasks: Sequence[NamedTask], report: Report) -> None:
    led_to = {one.case.then for named in tasks if isinstance(named.task, SwitchTask) for one in named.task.switch}
    for index, named in enumerate(tasks):
        task, apart = named.task, [is_apart(tasks, at) for at in range(len(tasks))]
        if apart[index] and named.name not in led_to:
            message = f"task {named.name!r} is a do after other tasks, which zigflow passes over"
            hint = "lead to it by a switch, write its tasks in its place, or put it before all others"
            report.warning("unreachable-state", message, named.where.position, hint)
        if task.then is not None and task.then not in DIRECTIVES:
            later = [one.name for at, one in enumerate(tasks) if at > index and not apart[at]]
            if task.then not in later:
                message = f"task {named.name!r} leads to {task.then!r}, which is not a later task of its list"
                hint = did_you_mean(task.then, [*later, *DIRECTIVES]) or "zigflow only leads to later tasks"
                report.error(_TARGET, message, task.where.value("then"), hint)
        if isinstance(task, SwitchTask):
            _check_cases(named.name, task, tasks, report, _OTHER_TARGETS)


def _check_cases(name: str, task: SwitchTask, tasks: Sequence[NamedTask], report: Report, otherwise: str) -> None:
    """Report where the cases of a switch lead that is no task to run; *otherwise* is the hint if none has that name."""
    beside = {one.name: one.task for one in tasks}
    for one in task.switch:
        target = beside.get(one.case.then)
        if one.case.then in DIRECTIVES or isinstance(target, DoTask | RaiseTask):
            continue
        where = one.case.where.value("then")
        if target is None:
            message = f"task {name!r} leads to {one.case.then!r}, which is not a task of its list"
            hint = did_you_mean(one.case.then, [*beside, *DIRECTIVES]) or otherwise
        else:
            message = f"task {name!r} leads to {one.case.then!r}, and zigflow runs only a do from a switch"
            hint = f"write its tasks under do: - {one.case.then}: {{do: [… ]}}"
        report.error(_TARGET, message, where, hint)


def is_apart(tasks: Sequence[NamedTask], index: int) -> bool:
    """Return whether the task at *index* is a `do` after other tasks, which runs only if a switch leads to it."""
    return isinstance(tasks[index].task, DoTask) and any(not isinstance(one.task, DoTask) for one in tasks[:index])


def _check_expressions(fields: Sequence[Field], report: Report) -> None:
    expressions = StrictExpressions(lambda: (field.text for field in fields))
    for field in fields:
        try:
            expressions.template(field.text)
        except BadExpression as error:
            report_syntax(field, error, STATE, report)
            continue
        if _ACTIVITY in field.text and field.text.startswith("${"):
            message = f"{field.owner}: {field.key} uses {_ACTIVITY}, which is null here"
            hint = "a call has an idempotency key in its header, which is the same for every attempt"
            report.warning("zigflow-no-effect", message, field.position, hint)
