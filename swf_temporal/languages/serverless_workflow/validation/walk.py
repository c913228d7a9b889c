"""Every node of a workflow once, with words that identify it for an author."""

from collections.abc import Iterator
from functools import cache

from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.definitions import Auth, Error, Event, Function, Retry
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import (
    Branch,
    DataCondition,
    DefaultCondition,
    EventCondition,
    NodesByKind,
    StateBase,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
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
