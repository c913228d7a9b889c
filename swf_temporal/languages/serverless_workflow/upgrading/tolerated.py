"""Spellings in definitions of 0.7 and 0.8 that differ from the specification, and are tolerated."""

from typing import Any

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.externals import KINDS
from swf_temporal.languages.serverless_workflow.reading.normalizing import TRUTHS, NodeField, parts
from swf_temporal.languages.serverless_workflow.upgrading import lowered
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    actions,
    children,
    event_filters,
    leavings,
    renamed,
    states,
)
from swf_temporal.text.round_trip import rename, replace


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Rewrite tolerated spellings in *root* as 0.8 has them."""
    lowered.upgrade(root, report)
    names = {"schemaVersion": "specVersion", "expressionLanguage": "expressionLang"}
    for old in renamed(root, names):
        report.respelled(f"{old} is {names[old]}")
    if isinstance(root.get("auth"), dict):
        root["auth"] = [root["auth"]]
        report.respelled("auth is a list")
    for _, action in actions(root):
        _action(action, report)
    for state in states(root):
        for entry in children(state, "onEvents"):
            _respelled(entry, {"eventFilter": "eventDataFilter"}, report)
        for entry in children(state, "onErrors"):
            if "errorRef" not in entry and "errorRefs" not in entry:
                _respelled(entry, {"error": "errorRef"}, report)
    _filters(root, report)
    for node in leavings(root):
        _leaving(node, report)
    _booleans_and_lists(root, report)


def _respelled(node: Tree, names: dict[str, str], report: UpgradeReport) -> None:
    for old in renamed(node, names):
        report.respelled(f"{old} is {names[old]}", node)


def _filters(root: Tree, report: UpgradeReport) -> None:
    for state in states(root):
        for one in children(state, "stateDataFilter"):
            _respelled(one, {"dataInputPath": "input", "dataOutputPath": "output"}, report)
    for one in event_filters(root):
        _respelled(one, {"dataOutputPath": "data"}, report)
    for _, action in actions(root):
        for one in children(action, "actionDataFilter"):
            _respelled(one, {"dataInputPath": "fromStateData", "dataResultsPath": "results"}, report)


def _action(action: Tree, report: UpgradeReport) -> None:
    _respelled(action, {"actionFilter": "actionDataFilter", "publish": "eventRef"}, report)
    for key in ("arguments", "args", "parameters"):
        reference = action.get("functionRef")
        if key in action and isinstance(reference, str):
            action["functionRef"] = reference = {"refName": reference}
        if key in action and isinstance(reference, dict) and "arguments" not in reference:
            reference["arguments"] = action.pop(key)
            report.respelled(f"{key} beside functionRef are its arguments", action)
    for reference in children(action, "functionRef"):
        _respelled(reference, {"parameters": "arguments", "args": "arguments"}, report)
        for key in ("retryRef", "retryableErrors", "nonRetryableErrors"):
            if key in reference and key not in action:
                action[key] = reference.pop(key)
                report.respelled(f"{key} belongs to the action", action)
    for reference in children(action, "eventRef"):
        if "event" in reference and "triggerEventRef" not in reference and "produceEventRef" not in reference:
            rename(reference, "event", "triggerEventRef")
            report.respelled("event is triggerEventRef", reference)
        _attributes(reference, report)


def _leaving(node: Tree, report: UpgradeReport) -> None:
    end = node.get("end")
    if isinstance(end, str) and end.lower() in TRUTHS:
        node["end"] = end = TRUTHS[end.lower()]
        report.respelled("end is true or an object", node)
    for way in children(node, "end", "transition"):
        for produced in children(way, "produceEvents"):
            _attributes(produced, report)


def _attributes(node: Tree, report: UpgradeReport) -> None:
    attributes: Any = node.get("contextAttributes")
    if isinstance(attributes, list) and all(isinstance(one, dict) for one in attributes):
        merged = {key: value for one in attributes for key, value in one.items()}
        replace(node, "contextAttributes", {"contextAttributes": merged})
        report.respelled("contextAttributes is an object", node)


def _booleans_and_lists(node: Tree, report: UpgradeReport, kind: type[Node] = Workflow) -> None:
    """Rewrite texts in *node*, which is of that *kind*, that are read as booleans or as lists with one element."""
    for key, part in parts(kind).items():
        value = node.get(key)
        if part.kinds:
            for one in children(node, key):
                inner = _kind_of(part, one)
                if inner is not None:
                    _booleans_and_lists(one, report, inner)
        elif not isinstance(value, str):
            continue
        elif part.truth and value.lower() in TRUTHS:
            node[key] = TRUTHS[value.lower()]
            report.respelled(f"{key} is true or false", node)
        elif part.many and key not in KINDS:  # under those keys a text is a URI
            node[key] = [value]
            report.respelled(f"{key} is a list", node)


def _kind_of(part: NodeField, node: Tree) -> type[Node] | None:
    if len(part.kinds) == 1:
        return next(iter(part.kinds.values()))
    return part.kinds.get(str(node.get("type")))
