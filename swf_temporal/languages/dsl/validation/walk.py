"""The tasks of a definition with their places, and the problems that are found in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from typing import Any

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.languages.dsl.execution.program import variables_of
from swf_temporal.languages.dsl.model.node import Node
from swf_temporal.languages.dsl.model.workflow import (
    CallAsyncApi,
    DoTask,
    ForkTask,
    ForTask,
    ListenTask,
    NamedTask,
    SubscriptionIterator,
    TaskBase,
    TryTask,
    Use,
    Workflow,
)
from swf_temporal.text.origin import Object, Source


class Report:
    """The problems of one definition."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def error(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Add a problem that prevents the definition from running, and return it."""
        return self._add(self.source.problem(code, message, position, hint))

    def warning(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Add a problem that does not."""
        return self._add(self.source.problem(code, message, position, hint, Severity.WARNING))

    def _add(self, problem: Problem) -> Problem:
        self.problems.append(problem)
        return problem


class Kind(Enum):
    """The surroundings of a task."""

    LIST = auto()
    BRANCHES = auto()
    """The branches of a fork, which run at the same time."""
    FUNCTIONS = auto()


@dataclass(frozen=True, slots=True)
class Place:
    """A task and its place."""

    task: TaskBase
    name: str
    position: Position
    """The position of its name, or of the task itself if that is not known."""
    kind: Kind
    beside: tuple[str, ...]
    """The names of the tasks of its list."""
    variables: frozenset[str]
    """The variables of tasks around it."""

    @property
    def owner(self) -> str:
        """Its name in messages."""
        return f"{'function' if self.kind is Kind.FUNCTIONS else 'task'} {self.name!r}"


@dataclass(frozen=True, slots=True)
class TaskList:
    """A list of tasks, or the branches of a fork, or functions."""

    tasks: Sequence[NamedTask]
    kind: Kind
    variables: frozenset[str]


class Walk:
    """The tasks of a definition, found once for all rules."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self.variables = frozenset(variables_of(workflow))
        """The variables of all tasks."""
        self.lists = list(self._lists())
        """All lists of tasks, each before those in it."""
        self.places = list(self._places())
        """All tasks and functions with their places."""

    def _lists(self) -> Iterator[TaskList]:
        # A task of a function or an extension may be in any loop: it may see the variables of all of them.
        use = self.workflow.use
        yield from _with_inner(TaskList(self.workflow.do, Kind.LIST, frozenset()))
        for function in use.functions.values():
            yield from _inside(function, self.variables)
        for one in use.extensions:
            for tasks in (one.extension.before, one.extension.after):
                yield from _with_inner(TaskList(tasks, Kind.LIST, self.variables))

    def _places(self) -> Iterator[Place]:
        for one in self.lists:
            beside = tuple(task.name for task in one.tasks)
            for named in one.tasks:
                yield Place(named.task, named.name, named.where.position, one.kind, beside, one.variables)
        for name, function in self.workflow.use.functions.items():
            yield Place(function, name, function.where.position, Kind.FUNCTIONS, (), self.variables)


def iterator_of(task: TaskBase) -> SubscriptionIterator | None:
    """Return what *task* does for each event or message that it consumes, if it does something."""
    if isinstance(task, ListenTask):
        return task.foreach
    if isinstance(task, CallAsyncApi) and task.with_.subscription is not None:
        return task.with_.subscription.foreach
    return None


def components_in(workflow: Workflow) -> Iterator[tuple[str, Node]]:
    """Yield the named components of *workflow* but its functions and extensions, each with what it is called."""
    use = workflow.use
    for words, components in (
        ("authentication policy", use.authentications),
        ("catalog", use.catalogs),
        ("error", use.errors),
        ("retry policy", use.retries),
        ("timeout", use.timeouts),
    ):
        for name, component in components.items():
            yield f"{words} {name!r}", component


@cache
def attribute(kind: type[Node], key: str) -> str:
    """Return the name of the field of *kind* with that *key*."""
    return next(name for name, info in kind.model_fields.items() if (info.alias or name) == key)


def parts_of(node: Node) -> Iterator[Node]:
    """Yield *node* and all parts of it, without the tasks and the named components in it."""
    waiting: list[Any] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, NamedTask | Use) or (isinstance(part, TaskBase) and part is not node):
            continue
        if isinstance(part, Node):
            yield part
            waiting += [value for name, value in part if name != "where"]
        elif isinstance(part, dict) and not isinstance(part, Object):
            waiting += part.values()
        elif isinstance(part, tuple):
            waiting += part


def _with_inner(one: TaskList) -> Iterator[TaskList]:
    yield one
    for named in one.tasks:
        yield from _inside(named.task, one.variables)


def _inside(task: TaskBase, variables: frozenset[str]) -> Iterator[TaskList]:
    for one in _lists_of(task):
        yield from _with_inner(replace(one, variables=one.variables | variables))


def _lists_of(task: TaskBase) -> Iterator[TaskList]:
    match task:
        case DoTask():
            yield TaskList(task.do, Kind.LIST, frozenset())
        case ForTask():
            yield TaskList(task.do, Kind.LIST, frozenset({task.for_.each, task.for_.at}))
        case ForkTask():
            yield TaskList(task.fork.branches, Kind.BRANCHES, frozenset())
        case TryTask():
            yield TaskList(task.try_, Kind.LIST, frozenset())
            yield TaskList(task.catch.do, Kind.LIST, frozenset({task.catch.as_}))
    each = iterator_of(task)
    if each is not None:
        yield TaskList(each.do, Kind.LIST, frozenset({each.item, each.at}))
