"""Functions, which the draft names where they are called, and 0.8 defines at the top."""

from typing import Any

from swf_temporal.function_types import TYPES
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.words import actions_of
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children


def functions_of(root: Tree) -> list[dict[str, Any]]:
    """Return the definitions of all functions that actions call, each with what is said of it anywhere."""
    found: dict[str, dict[str, Any]] = {}
    for action in _actions_in(root):
        function = action.get("function")
        if not isinstance(function, dict):
            continue
        name = str(function.get("name"))
        made = found.setdefault(name, {"name": name})
        for key in ("type", "resource", "metadata"):
            if key not in made and function.get(key) is not None:
                made[key] = function[key]
    return [_function(made) for made in found.values()]


def _function(given: dict[str, Any]) -> dict[str, Any]:
    name, own = given["name"], str(given.get("type") or "custom")
    made = {"name": name, "type": own.lower() if own.lower() in TYPES else own}
    operation = given.get("resource") or (name if ":" in name else None)
    if operation is not None:
        made["operation"] = operation
    return {**made, **({"metadata": given["metadata"]} if given.get("metadata") else {})}


def _actions_in(holder: Tree) -> list[Tree]:
    found: list[Tree] = []
    for state in children(holder, "states"):
        found += actions_of(state)
        for branch in children(state, "branches"):
            found += _actions_in(branch)
    return found
