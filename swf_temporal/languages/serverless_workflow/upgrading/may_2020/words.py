"""Names that differ between the draft, its parent and the texts before it, brought to one each."""

from collections.abc import Iterator
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.report import Report
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children, renamed
from swf_temporal.text.round_trip import add

_TYPES: Final = {"relay": "inject"}
_NAMES: Final = {"taskDataFilter": "stateDataFilter"}
_OPERATORS: Final = {"lessthanequals": "lessthanorequals", "greaterthanequals": "greaterthanorequals"}


def one_spelling(root: Tree, report: Report) -> None:
    """Give what *root* has of other spellings the names that the rest of this package knows, at any depth."""
    for key in ("schemaVersion", "expressionLanguage"):
        root.pop(key, None)
    if root.get("id") is None and isinstance(root.get("name"), str):
        add(root, "id", root["name"])
        report.reshaped("the id is the name, where there is none", root)
    _scope(root, report)


def _scope(holder: Tree, report: Report) -> None:
    for old in renamed(holder, {"tasks": "states"}):
        report.respelled(f"{old} are states", holder)
    named = holder.pop("startsAt", None)
    for state in children(holder, "states"):
        if named is not None and named in (state.get("name"), state.get("id")) and "start" not in state:
            state["start"] = {"kind": "default"}
        _state(state, report)
        for inner in _scopes_in(state):
            _scope(inner, report)


def _scopes_in(state: Tree) -> Iterator[Tree]:
    yield from children(state, "branches")
    if state.get("type") == "foreach":
        yield state


def _state(state: Tree, report: Report) -> None:
    _lower(state, "type", _TYPES)
    _lower(state, "actionMode")
    _lower(state, "completionType")
    for old in renamed(state, _NAMES):
        report.respelled(f"{old} is {_NAMES[old]}", state)
    renamed(state, {"choices": "dataConditions"} if state.get("type") == "switch" else {})
    renamed(state, {"inject": "data"} if state.get("type") == "inject" else {})
    for entry in children(state, "eventsActions"):
        _lower(entry, "actionMode")
    _event_filters(state)
    for one in children(state, "dataConditions"):
        _lower(one, "operator", _OPERATORS)
    for start in children(state, "start"):
        _lower(start, "kind")
    for end in children(state, "end"):
        renamed(end, {"type": "kind"})
        _lower(end, "kind")
        _produced(end)
    for entry in children(state, "onError"):
        renamed(entry, {"condition": "expression"})
    for holder in (state, *children(state, "dataConditions", "eventConditions", "onError")):
        _transition(holder, "transition")
    _transition(state, "default")
    _completion(state)


def _event_filters(state: Tree) -> None:
    for holder in (state, *children(state, "eventsActions", "eventConditions")):
        for given in children(holder, "eventDataFilter"):
            for old in ("dataInputPath", "inputPath"):
                renamed(given, {old: "dataOutputPath"})


def _transition(holder: Tree, key: str) -> None:
    if isinstance(holder.get(key), str):
        holder[key] = {"nextState": holder[key]}
    for transition in children(holder, key):
        renamed(transition, {"nextTask": "nextState", "condition": "expression"})
        _produced(transition)


def _produced(node: Tree) -> None:
    for produced in children(node, "produceEvent"):
        renamed(produced, {"nameRef": "eventRef"})


def _lower(node: Tree, key: str, called: dict[str, str] | None = None) -> None:
    word: Any = node.get(key)
    if isinstance(word, str):
        meant = word.lower()
        meant = (called or {}).get(meant, meant)
        if meant != word:
            node[key] = meant


def _completion(state: Tree) -> None:
    """Read branches of which none is waited for as those of which the first to complete completes the state."""
    branches = list(children(state, "branches"))
    waits = [branch.pop("waitForCompletion") for branch in branches if "waitForCompletion" in branch]
    if waits and len(waits) == len(branches) and not any(waits) and "completionType" not in state:
        add(state, "completionType", "xor", "type")
