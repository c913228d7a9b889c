"""The context of a rule: its view of a workflow, every node of that once, and the reporting of problems."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TypeAlias

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.expressions.evaluation import BadExpression, Compiled, Expressions, Target
from swf_temporal.languages.metadata import MetadataRules
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    DataCondition,
    DefaultCondition,
    EventCondition,
    NodesByKind,
    State,
    StateBase,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Auth, Error, Event, Function, Retry, Workflow
from swf_temporal.languages.serverless_workflow.validation.fields import Field, Sort, fields
from swf_temporal.text.origin import NOWHERE

_CALLED: dict[type[Node], str] = {
    Action: "action",
    Auth: "auth",
    Branch: "branch",
    DataCondition: "condition",
    DefaultCondition: "default condition",
    Error: "error",
    Event: "event",
    EventCondition: "condition",
    Function: "function",
    Retry: "retry",
}


def nodes_of(workflow: Workflow) -> NodesByKind:
    """Return every node of *workflow* that was written, without defaults."""
    return NodesByKind(_walk(workflow, "the workflow", "", workflow.language_version.state_word))


def nodes_within(node: Node) -> Iterator[Node]:
    """Yield *node*, and every node in it that was written."""
    return (one for one, _ in _walk(node, "", "", ""))


def _walk(node: Node, owner: str, above: str, word: str) -> Iterator[tuple[Node, str]]:
    """Yield *node* and those in it, each with the words for its location; *word* is the word for states."""
    yield node, owner
    for attribute in _attributes(type(node)):
        value = getattr(node, attribute)
        for child in value if isinstance(value, tuple) else (value,):
            if child is not None and isinstance(child, Node) and child.where is not NOWHERE:
                called = _called(child, word)
                # A state with a loop (November 2019) contains itself: it is named once.
                if called and not f"{above} of ".startswith(f"{called} of "):
                    path = f"{called} of {above}" if above else called
                    yield from _walk(child, path, path, word)
                else:
                    yield from _walk(child, owner, above, word)


@cache
def _attributes(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields in which nodes of *kind* may hold other nodes."""
    return tuple(name for name, info in kind.model_fields.items() if _may_hold_nodes(str(info.annotation)))


def _may_hold_nodes(annotation: str) -> bool:
    return (
        "swf_temporal.languages.serverless_workflow.model" in annotation
        and "node.Where" not in annotation
        and "Source" not in annotation
    )


def _called(node: Node, word: str) -> str | None:
    kind = word if isinstance(node, StateBase) else _CALLED.get(type(node))
    name = getattr(node, "name", None)
    return f"{kind} {name!r}" if kind and name else None


Result: TypeAlias = Compiled | Target | BadExpression


def compiled_fields(nodes: NodesByKind, expressions: Expressions) -> Iterator[tuple[Field, Result]]:
    """Yield every text that holds an expression, with the compiled expression or the error."""
    for field in fields(nodes):
        if field.sort is not Sort.TEMPLATE or expressions.opening in field.text:
            yield field, _compiled(field, expressions)


def _compiled(field: Field, expressions: Expressions) -> Result:
    try:
        match field.sort:
            case Sort.EXPRESSION:
                return expressions.expression(field.text)
            case Sort.TEMPLATE:
                return expressions.template(field.text)
            case Sort.TARGET:
                return expressions.target(field.text)
    except BadExpression as bad:
        return bad


class Context:
    """One workflow under validation, read once for all rules."""

    def __init__(self, workflow: Workflow, expressions: Expressions | None) -> None:
        self.workflow = workflow
        self.compiler = expressions
        """The compiler of expressions; None if their language is not supported, which a rule reports."""
        self.nodes = nodes_of(workflow)

    @cached_property
    def expressions(self) -> Sequence[tuple[Field, Result]]:
        """Every text that holds an expression, with the compiled expression or the error."""
        return () if self.compiler is None else tuple(compiled_fields(self.nodes, self.compiler))

    @cached_property
    def states(self) -> Mapping[str, State]:
        """The states by name; the first of several with the same name."""
        return {state.name: state for state in reversed(self.workflow.states)}

    @property
    def metadata(self) -> MetadataRules:
        """The rules for the metadata."""
        opening = "${" if self.compiler is None else self.compiler.opening
        at = partial(self.workflow.where.at, "metadata")
        return MetadataRules(self.workflow.metadata, at, self, opening)

    def error(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that prevents the definition from running."""
        return self.workflow.source.problem(code, message, position, hint)

    def warning(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        return self.workflow.source.problem(code, message, position, hint, Severity.WARNING)


def number(value: float | str | None) -> float | None:
    """Return *value* as a number; 0 if it is missing or an expression, None if it is not a number."""
    if value is None:
        return 0
    if is_open(value):
        return 0
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return value if abs(value) < float("inf") else None


def is_open(value: float | str | None) -> bool:
    return isinstance(value, str) and "${" in value
