"""The context of a rule of the draft, in the words of the author."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.rules import DraftContext
from swf_temporal.languages.serverless_workflow.model.node import Node

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
class StateScope:
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


class Context(DraftContext):
    """One definition under validation."""

    def __init__(self, root: model.Definition) -> None:
        self.root = root
        super().__init__(root, root.source)

    def scopes(self) -> Iterator[StateScope]:
        """Yield the states that stand together, those of the workflow first."""
        yield StateScope(self.root, self.root.states, "the workflow")
        for branch, owner in self.each(model.Branch):
            yield StateScope(branch, branch.states, owner)

    def called(self, node: Node, number: int) -> str:
        """Return the words for *node*: its name, or which one of its kind it is."""
        name = getattr(node, "name", None)
        word = next((word for kind, word in _NAMED if isinstance(node, kind)), None)
        if word is not None and name:
            return f"{word} {name!r}"
        return f"{_NUMBERED[type(node)]} number {number}" if type(node) in _NUMBERED else ""
