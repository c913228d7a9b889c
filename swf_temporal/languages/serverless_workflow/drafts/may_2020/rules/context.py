"""What a rule of the draft sees of a definition, and how it tells what it found, in the words of its author."""

from collections.abc import Iterator
from functools import cache
from typing import Final, TypeVar

from swf_temporal.errors import Position, Problem, Severity
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.scopes import Scope, scopes
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.text.suggestions import did_you_mean

_Kind = TypeVar("_Kind", bound=Node)

_OF_PARENT: Final = {
    "tasks": "states", "task": "state", "nextTask": "nextState", "taskDataFilter": "stateDataFilter",
}  # fmt: skip
"""What the draft's parent calls what the draft calls otherwise."""

_CALLED: Final[tuple[tuple[type[Node], str], ...]] = (
    (model.TaskBase, "task"),
    (model.Action, "action"),
    (model.Branch, "branch"),
    (model.Function, "function"),
    (model.Event, "event"),
)
_NUMBERED: Final[dict[type[Node], str]] = {
    model.Error: "onError entry",
    model.Retry: "retry",
    model.DataCondition: "condition",
    model.EventCondition: "condition",
    model.EventActions: "eventsActions entry",
}


class Context:
    """One definition under validation."""

    def __init__(self, root: model.DraftWorkflow) -> None:
        self.root = root
        self._words = _OF_PARENT if root.has_states else {}
        self._by_kind: dict[type[Node], list[tuple[Node, str]]] = {}
        for node, owner in self._walk(root, "the workflow", ""):
            self._by_kind.setdefault(type(node), []).append((node, owner))

    def said(self, word: str) -> str:
        """Return *word*, a key or a noun of the draft, as the author of this definition says it."""
        return self._words.get(word, word)

    def each(self, kind: type[_Kind]) -> Iterator[tuple[_Kind, str]]:
        """Yield every node of *kind*, or of a kind derived from it, with the words for where it is."""
        for found, placed in self._by_kind.items():
            if issubclass(found, kind):
                for node, owner in placed:
                    if isinstance(node, kind):
                        yield node, owner

    def scopes(self) -> Iterator[Scope]:
        """Yield the tasks that stand together, outer ones first."""
        return scopes(self.root, self.said("task"))

    def error(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that keeps the definition from running."""
        return self.root.source.problem(code, message, position, hint)

    def warning(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that does not."""
        return self.root.source.problem(code, message, position, hint, Severity.WARNING)

    def undefined(self, kind: str, name: str, position: Position, owner: str) -> Iterator[Problem]:
        """Yield a problem if *owner* refers at *position* to a function or event that is not defined."""
        defined = [one.name for one in (self.root.functions if kind == "function" else self.root.events)]
        if name not in defined:
            message = f"{owner} refers to the {kind} {name!r}, which is not defined"
            yield self.error(f"{kind}-undefined", message, position, did_you_mean(name, defined))

    def _walk(self, node: Node, owner: str, above: str) -> Iterator[tuple[Node, str]]:
        yield node, owner
        for attribute in _attributes(type(node)):
            value = getattr(node, attribute)
            for number, child in enumerate(value if isinstance(value, tuple) else (value,), 1):
                if isinstance(child, Node):
                    called = self._called(child, number)
                    path = f"{called} of {above}" if called and above else called or above
                    yield from self._walk(child, path or owner, path)

    def _called(self, node: Node, number: int) -> str:
        if type(node) in _NUMBERED:
            return f"{_NUMBERED[type(node)]} {number}"
        word = next((word for kind, word in _CALLED if isinstance(node, kind)), None)
        name = getattr(node, "name", None)
        return "" if word is None or not name else f"{self.said(word)} {name!r}"


@cache
def _attributes(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields in which nodes of *kind* hold other nodes."""
    names = {info.alias or name: name for name, info in kind.model_fields.items()}
    return tuple(names[key] for key, part in parts(kind).items() if part.kinds)
