"""The context of a rule of the draft, in the words of the author: of the draft or of its parent."""

from collections.abc import Iterator
from typing import Final

from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.scopes import TaskScope, scopes
from swf_temporal.languages.serverless_workflow.drafts.may_2020.spellings import OF_PARENT
from swf_temporal.languages.serverless_workflow.drafts.rules import DraftContext
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.text.suggestions import meant_or_known

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


class Context(DraftContext):
    """One definition under validation."""

    def __init__(self, root: model.DraftWorkflow) -> None:
        self.root = root
        self._words = OF_PARENT if root.has_states else {}
        super().__init__(root, root.source)

    def wording(self, word: str) -> str:
        """Return *word*, a key or a noun of the draft, or the one of its parent that this definition uses."""
        return self._words.get(word, word)

    def scopes(self) -> Iterator[TaskScope]:
        """Yield the tasks that stand together, outer ones first."""
        return scopes(self.root, self.wording("task"))

    def undefined(self, kind: str, name: str, position: Position, owner: str) -> Iterator[Problem]:
        """Yield a problem if *owner* refers at *position* to a function or event that is not defined."""
        defined = [one.name for one in (self.root.functions if kind == "function" else self.root.events)]
        if name not in defined:
            message = f"{owner} refers to the {kind} {name!r}, which is not defined"
            yield self.error(
                f"{kind}-undefined", message, position, meant_or_known(name, defined, f"define it under {kind}s")
            )

    def called(self, node: Node, number: int) -> str:
        """Return the words for *node*: its name, or which one of its kind it is."""
        if type(node) in _NUMBERED:
            return f"{_NUMBERED[type(node)]} {number}"
        word = next((word for kind, word in _CALLED if isinstance(node, kind)), None)
        name = getattr(node, "name", None)
        return "" if word is None or not name else f"{self.wording(word)} {name!r}"
