"""Every node of a workflow once, with words that tell an author which one it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.definitions import Auth, Error, Event, Function, Retry
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    DataCondition,
    DefaultCondition,
    EventCondition,
    StateBase,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.text.positions import NOWHERE

_Kind = TypeVar("_Kind", bound=Node)

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


@dataclass(frozen=True, slots=True)
class LocatedNode:
    """A node and the words for where it is, such as `action 'charge' of state 'Pay'`."""

    node: Node
    owner: str


class Nodes:
    """Every node of a workflow, by its kind."""

    def __init__(self, workflow: Workflow) -> None:
        self._by_kind: dict[type[Node], list[LocatedNode]] = {}
        for placed in walk(workflow):
            self._by_kind.setdefault(type(placed.node), []).append(placed)

    def all(self) -> Iterator[LocatedNode]:
        """Yield every node, kind by kind."""
        for placed in self._by_kind.values():
            yield from placed

    def each(self, kind: type[_Kind]) -> Iterator[tuple[_Kind, str]]:
        """Yield every node of *kind*, or of a kind derived from it, with the words for where it is."""
        for found, placed in self._by_kind.items():
            if issubclass(found, kind):
                for one in placed:
                    if isinstance(one.node, kind):
                        yield one.node, one.owner


def walk(workflow: Workflow) -> Iterator[LocatedNode]:
    """Yield every node that was written, each before what is in it. What is merely a default is left out."""
    return _walk(workflow, "the workflow", "", workflow.state_word)


def _walk(node: Node, owner: str, above: str, word: str) -> Iterator[LocatedNode]:
    yield LocatedNode(node, owner)
    for attribute in _attributes(type(node)):
        value = getattr(node, attribute)
        for child in value if isinstance(value, tuple) else (value,):
            if isinstance(child, Node) and child.where is not NOWHERE:
                called = _called(child, word)
                # A state with a loop (November 2019) holds itself: it is named once.
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
