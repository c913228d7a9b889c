"""Scopes: the tasks of a workflow, of a branch, or of a foreach task. One of them is the start."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model


@dataclass(frozen=True, slots=True)
class TaskScope:
    """Tasks that lead only to each other."""

    owner: str
    """The words for the node that contains them."""
    node: model.DraftWorkflow | model.Branch | model.ForeachTask
    tasks: Sequence[model.Task]


def start_of(tasks: Sequence[model.Task], named: str | None = None) -> model.Task:
    """Return the start task: the one *named*, the one with a start, or else the first."""
    for task in tasks:
        if named is not None and named in (task.name, task.id):
            return task
    return next((task for task in tasks if task.start is not None), tasks[0])


def ways_of(task: model.Task) -> Iterable[model.Transition]:
    """Yield the transitions of *task*: its own, those of its conditions, and those of its error handlers."""
    found: list[model.Transition | None] = [task.transition, *(error.transition for error in task.on_error)]
    if isinstance(task, model.SwitchTask):
        found += [condition.transition for condition in task.data_conditions]
        found += [condition.transition for condition in task.event_conditions]
        found.append(task.default)
    return (one for one in found if one is not None)


def held_by(task: model.Task) -> Sequence[model.Task]:
    """Return the tasks in the branches or iterations of *task*."""
    if isinstance(task, model.ParallelTask):
        return tuple(inner for branch in task.branches for inner in branch.tasks)
    return task.tasks if isinstance(task, model.ForeachTask) else ()


def scopes(root: model.DraftWorkflow, word: str) -> Iterator[TaskScope]:
    """Yield every scope of *root*, outer ones first; *word* is the author's word for a task."""
    yield from _scopes(TaskScope("the workflow", root, root.tasks), word)


def _scopes(scope: TaskScope, word: str) -> Iterator[TaskScope]:
    yield scope
    above = "" if isinstance(scope.node, model.DraftWorkflow) else f" of {scope.owner}"
    for task in scope.tasks:
        owner = f"{word} {task.name!r}{above}"
        if isinstance(task, model.ParallelTask):
            for branch in task.branches:
                yield from _scopes(TaskScope(f"branch {branch.name!r} of {owner}", branch, branch.tasks), word)
        elif isinstance(task, model.ForeachTask):
            yield from _scopes(TaskScope(owner, task, task.tasks), word)
