"""Secrets: SonataFlow has any property of its configuration under `$SECRET`, declared or not.

What it sends a service for the security schemes of a document are properties, too: here a secret for each service and
scheme.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.functions import called_by
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, actions, children
from swf_temporal.text.clients import client_of, credentials_in, strategy_of
from swf_temporal.text.round_trip import add

_USED: Final = re.compile(r"\$SECRETS(?:\.(\w+)|\[\"([^\"]+)\"\])")


def declare(root: Tree, report: UpgradeReport, properties: Mapping[str, str]) -> None:
    """Declare the secrets that *root*, whose expressions are marked, uses in arguments, and those of its services."""
    declared = root.get("secrets")
    names = [one for one in declared if isinstance(one, str)] if isinstance(declared, list) else []
    wanted: dict[str, None] = {}
    for _, action in actions(root):
        for reference in children(action, "functionRef"):
            wanted.update(dict.fromkeys(_names(reference.get("arguments"))))
    for auth in children(root, "auth"):
        wanted.update(dict.fromkeys(_names(auth.get("properties"))))
    strategy = strategy_of(properties)
    for function in children(root, "functions"):
        client = client_of(called_by(function), strategy)
        wanted.update({} if client is None else credentials_in(properties, client))
    missing = [name for name in wanted if name not in names]
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
