"""What SonataFlow reads as something else, or does without: truths, times, sources, actions, names, and constants."""

import re
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    actions,
    called,
    children,
    free_name,
    name_of,
    states,
)
from swf_temporal.text.round_trip import add

_TRUTHS: Final = {"true": True, "false": False}
_KEYS: Final = frozenset({
    "compensate", "dataOnly", "exclusive", "failOnValidationErrors", "interrupt", "keepActive", "terminate", "useData",
    "useResults", "usedForCompensation",
})  # fmt: skip
_FREE: Final = frozenset({"data", "arguments", "metadata", "constants", "dataInputSchema", "dataOutputSchema"})
"""What holds values of the author's."""


_UNITS: Final = re.compile(r"(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?")
"""A time in units, such as `1m30s`, which timers take beside those of ISO 8601."""
_CONSTANT: Final = re.compile(r"\$CONST\.(\w+)")


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Write what is meant."""
    _truths(root, report)
    for function in children(root, "functions"):
        for metadata in children(function, "metadata"):
            _truth(metadata, "failOnStatusCode", report)
    _constants(root, report)
    _times(root, report)
    for state in states(root):
        if state.get("type") == "operation" and not state.get("actions"):
            _without_actions(state, report)
        if state.get("type") == "parallel":
            _branches(state, report)
    for event in children(root, "events"):
        if event.get("source") == "":
            del event["source"]
            report.reshaped(f"event {event.get('name')!r}: an empty source is left out", event)


def _truths(node: Any, report: UpgradeReport) -> None:
    if isinstance(node, list):
        for item in node:
            _truths(item, report)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _KEYS:
                _truth(node, key, report)
            elif key not in _FREE:
                _truths(value, report)


def _truth(node: Tree, key: str, report: UpgradeReport) -> None:
    value = node.get(key)
    if isinstance(value, str) and value in _TRUTHS:
        node[key] = _TRUTHS[value]
        report.respelled(f"{key} is a truth, not the text {value!r}", node)


def _times(root: Tree, report: UpgradeReport) -> None:
    for state in states(root):
        _time(state, "duration", called(state), report)
    for state, action in actions(root):
        for sleep in children(action, "sleep"):
            for key in ("before", "after"):
                _time(sleep, key, called(state), report)


def _time(node: Tree, key: str, who: str, report: UpgradeReport) -> None:
    value = node.get(key)
    found = _UNITS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return
    days, hours, minutes, seconds, milliseconds = (int(one or 0) for one in found.groups())
    exact = f"{seconds + milliseconds / 1000:g}"
    parts = [f"{one}{unit}" for one, unit in ((hours, "H"), (minutes, "M"), (exact, "S")) if one not in (0, "0")]
    text = f"P{f'{days}D' if days else ''}{'T' if parts else ''}{''.join(parts)}"
    node[key] = text if text != "P" else "PT0S"
    report.reshaped(f"{who}: {key} {value!r} is {node[key]!r}", node)


def _without_actions(state: Tree, report: UpgradeReport) -> None:
    """Let a state that does nothing do so."""
    if "actions" not in state and "type" in state:
        add(state, "actions", [], "type")
        report.reshaped(f"{called(state)}: actions are none", state)


def _branches(state: Tree, report: UpgradeReport) -> None:
    branches = list(children(state, "branches"))
    taken = {name_of(one) for one in branches}
    for number, branch in enumerate(branches, 1):
        if "name" not in branch:
            name = free_name(f"branch {number}", taken)
            taken.add(name)
            add(branch, "name", name)
            report.reshaped(f"{called(state)}: a branch is called {name!r}", branch)


def _constants(root: Tree, report: UpgradeReport) -> None:
    """Define the constants as null that are used, and are not there."""
    constants = root.get("constants", {})
    if not isinstance(constants, dict):
        return
    used = dict.fromkeys(name for key in root if key not in _FREE for name in _named(root[key]))
    for name in used:
        if name not in constants:
            if "constants" not in root:
                add(root, "constants", constants, "id")
            root["constants"][name] = None
            report.reshaped(f"the constant {name!r}, which is not defined, is null", root["constants"])


def _named(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [name for part in parts for name in _named(part)]
    return _CONSTANT.findall(value) if isinstance(value, str) else []
