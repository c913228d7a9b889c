"""Words from before 0.7 that were only renamed or moved since: 0.6 has them, and 0.8 tolerates them."""

from typing import Any

from swf_temporal.languages.serverless_workflow.reading.versions.before_0_8 import LATER_TYPES
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, called, children, renamed, states
from swf_temporal.text.round_trip import add, replace

_COMPLETIONS: dict[str, dict[str, Any]] = {
    "and": {"completionType": "allOf"},
    "xor": {"completionType": "atLeast", "numCompleted": 1},
    "n_of_m": {"completionType": "atLeast"},
}


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Replace these words in *root* by their names and locations since 0.7."""
    _exec_timeout(root, report)
    for state in states(root):
        for holder in (state, *children(state, "branches")):
            sub_workflow(holder, report)
        _state(state, report)
    for retry in children(root, "retries"):
        multiplier = retry.get("multiplier")
        if isinstance(multiplier, str) and multiplier.startswith("P") and "increment" not in retry:
            replace(retry, "multiplier", {"increment": multiplier})
            report.respelled("a multiplier that is a duration is the increment", retry)


def _exec_timeout(root: Tree, report: UpgradeReport) -> None:
    if "execTimeout" not in root:
        return
    timeout = root.pop("execTimeout")
    if isinstance(timeout, str):
        timeout = {"duration": timeout}
    if isinstance(timeout, dict):
        timeout.setdefault("interrupt", False)
    if "timeouts" not in root:
        add(root, "timeouts", {}, "start" if "start" in root else "id")
    root["timeouts"]["workflowExecTimeout"] = timeout
    report.reshaped("execTimeout is the workflowExecTimeout of timeouts, and does not interrupt by default")


def sub_workflow(node: Tree, report: UpgradeReport) -> None:
    """Convert the workflow that a state or branch runs to an action."""
    if "workflowId" in node and "actions" not in node:
        replace(node, "workflowId", {"actions": [{"subFlowRef": node["workflowId"]}]})
        report.reshaped("workflowId is an action with a subFlowRef", node)


def _state(state: Tree, report: UpgradeReport) -> None:
    kind = state.get("type")
    if isinstance(kind, str) and kind in LATER_TYPES:
        state["type"] = LATER_TYPES[kind]
        report.respelled(f"the state type {kind!r} is {LATER_TYPES[kind]!r}", state)
    names = {"default": "defaultCondition", "timeDelay": "duration", "n": "numCompleted", "max": "batchSize",
             "inputParameter": "iterationParam"}  # fmt: skip
    for old in renamed(state, names):
        report.respelled(f"{old} is {names[old]}", state)
    word = state.get("completionType")
    if isinstance(word, str) and word in _COMPLETIONS:
        more = {key: value for key, value in _COMPLETIONS[word].items() if key == "completionType" or key not in state}
        replace(state, "completionType", more)
        report.respelled(f"completionType {word!r} is {more['completionType']!r}", state)
    for old in ("eventTimeout", "timeout"):
        if old in state:
            set_timeout(state, "eventTimeout", state.pop(old))
            report.reshaped(f"{old} of {called(state)} is the eventTimeout of its timeouts", state)


def set_timeout(node: Tree, key: str, value: Any) -> None:
    if "timeouts" not in node:
        add(node, "timeouts", {}, "type" if "type" in node else "name")
    node["timeouts"][key] = value
