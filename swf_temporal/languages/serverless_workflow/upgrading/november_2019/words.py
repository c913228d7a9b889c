"""Spellings of the draft and the texts after it, brought to one each."""

import re
from collections.abc import Iterator
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children
from swf_temporal.text.round_trip import add, rename, replace

PATHS: Final = ("inputPath", "resultPath", "outputPath")
_KINDS: Final = ("single", "and", "or", "not")


def one_spelling(root: Tree) -> None:
    """Give what *root* has of other spellings the names that the rest of this package knows, at any depth."""
    _keys(root)
    for key in ("name", "startsAt"):
        if root.get("id") is None and isinstance(root.get(key), str):
            add(root, "id", root[key])
    for trigger in children(root, "triggerDefs"):
        _keys(trigger)
    _scope(root)


def _scope(holder: Tree) -> None:
    for state in children(holder, "states"):
        _state(state)
        for branch in children(state, "branches"):
            _keys(branch)
            _scope(branch)


def _state(state: Tree) -> None:
    _node(state)
    for key in ("type", "actionMode"):
        if isinstance(state.get(key), str):
            state[key] = state[key].upper()
    if isinstance(state.get("default"), dict):
        state["default"] = state["default"].get("nextState")
    for entry in children(state, "events"):
        _node(entry)
        entry["actionMode"] = str(entry.get("actionMode", "SEQUENTIAL")).upper()
    for choice in children(state, "choices"):
        _choice(choice)
    for action in actions_of(state):
        _action(action)


def _action(action: Tree) -> None:
    _node(action)
    if isinstance(action.get("function"), str):
        action["function"] = {"name": action["function"]}
    for retry in children(action, "retry"):
        _node(retry)
        for old, new in (("interval", "retryInterval"), ("max", "maxRetry")):
            if old in retry:
                rename(retry, old, new)
        _seconds(retry, "retryInterval")


def actions_of(state: Tree) -> Iterator[Tree]:
    """Yield the actions of *state* and of its event definitions."""
    yield from children(state, "actions")
    for entry in children(state, "events"):
        yield from children(entry, "actions")


def _node(node: Tree) -> None:
    _keys(node)
    given = {key: node.pop(key) for key in PATHS if key in node}
    if given:
        for key, path in given.items():
            node.setdefault("filter", {})[key] = path
    for filters in children(node, "filter"):
        _keys(filters)
    _leads(node)
    for key in ("timeout", "timeDelay"):
        _seconds(node, key)
    if isinstance(node.get("end"), dict):
        node["end"] = True


def _leads(node: Tree) -> None:
    """Take the name of the next state out of the `transition` that later texts put around it."""
    way: Any = node.get("transition")
    if way is None or "nextState" in node:
        return
    if isinstance(way, str):
        rename(node, "transition", "nextState")
        return
    made = {"nextState": way.get("nextState")}
    condition = way.get("condition", way.get("expression"))
    if condition is not None and "condition" not in node:
        made["condition"] = condition
    replace(node, "transition", made)


def _choice(choice: Tree) -> None:
    _keys(choice)
    for kind in _KINDS:
        if kind.capitalize() in choice:
            rename(choice, kind.capitalize(), kind)
    _leads(choice)
    if "path" in choice and not any(kind in choice for kind in _KINDS):
        rule = {key: choice[key] for key in ("path", "value", "operator") if key in choice}
        for key in ("value", "operator"):
            choice.pop(key, None)
        replace(choice, "path", {"single": [rule]})


def _keys(node: Tree) -> None:
    for key in list(node):
        name = re.sub(r"-([a-z])", lambda match: match[1].upper(), key)
        name = name[0].lower() + name[1:] if name[:1].isupper() and name[0].lower() + name[1:] in PATHS else name
        name = "metadata" if name == "metaData" else name
        if name != key and name not in node:
            rename(node, key, name)


def _seconds(node: Tree, key: str) -> None:
    value = node.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        node[key] = f"PT{value}S"
