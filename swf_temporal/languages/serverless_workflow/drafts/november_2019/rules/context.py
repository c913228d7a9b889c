"""What a rule of the draft sees of a definition, and how it tells what it found, in the words of its author."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeVar

from swf_temporal.errors import Position, Problem, Severity
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts

_Kind = TypeVar("_Kind", bound=Node)

_NAMED: Final[tuple[tuple[type[Node], str], ...]] = (
    (model.StateBase, "state"),
    (model.Branch, "branch"),
    (model.Trigger, "trigger"),
    (model.Action, "action"),
)
_NUMBERED: Final[dict[type[Node], str]] = {
    model.EventDefinition: "event definition",
    model.Action: "action",
    model.Retry: "retry",
    model.Choice: "choice",
    model.Rule: "rule",
    model.ErrorHandler: "onError entry",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """States that stand together: those of the workflow, or of a branch."""

    node: model.Definition | model.Branch
    states: tuple[model.State, ...]
    owner: str
    """The words for what holds them."""

    @property
    def names(self) -> dict[str, model.State]:
        """The states, by their ids and by their names, which come first."""
        found = {state.id: state for state in reversed(self.states) if state.id is not None}
        return found | {state.name: state for state in reversed(self.states)}


class Context:
    """One definition under validation."""

    def __init__(self, root: model.Definition) -> None:
        self.root = root
        self._by_kind: dict[type[Node], list[tuple[Node, str]]] = {}
        for node, owner in _walk(root, "the workflow", ""):
            self._by_kind.setdefault(type(node), []).append((node, owner))

    def each(self, kind: type[_Kind]) -> Iterator[tuple[_Kind, str]]:
        """Yield every node of *kind*, or of a kind derived from it, with the words for where it is."""
        for found, placed in self._by_kind.items():
            if issubclass(found, kind):
                for node, owner in placed:
                    if isinstance(node, kind):
                        yield node, owner

    def scopes(self) -> Iterator[Scope]:
        """Yield the states that stand together, those of the workflow first."""
        yield Scope(self.root, self.root.states, "the workflow")
        for branch, owner in self.each(model.Branch):
            yield Scope(branch, branch.states, owner)

    def error(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that keeps the definition from running."""
        return self.root.source.problem(code, message, position, hint)

    def warning(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that does not."""
        return self.root.source.problem(code, message, position, hint, Severity.WARNING)

    def within(self, text: str, position: Position, offset: int | None) -> Position:
        """Return where the character at *offset* of *text* stands, which is written at *position* in one line."""
        line = self.root.source.problem("", "", position).line
        for skipped in (0, 1):  # a quote may stand before the text
            start = position.column - 1 + skipped
            if offset and line[start : start + len(text)] == text:
                return Position(position.line, position.column + skipped + offset)
        return position


def _walk(node: Node, owner: str, above: str) -> Iterator[tuple[Node, str]]:
    """Yield *node* and those in it, each with the words for where it is."""
    yield node, owner
    for attribute in _attributes(type(node)):
        value = getattr(node, attribute)
        for number, child in enumerate(value if isinstance(value, tuple) else (value,), 1):
            if isinstance(child, Node):
                called = _called(child, number)
                path = f"{called} of {above}" if called and above else called or above
                yield from _walk(child, path or owner, path)


def _called(node: Node, number: int) -> str:
    name = getattr(node, "name", None)
    word = next((word for kind, word in _NAMED if isinstance(node, kind)), None)
    if word is not None and name:
        return f"{word} {name!r}"
    return f"{_NUMBERED[type(node)]} number {number}" if type(node) in _NUMBERED else ""


@cache
def _attributes(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields in which nodes of *kind* hold other nodes."""
    names = {info.alias or name: name for name, info in kind.model_fields.items()}
    return tuple(names[key] for key, part in parts(kind).items() if part.kinds)
