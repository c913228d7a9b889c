"""Secrets: SonataFlow has any property of its configuration under `$SECRET`, declared or not."""

import re
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, actions, children
from swf_temporal.text.round_trip import add

_USED: Final = re.compile(r"\$SECRETS(?:\.(\w+)|\[\"([^\"]+)\"\])")


def declare(root: Tree, report: UpgradeReport) -> None:
    """Declare the secrets that *root*, whose expressions are marked, uses in arguments."""
    declared = root.get("secrets")
    names = [one for one in declared if isinstance(one, str)] if isinstance(declared, list) else []
    in_arguments: dict[str, None] = {}
    for _, action in actions(root):
        for reference in children(action, "functionRef"):
            in_arguments.update(dict.fromkeys(_names(reference.get("arguments"))))
    for auth in children(root, "auth"):
        in_arguments.update(dict.fromkeys(_names(auth.get("properties"))))
    missing = [name for name in in_arguments if name not in names]
    if missing and not isinstance(declared, str):
        if isinstance(declared, list):
            declared.extend(missing)
        else:
            add(root, "secrets", missing, "id")
        report.reshaped(f"secrets are declared: {', '.join(missing)}")


def _names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [name for item in value.values() for name in _names(item)]
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    return [one or other for one, other in _USED.findall(value)] if isinstance(value, str) else []
