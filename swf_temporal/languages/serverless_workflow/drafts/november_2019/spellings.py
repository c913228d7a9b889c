"""Other spellings of the draft: kebab-case, filters beside states, and those of later texts.

Spellings of these texts are accepted without a warning: the draft's prose, its schemas and its examples differ.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step, parts
from swf_temporal.languages.serverless_workflow.reading.reshaping import hoist, null_operator
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Accepted, Schema, to
from swf_temporal.text.origin import Array, Object, objects_in

STATE_TYPES: Final = ("EVENT", "OPERATION", "SWITCH", "DELAY", "PARALLEL", "SUBFLOW", "RELAY")
OTHER_TYPES: Final = {form(word): word for word in STATE_TYPES for form in (str.lower, str.capitalize)}
"""The types of states in other spellings: they are case-insensitive."""
_PATHS: Final = ("inputPath", "resultPath", "outputPath")
_KINDS_OF_CHOICES: Final = ("single", "and", "or", "not")

_WRITE_ID = "write 'id: ...', so that it does not change with that name"


def _identity(root: Object, normalizer: Normalizer) -> None:
    """Use the name as the id if there is none, or, as in the draft's first example, the start state."""
    for key in ("name", "startsAt"):
        if root.get("id") is None and isinstance(root.get(key), str):
            root.put("id", root[key], root.where.keys[key])
            normalizer.tolerate(f"this definition has no id: its {key} is used", root.where.key(key), _WRITE_ID)


def _types_in_capitals(node: Object, normalizer: Normalizer) -> None:
    del normalizer
    for state in objects_in(node.get("states")):
        word = state.get("type")
        if isinstance(word, str) and word.upper() in STATE_TYPES:
            state["type"] = word.upper()


def _mode_in_capitals(node: Object, normalizer: Normalizer) -> None:
    del normalizer
    word = node.get("actionMode")
    if isinstance(word, str) and word.upper() in ("SEQUENTIAL", "PARALLEL"):
        node["actionMode"] = word.upper()


def _filter_beside(node: Object, normalizer: Normalizer) -> None:
    """Move paths in the node itself, as in the draft's first example, into its filter."""
    del normalizer
    for key in _PATHS:
        for written in (key, _kebab(key), key[0].upper() + key[1:]):
            if hoist(node, written, "filter", key):
                break


def _transition(node: Object, normalizer: Normalizer) -> None:
    """Extract the name of the next state from `transition`, as in later texts."""
    del normalizer
    transition = node.get("transition")
    if "nextState" in node or transition is None:
        return
    if isinstance(transition, str):
        node.rename("transition", "nextState")
    elif isinstance(transition, Object) and "nextState" in transition:
        node.take("transition")
        node.put("nextState", *transition.take("nextState"))
        for key in ("condition", "expression"):
            if key in transition and "condition" not in node:
                node.put("condition", *transition.take(key))


def _end(node: Object, normalizer: Normalizer) -> None:
    """Read an `end` that is an object, as in the texts of 2020, as true: its kind makes no difference here."""
    del normalizer
    if isinstance(node.get("end"), Object):
        node["end"] = True


def _default(node: Object, normalizer: Normalizer) -> None:
    del normalizer
    default = node.get("default")
    if isinstance(default, Object) and "nextState" in default:
        node["default"] = default["nextState"]


def _seconds(*keys: str) -> Step:
    """Return a step that reads a number under any of *keys* as seconds, as in the first draft."""

    def step(node: Object, normalizer: Normalizer) -> None:
        del normalizer
        for key in keys:
            value = node.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                node[key] = f"PT{value}S"

    return step


def _retries(node: Object, normalizer: Normalizer) -> None:
    """Wrap a single retry in a list: the draft has one, the texts before and after it several."""
    del normalizer
    _listed(node, "retry")


def _choice(node: Object, normalizer: Normalizer) -> None:
    """Convert each choice's rules to a list: `not` has a single rule, and a single choice may be the rule itself."""
    del normalizer
    for key in _KINDS_OF_CHOICES:
        _listed(node, key)
    if any(key in node for key in _KINDS_OF_CHOICES) or "path" not in node:
        return
    rule, place = Object(node.where.position), node.where.position
    for key in ("path", "value", "operator"):
        if key in node:
            rule.put(key, *node.take(key))
    node.put("single", Array([rule], [place]), (place, place))


def _listed(node: Object, key: str) -> None:
    value = node.get(key)
    if isinstance(value, Object):
        node[key] = Array([value], [node.where.value(key)])


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"-\1", name).lower()


def _kebabs(kind: type[Node]) -> Iterator[tuple[str, str]]:
    for name in parts(kind):
        if _kebab(name) != name:
            yield _kebab(name), name


_METADATA: Final = {"metaData": "metadata", "meta-data": "metadata"}
_CAPITALS: Final = {name.capitalize(): name for name in _KINDS_OF_CHOICES}
_OF_EACH: Final[Mapping[type[Node], Spelling]] = {
    model.Definition: Spelling(steps=(_identity, _types_in_capitals)),
    model.Filter: Spelling(renamed={key[0].upper() + key[1:]: key for key in _PATHS}),
    model.Trigger: Spelling(),
    model.Function: Spelling(short="name"),
    model.Retry: Spelling(
        renamed={"interval": "retryInterval", "max": "maxRetry"}, steps=(_transition, _seconds("retryInterval"))
    ),
    model.Action: Spelling(steps=(_filter_beside, _retries, _seconds("timeout"))),
    model.EventDefinition: Spelling(
        steps=(_filter_beside, _transition, _mode_in_capitals, _seconds("timeout")),
    ),
    model.Rule: Spelling(steps=(null_operator("Null"),)),
    model.Choice: Spelling(renamed=_CAPITALS, steps=(_transition, _choice)),
    model.Condition: Spelling(short="body", renamed={"language": "expressionLanguage"}),
    model.ErrorHandler: Spelling(renamed={"expression": "condition"}, steps=(_transition, _end)),
    model.Loop: Spelling(steps=(_seconds("timeDelay"),)),
    model.StateBase: Spelling(steps=(_filter_beside, _transition, _end)),
    model.Branch: Spelling(steps=(_types_in_capitals,)),
    **{kind: Spelling(steps=(_filter_beside, _transition, _end, _mode_in_capitals)) for kind in model.STATES},
    model.SwitchState: Spelling(steps=(_filter_beside, _end, _default)),
    model.DelayState: Spelling(steps=(_filter_beside, _transition, _end, _seconds("timeDelay"))),
}

SPELLINGS: Final[Mapping[type[Node], Spelling]] = {
    kind: Spelling(one.short, {**dict(_kebabs(kind)), **_METADATA, **one.renamed}, one.tolerated, one.steps)
    for kind, one in _OF_EACH.items()
}
"""The spellings of each kind of node."""

_TEXT: Final[Schema] = {"type": "string"}
_MODES: Final[Schema] = {"enum": ["Sequential", "Parallel", "sequential", "parallel"]}
_TO_NEXT: Final[Schema] = {
    "anyOf": [_TEXT, {"type": "object", "properties": {"nextState": _TEXT, "condition": {}}, "required": ["nextState"]}]
}
_NUMBER: Final[Schema] = {"type": "number"}


def _paths_beside() -> dict[str, Schema]:
    return {spelling: _TEXT for key in _PATHS for spelling in (key, _kebab(key), key[0].upper() + key[1:])}


def _accepted() -> dict[type[Node], Accepted]:
    ending: dict[str, Any] = {"end": {"type": "object"}}
    found: dict[type[Node], Accepted] = {
        kind: Accepted(more={**_paths_beside(), "transition": _TO_NEXT}, widened=ending)
        for kind in (*model.STATES, model.StateBase)
    }
    mode = {"actionMode": _MODES}
    rules = {key: to(model.Rule) for key in _KINDS_OF_CHOICES}
    flat = {"path": _TEXT, "value": {}, "operator": _TEXT}
    return {
        **found,
        model.Definition: Accepted(instead={"id": ("name", "startsAt")}, is_open=True),
        model.OperationState: Accepted(more=found[model.OperationState].more, widened={**ending, **mode}),
        model.SwitchState: Accepted(more=_paths_beside(), widened={**ending, "default": {"type": "object"}}),
        model.Action: Accepted(more=_paths_beside(), widened={"retry": to(model.Retry), "timeout": _NUMBER}),
        model.EventDefinition: Accepted(
            more={**_paths_beside(), "transition": _TO_NEXT}, widened={**mode, "timeout": _NUMBER}
        ),
        model.Retry: Accepted(more={"transition": _TO_NEXT}, widened={"retryInterval": _NUMBER}),
        model.ErrorHandler: Accepted(more={"transition": _TO_NEXT}, widened=ending),
        model.Loop: Accepted(widened={"timeDelay": _NUMBER}),
        model.Choice: Accepted(
            more={**flat, "transition": _TO_NEXT}, widened=rules, instead={"nextState": ("transition",)}
        ),
    }


ACCEPTED: Final[Mapping[type[Node], Accepted]] = _accepted()
"""Other forms that the JSON Schema accepts."""
