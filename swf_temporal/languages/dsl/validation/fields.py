"""The fields of a definition that hold expressions, with what has a value in each.

The text has a table of the arguments of expressions (section "Runtime expression arguments"). A field that mentions an
argument without a value fails whenever it is evaluated.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from swf_temporal.base.errors import Position
from swf_temporal.languages.dsl.expressions import ARGUMENTS, is_whole_expression
from swf_temporal.languages.dsl.model.arguments import Container, Shell
from swf_temporal.languages.dsl.model.node import Node
from swf_temporal.languages.dsl.model.parts import (
    Authentication,
    Correlation,
    ErrorDefinition,
    EventFilter,
    EventStrategy,
    Export,
    ExternalResource,
    Input,
    Output,
    RetryPolicy,
    Timeout,
)
from swf_temporal.languages.dsl.model.workflow import (
    CallA2A,
    CallAsyncApi,
    CallFunction,
    CallGrpc,
    CallHttp,
    CallMcp,
    CallOpenApi,
    Case,
    Catch,
    Document,
    EmitTask,
    ForTask,
    ListenTask,
    Loop,
    RaiseTask,
    RunTask,
    SetTask,
    SwitchTask,
    TaskBase,
    TryTask,
    WaitTask,
)
from swf_temporal.languages.dsl.validation.walk import Place, Walk, attribute, components_in, iterator_of
from swf_temporal.languages.metadata import CONCURRENCY, SEARCH_ATTRIBUTES
from swf_temporal.text.origin import Array, Object

_ALWAYS: Final = frozenset({"context", "workflow", "runtime"})
_BEFORE: Final = _ALWAYS | {"task"}
"""The variables that have a value before the input of a task is transformed."""
_WITHIN: Final = _BEFORE | {"input"}
_SCHEDULE: Final[frozenset[str]] = frozenset()


_WITHIN_KEY: Final[Mapping[type[Node], tuple[str, ...]]] = {
    Case: ("switch",),
    Catch: ("catch",),
    Correlation: ("correlate",),
    Export: ("export",),
    Input: ("input",),
    Loop: ("for",),
    Output: ("output",),
    RetryPolicy: ("retry",),
    Timeout: ("timeout",),
}
"""The keys of nodes whose own keys alone would say too little."""


@dataclass(frozen=True, slots=True)
class Field:
    """A text that is an expression by definition, or that may contain some."""

    owner: str
    key: str
    text: str
    position: Position
    known: frozenset[str]
    """The arguments and variables with a value."""
    is_expression: bool = False
    """Whether it is an expression by definition, with or without `${ }`."""
    has_secrets: bool = False
    """Whether secrets are filled in only where the call is performed, so that none is stored."""
    is_credential: bool = False
    """Whether it is a property of an authentication policy."""
    is_command: bool = False
    """Whether a shell or a container runs it."""


class _Fields:
    """Collects the fields of one owner."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.found: list[Field] = []

    def expression(self, node: Node | None, key: str, known: frozenset[str], *, secrets: bool = False) -> None:
        """Add the value of *key* in *node*, an expression by definition; texts in an object are templates."""
        self._add(node, key, known, is_expression=True, secrets=secrets)

    def template(self, node: Node | None, key: str, known: frozenset[str], *, secrets: bool = False) -> None:
        """Add the texts in the value of *key* in *node*."""
        self._add(node, key, known, is_expression=False, secrets=secrets)

    def templates(
        self, node: Node | None, known: frozenset[str], *, secrets: bool = False, but: Iterable[str] = ()
    ) -> None:
        """Add all texts in *node*, and in the nodes in it, except those under the keys *but*."""
        for name, info in type(node).model_fields.items() if node is not None else ():
            key, value = info.alias or name, getattr(node, name)
            if name == "where" or key in but:
                continue
            if isinstance(value, Authentication):
                self.credentials(value, known)
            elif isinstance(value, Node):
                self.templates(value, known, secrets=secrets)
            else:
                self._add(node, key, known, is_expression=False, secrets=secrets)

    def credentials(self, policy: Authentication | None, known: frozenset[str]) -> None:
        """Add the properties of an authentication policy."""
        for name in type(policy).model_fields if policy is not None else ():
            value = getattr(policy, name)
            if isinstance(value, Node):
                self._properties(value, f"authentication.{name}", known)

    def _properties(self, node: Node, words: str, known: frozenset[str]) -> None:
        for name in type(node).model_fields:
            value = getattr(node, name)
            if isinstance(value, Node):
                self._properties(value, f"{words}.{name}", known)
            elif isinstance(value, str) and name != "use":
                position = node.where.value(name)
                self.found.append(
                    Field(self.owner, f"{words}.{name}", value, position, known, has_secrets=True, is_credential=True)
                )

    def metadata(self, document: Document, known: frozenset[str]) -> None:
        """Add the expressions that metadata have for the instances of a definition."""
        where = document.where.value("metadata")
        for path, text, position in texts_in(document.metadata, where):
            is_key = path == (CONCURRENCY, "key")
            if is_key or (path[0] == SEARCH_ATTRIBUTES and path[2:] != ("type",)):
                self.found.append(Field(self.owner, ".".join(map(str, ("metadata", *path))), text, position, known))

    def _add(self, node: Node | None, key: str, known: frozenset[str], *, is_expression: bool, secrets: bool) -> None:
        if node is None:
            return
        value = getattr(node, attribute(type(node), key))
        for path, text, position in texts_in(value, node.where.value(key)):
            words = ".".join(map(str, (*_WITHIN_KEY.get(type(node), ()), key, *path)))
            is_whole = is_expression and not path
            is_command = isinstance(node, Shell | Container) and key == "command"
            self.found.append(
                Field(self.owner, words, text, position, known, is_whole, has_secrets=secrets, is_command=is_command)
            )


def fields_of(walk: Walk) -> Iterator[Field]:
    """Yield all fields of a definition that may hold expressions."""
    yield from _of_workflow(walk)
    for place in walk.places:
        fields = _Fields(place.owner)
        _of_task(fields, place, walk.workflow.use.functions)
        yield from fields.found


def _of_workflow(walk: Walk) -> Iterator[Field]:
    workflow, anything = walk.workflow, ARGUMENTS.union(walk.variables) - {"secrets"}
    fields = _Fields("the workflow")
    fields.expression(workflow.input, "from", _ALWAYS - {"context"})
    fields.expression(workflow.output, "as", _ALWAYS)
    if isinstance(workflow.timeout, Timeout):
        fields.template(workflow.timeout, "after", _ALWAYS)
    if workflow.schedule is not None and workflow.schedule.on is not None:
        _strategy(fields, workflow.schedule.on, _SCHEDULE)
    fields.metadata(workflow.document, _ALWAYS - {"context"})
    yield from fields.found
    for owner, component in components_in(workflow):
        fields = _Fields(owner)
        match component:
            case Authentication():
                fields.credentials(component, anything)
            case Timeout():
                fields.template(component, "after", anything)
            case RetryPolicy():
                _retry(fields, component, anything, anything | {"error"})
            case ErrorDefinition():
                for key in ("type", "title", "detail"):
                    fields.template(component, key, anything)
        yield from fields.found
    for one in workflow.use.extensions:
        fields = _Fields(f"extension {one.name!r}")
        known = _BEFORE if one.extension.before else _WITHIN
        fields.expression(one.extension, "when", known | walk.variables)
        yield from fields.found


def _of_task(fields: _Fields, place: Place, functions: Collection[str]) -> None:
    task, variables = place.task, place.variables
    # A function may be called by a task of an extension, or by another function: nothing is known of their arguments.
    fields.expression(task, "if", _BEFORE | variables)
    within = _WITHIN | variables
    takes_secrets = _is_performed(task, functions)
    fields.expression(task.input, "from", _BEFORE | variables, secrets=takes_secrets)
    if isinstance(task.timeout, Timeout):
        fields.template(task.timeout, "after", within)
    called = within | {"authorization"} if policy_of(task) is not None else within
    fields.expression(task.output, "as", called)
    fields.expression(task.export, "as", called | {"output"})
    _work(fields, task, _Known(within, called, takes_secrets))
    each = iterator_of(task)
    if each is not None:
        inside = called | {each.item, each.at}
        fields.expression(each.output, "as", inside)
        fields.expression(each.export, "as", inside | {"output"})


class _Known(NamedTuple):
    """The variables that have a value in a task."""

    within: frozenset[str]
    called: frozenset[str]
    """The same for the arguments of a call."""
    takes_secrets: bool


def _work(fields: _Fields, task: TaskBase, known: _Known) -> None:  # noqa: C901, PLR0912 - a case for each type
    within = known.within
    match task:
        case SetTask():
            fields.template(task, "set", within)
        case EmitTask():
            fields.template(task.emit.event, "with", within)
        case ForTask():
            fields.expression(task.for_, "in", within)
            fields.expression(task, "while", within | {task.for_.each, task.for_.at})
        case ListenTask():
            _strategy(fields, task.listen.to, within)
        case RaiseTask():
            if isinstance(task.raise_.error, Node):
                for key in ("type", "title", "detail"):
                    fields.template(task.raise_.error, key, within)
        case SwitchTask():
            for one in task.switch:
                fields.expression(one.case, "when", within)
        case TryTask():
            caught = within | {task.catch.as_}
            fields.expression(task.catch, "when", caught)
            fields.expression(task.catch, "exceptWhen", caught)
            if isinstance(task.catch.retry, RetryPolicy):
                _retry(fields, task.catch.retry, within, caught)
        case WaitTask():
            fields.template(task, "wait", within)
        case RunTask():
            _run(fields, task, within)
        case _:
            _call(fields, task, known)


def _run(fields: _Fields, task: RunTask, within: frozenset[str]) -> None:
    run = task.run
    if run.workflow is not None:
        fields.template(run.workflow, "input", within)
    if run.container is not None:
        fields.templates(run.container, within, secrets=True, but=("lifetime",))
        fields.template(run.container.lifetime, "after", within)
    if run.script is not None:
        fields.templates(run.script, within, secrets=True, but=("source", "language", "code"))
        if run.script.code is not None and is_whole_expression(run.script.code):
            fields.template(run.script, "code", within, secrets=True)
        _resource(fields, run.script.source, within)
    fields.templates(run.shell, within, secrets=True)


def _call(fields: _Fields, task: TaskBase, known: _Known) -> None:
    within, called = known.within, known.called
    match task:
        case CallHttp():
            fields.templates(task.with_, called, secrets=True)
        case CallOpenApi():
            _resource(fields, task.with_.document, within)
            fields.template(task.with_, "parameters", called, secrets=True)
            fields.credentials(task.with_.authentication, within)
        case CallGrpc():
            _resource(fields, task.with_.proto, within)
            fields.template(task.with_, "arguments", called, secrets=True)
            fields.credentials(task.with_.authentication, within)
            fields.credentials(task.with_.service.authentication, within)
        case CallAsyncApi():
            _resource(fields, task.with_.document, within)
            fields.templates(task.with_.message, called, secrets=True)
            fields.credentials(task.with_.authentication, within)
            subscription = task.with_.subscription
            if subscription is not None:
                fields.expression(subscription, "filter", called)
                fields.template(subscription.consume, "for", within)
                fields.expression(subscription.consume, "while", called)
                fields.expression(subscription.consume, "until", called)
        case CallMcp():
            fields.template(task.with_, "timeout", within)
            fields.template(task.with_, "parameters", called, secrets=True)
            fields.templates(task.with_.transport, called, secrets=True)
        case CallA2A():
            _resource(fields, task.with_.agent_card, within)
            fields.template(task.with_, "parameters", called, secrets=True)
            if isinstance(task.with_.server, Node):
                fields.templates(task.with_.server, called, secrets=True)
            else:
                fields.template(task.with_, "server", called, secrets=True)
        case CallFunction():
            fields.template(task, "with", within, secrets=known.takes_secrets)


def _resource(fields: _Fields, resource: ExternalResource | None, known: frozenset[str]) -> None:
    """Add the endpoint of a document, which is evaluated before the call."""
    if resource is not None and isinstance(resource.endpoint, Node):
        fields.templates(resource.endpoint, known)
    else:
        fields.template(resource, "endpoint", known)


def _retry(fields: _Fields, policy: RetryPolicy, known: frozenset[str], caught: frozenset[str]) -> None:
    fields.expression(policy, "when", caught)
    fields.expression(policy, "exceptWhen", caught)
    fields.template(policy, "delay", known)
    if policy.limit is not None:
        fields.template(policy.limit, "duration", known)
        fields.template(policy.limit.attempt, "duration", known)
    fields.template(policy.jitter, "from", known)
    fields.template(policy.jitter, "to", known)


def _strategy(fields: _Fields, strategy: EventStrategy, known: frozenset[str]) -> None:
    for one in filters_in(strategy):
        fields.template(one, "with", known)
        for rule in one.correlate.values():
            fields.expression(rule, "from", known)
            fields.template(rule, "expect", known)
    if isinstance(strategy.until, str):
        fields.expression(strategy, "until", known)


def filters_in(strategy: EventStrategy) -> Iterator[EventFilter]:
    """Yield the event filters of *strategy*, and of what ends it."""
    if strategy.one is not None:
        yield strategy.one
    yield from (*(strategy.any or ()), *(strategy.all or ()))
    if isinstance(strategy.until, EventStrategy):
        yield from filters_in(strategy.until)


def _is_performed(task: TaskBase, functions: Collection[str]) -> bool:
    """Return whether *task* is a call or a process, whose arguments with secrets are evaluated where it is performed.

    A call of one of *functions*, which are tasks, is none.
    """
    if isinstance(task, RunTask):
        return task.run.workflow is None
    if isinstance(task, CallFunction):
        return task.call not in functions
    return isinstance(task, CallHttp | CallOpenApi | CallGrpc | CallAsyncApi | CallMcp | CallA2A)


def policy_of(task: TaskBase) -> Authentication | None:
    """Return the authentication policy of the call that *task* makes."""
    endpoint: Any = None
    match task:
        case CallHttp():
            endpoint = task.with_.endpoint
        case CallOpenApi() | CallAsyncApi():
            return task.with_.authentication
        case CallGrpc():
            return task.with_.service.authentication or task.with_.authentication
        case CallMcp():
            endpoint = None if task.with_.transport.http is None else task.with_.transport.http.endpoint
        case CallA2A():
            endpoint = task.with_.server
    return getattr(endpoint, "authentication", None)


def texts_in(value: Any, position: Position) -> Iterator[tuple[tuple[str | int, ...], str, Position]]:
    """Yield the texts in *value*, which is at *position*, each with its path and position."""
    if isinstance(value, str):
        yield (), value, position
    elif isinstance(value, dict):
        for key, item in value.items():
            where = value.where.value(key) if isinstance(value, Object) else position
            for path, text, place in texts_in(item, where):
                yield (key, *path), text, place
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            where = value.positions[index] if isinstance(value, Array) and value.positions else position
            for path, text, place in texts_in(item, where):
                yield (index, *path), text, place
