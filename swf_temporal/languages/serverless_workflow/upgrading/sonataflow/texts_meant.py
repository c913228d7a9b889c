"""Texts that SonataFlow reads as something else: truths, and sources of events that are empty."""

from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children

_TRUTHS: Final = {"true": True, "false": False}
_KEYS: Final = frozenset({
    "compensate", "dataOnly", "exclusive", "failOnValidationErrors", "interrupt", "keepActive", "terminate", "useData",
    "useResults", "usedForCompensation",
})  # fmt: skip
_FREE: Final = frozenset({"data", "arguments", "metadata", "constants", "dataInputSchema", "dataOutputSchema"})
"""What holds values of the author's."""


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Write what is meant."""
    _truths(root, report)
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
            if key in _KEYS and isinstance(value, str) and value in _TRUTHS:
                node[key] = _TRUTHS[value]
                report.respelled(f"{key} is a truth, not the text {value!r}", node)
            elif key not in _FREE:
                _truths(value, report)
