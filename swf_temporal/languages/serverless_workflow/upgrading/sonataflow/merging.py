"""Results that are put where a state injects something: SonataFlow merges values of different kinds otherwise."""

import re
from collections.abc import Iterator
from typing import Any, Final

from swf_temporal.expressions.evaluation import BadExpression, Expressions
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.expressions import expressions_of
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, actions, called, children, name_of, states

_PATH: Final = re.compile(r"(?:\$\{\s*)?((?:\.\w+)+)\s*\}?")
_SCALARS: Final = frozenset({"boolean", "number", "string", "null"})


def tell(root: Tree, report: UpgradeReport) -> None:
    """Report the places of results in which an array or a scalar is injected that is not just replaced."""
    injected = [(called(state), state.get("data")) for state in states(root) if state.get("type") == "inject"]
    expressions = expressions_of(root)
    operations = {name_of(one): one for one in children(root, "functions")}
    for state, action in actions(root):
        for given, path in _targets(action):
            result = given.get("results", _operation(action, operations))
            for who, data in injected:
                present = _at(data, path.split(".")[1:])
                if isinstance(present, list):
                    kept = "replaces an array by another"
                elif present is not None and not isinstance(present, dict) and not _is_scalar(result, expressions):
                    kept = "keeps a scalar in an array or beside an object"
                else:
                    continue
                message = f"{called(state)}: a result goes to {path!r}, where {who} injects; SonataFlow {kept}"
                report.differs(message, "give it a name of its own", action)


def _targets(action: Tree) -> Iterator[tuple[Tree, str]]:
    for given in children(action, "actionDataFilter"):
        path = _PATH.fullmatch(str(given.get("toStateData")).strip())
        if path is not None and given.get("useResults") is not False:
            yield given, path[1]


def _at(data: Any, keys: list[str]) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _operation(action: Tree, functions: dict[Any, Tree]) -> Any:
    """Return what a function of expressions evaluates, which *action* calls."""
    reference = action.get("functionRef")
    name = name_of(reference, "refName") if isinstance(reference, dict) else name_of(action, "functionRef")
    function = functions.get(name, {})
    return function.get("operation") if function.get("type") == "expression" else None


def _is_scalar(expression: Any, expressions: Expressions) -> bool:
    if not isinstance(expression, str):
        return False
    try:
        return expressions.expression(expression).kinds <= _SCALARS
    except BadExpression:
        return False
