"""Inserting expression functions that use secrets into the arguments that name them, where secrets are allowed."""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.constants import Constants
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    actions,
    braced,
    children,
    function_of,
    name_of,
)

MARKED: Final = re.compile(r"\s*(?:\$\{(?P<jq>.*)\}|\{\{(?P<old>.*)\}\})\s*", re.DOTALL)
"""An expression in braces."""
_NAMED: Final = "fn:"


def unmarked(text: str) -> str:
    """Return the expression *text* without its braces."""
    found = MARKED.fullmatch(text)
    return (text if found is None else found["jq"] or found["old"] or "").strip()


def functions_of(root: Tree) -> dict[str, str]:
    """Return the expression functions of *root* by name."""
    return {
        str(name_of(one)): one["operation"]
        for one in children(root, "functions")
        if one.get("type") == "expression" and isinstance(one.get("operation"), str) and name_of(one) is not None
    }


def insert_functions(root: Tree, report: UpgradeReport, constants: Constants) -> None:
    """Insert each expression function of *root* with a property that cannot be a constant; remove it if that is all."""
    functions = functions_of(root)
    for function in list(children(root, "functions")):
        name = str(function.get("name"))
        if name not in functions or not constants.exposes(functions[name]):
            continue
        calls = [(action, function_of(action)) for _, action in actions(root)]
        inserted = [
            _insert(reference, "arguments", name, functions[name])
            for action, called in calls
            for reference in children(action, "functionRef")
            if called not in functions
        ]
        if any(inserted):
            message = f"function {name!r}: its expression is inserted into the arguments that name it"
            report.reshaped(message, function)
            if all(called != name for _, called in calls) and not _names(root, name):
                root["functions"].remove(function)


def _insert(node: Any, key: Any, name: str, text: str) -> bool:
    """Write the expression *text* for `fn:name` under *key*; return True if it is named there."""
    value = node.get(key) if isinstance(node, Mapping) else node[key]
    if isinstance(value, MutableMapping | list):
        inside = list(value) if isinstance(value, MutableMapping) else range(len(value))
        return sum(_insert(value, one, name, text) for one in inside) > 0  # all of them, unlike any()
    is_named = isinstance(value, str) and _is_named(value, name)
    if is_named:
        node[key] = braced(text)
    return is_named


def _names(value: Any, name: str) -> bool:
    """Return True if a text in *value* is the expression function *name*."""
    if isinstance(value, Mapping | list):
        return any(_names(one, name) for one in (value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, str) and _is_named(value, name)


def _is_named(text: str, name: str) -> bool:
    inner = unmarked(text)
    return inner.startswith(_NAMED) and inner.removeprefix(_NAMED).strip() == name
