"""The parts of a definition as it is written, whatever its version: nothing is made of them but what is there."""

from collections.abc import Container, Iterator, MutableMapping
from typing import Any, TypeAlias

from swf_temporal.text.round_trip import rename

Tree: TypeAlias = MutableMapping[str, Any]


def children(node: Any, *keys: str) -> Iterator[Tree]:
    """Yield the objects under *keys* of *node*, and those in lists there."""
    for key in keys:
        value = node.get(key) if isinstance(node, MutableMapping) else None
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, MutableMapping):
                yield one


def states(root: Tree) -> Iterator[Tree]:
    """Yield the states."""
    yield from children(root, "states")


def name_of(node: Tree, key: str = "name") -> str | None:
    """Return the name that *node* has under *key*; None if that is no text."""
    name = node.get(key)
    return name if isinstance(name, str) else None


def called(state: Tree) -> str:
    return f"state {state.get('name')!r}"


def action_lists(state: Tree) -> Iterator[tuple[Tree, list[Tree]]]:
    """Yield the actions that stand together in *state*, with what they stand in: the state, an entry or a branch."""
    for holder in (state, *children(state, "onEvents", "branches")):
        actions = list(children(holder, "actions", "action"))
        if actions:
            yield holder, actions


def actions(root: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Yield the actions, each with its state."""
    for state in states(root):
        for _, found in action_lists(state):
            for action in found:
                yield state, action


def leavings(root: Tree) -> Iterator[Tree]:
    """Yield whatever may have a transition or an end."""
    for state in states(root):
        yield state
        yield from children(state, "onErrors", "dataConditions", "eventConditions", "defaultCondition", "default")


def event_filters(root: Tree) -> Iterator[Tree]:
    """Yield the filters of events."""
    for state in states(root):
        for holder in (state, *children(state, "onEvents", "eventConditions")):
            yield from children(holder, "eventDataFilter")


def renamed(node: Tree, names: dict[str, str]) -> list[str]:
    """Give the keys of *node* their new *names*, where those are free; return which."""
    done = [old for old, new in names.items() if old in node and new not in node]
    for old in done:
        rename(node, old, names[old])
    return done


def free_name(name: str, taken: Container[Any]) -> str:
    """Return *name*, with a number behind it if it is *taken*."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free
