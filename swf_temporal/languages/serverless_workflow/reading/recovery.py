"""The rest of a workflow without the parts that have the wrong form.

An author is told everything at once: so what does have the right form is still put before the rules. What is
taken out keeps its name, so that references to it are not called dangling.
"""

from typing import Any

from pydantic import ValidationError

from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.text.located import Object
from swf_temporal.text.suggestions import nearest

STATE_TYPES = ("event", "operation", "switch", "sleep", "parallel", "inject", "foreach", "callback")
_DEFINITIONS = ("functions", "events", "retries", "errors", "auth")
_ROUNDS = 8
"""The number of rounds in which parts are taken out. Each reveals what the ones before it hid."""


def recover(root: Object, refused: ValidationError) -> Workflow | None:
    """Return the workflow in *root* without its broken parts, or None if too little would be left."""
    for _ in range(_ROUNDS):
        for details in refused.errors(include_url=False, include_context=False, include_input=False):
            _repair(root, details["loc"], details["type"])
        try:
            return Workflow.model_validate(root)
        except ValidationError as again:
            refused = again
    return None


def _repair(root: Object, path: tuple[int | str, ...], kind: str) -> None:
    node, key = _innermost(root, path)
    if kind == "union_tag_invalid":
        _retype(root, path)
    elif kind == "missing" or key is None:
        _replace(root, path)
    elif isinstance(node, dict) and node is not root:
        node.pop(key, None)
    else:
        _replace(root, path)


def _innermost(root: Object, path: tuple[int | str, ...]) -> tuple[Any, str | None]:
    """Return the last object on *path*, and the key that the path then takes in it."""
    value: Any = root
    node, key = root, None
    for step in path:
        if isinstance(value, Object) and step in value:
            node, key = value, str(step)
            value = value[key]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
            if isinstance(value, Object):
                node, key = value, None
    return node, key


def _retype(root: Object, path: tuple[int | str, ...]) -> None:
    state, _ = _innermost(root, path)
    meant = nearest(str(state.get("type")), STATE_TYPES)
    if meant is None:
        _replace(root, path)
    else:
        state["type"] = meant


def _replace(root: Object, path: tuple[int | str, ...]) -> None:
    """Put something harmless, of the same name, in the place of the state or definition on *path*."""
    kind = str(path[0]) if path else ""
    items = root.get(kind)
    index = path[1] if len(path) > 1 else None
    if isinstance(items, list) and isinstance(index, int) and index < len(items):
        items[index] = _stand_in(kind, items[index], index)
        return
    root.pop(kind, None)
    if kind in _DEFINITIONS:
        # As if they stood elsewhere: references to them cannot be checked.
        root["externals"] = {**(root.get("externals") or {}), kind: {"uri": ""}}
    elif kind == "id":
        root["id"] = "unnamed"


def _stand_in(kind: str, item: Any, index: int) -> dict[str, Any]:
    name = item.get("name") if isinstance(item, dict) else None
    stand_in: dict[str, Any] = {"name": name if isinstance(name, str) else f"unnamed {kind} {index}"}
    if kind == "states":
        stand_in |= {"type": "inject", "data": {}, "end": {}}
        if isinstance(item, dict) and item.get("usedForCompensation") is True:
            stand_in["usedForCompensation"] = True
    return stand_in
