"""Builds the model from a document, or says in an author's words what is wrong with its form.

The model knows the form; this file turns what it refuses into problems, each at the value that it is about.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.recovery import STATE_TYPES, salvage
from swf_temporal.text.located import Array, Object
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import did_you_mean, nearest

_SINGULAR = {
    "states": "state", "actions": "action", "functions": "function", "events": "event", "retries": "retry",
    "errors": "error", "auth": "auth", "branches": "branch", "action": "action",
    "dataConditions": "condition", "eventConditions": "condition", "onErrors": "onErrors entry",
    "onEvents": "onEvents entry",
}  # fmt: skip
_EXPECTED = {
    "string_type": "a text",
    "filter_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
_SHORT = {"end": "true or an object"} | dict.fromkeys(
    (
        "transition",
        "start",
        "schedule",
        "cron",
        "functionRef",
        "subFlowRef",
        "authRef",
        "continueAs",
        "workflowExecTimeout",
    ),
    "a text or an object",
)
_KINDS = {type(None): "empty", bool: "true or false", int: "a number", float: "a number", str: "a text"}


def build(root: Object, source: Source) -> tuple[Workflow | None, list[Problem]]:
    """Return the workflow that *root* describes, with everything that keeps it from being one.

    If there is any such problem, the workflow is what is left without the parts concerned, or None.
    """
    root["source"] = source
    try:
        return Workflow.model_validate(root), []
    except ValidationError as refused:
        found: dict[tuple[Position, str, str], Problem] = {}
        for details in refused.errors(include_url=False):
            problem = _problem(details, root, source)
            # One thing that is wrong is told once; what is missing in one place may be several things.
            found.setdefault((problem.position, problem.code, problem.message * (problem.code == "missing")), problem)
        return salvage(root, refused), list(found.values())


class _Place:
    """Where in the document an error is: as far as its path leads through what was written."""

    def __init__(self, root: Object, path: tuple[int | str, ...]) -> None:
        self.value: Any = root
        self.position = root.where.position
        self.what = ""
        """The key that the value stands under, or what the list that it stands in holds."""
        self.owners: list[str] = []
        node, key = root, ""
        for step in path:
            if isinstance(self.value, Object) and step in self.value:
                node, key = self.value, str(step)
                self.what, self.position, self.value = key, node.where.value(key), node[key]
                self._own(key, None)
            elif isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
                positions = self.value.positions if isinstance(self.value, Array) else None
                self.position = positions[step] if positions else node.where.at(key, step)
                self.value = self.value[step]
                self._own(key, step)

    def _own(self, key: str, index: int | None) -> None:
        """Note that what follows belongs to the value, if that is something that authors have a word for."""
        if isinstance(self.value, Object):
            self.position = self.value.where.position
        if key in _SINGULAR and (index is not None or key == "action"):
            name = self.value.get("name") if isinstance(self.value, Object) else None
            number = "" if index is None else f" number {index + 1}"
            self.owners.append(f"{_SINGULAR[key]} {name!r}" if isinstance(name, str) else f"{_SINGULAR[key]}{number}")
            self.what = ""

    @property
    def owner(self) -> str:
        """The words for the innermost thing that has some."""
        return " of ".join(reversed(self.owners)) or "the workflow"

    @property
    def subject(self) -> str:
        """The words for the value itself."""
        return f"{self.owner}: {self.what}" if self.what else self.owner


def _problem(details: ErrorDetails, root: Object, source: Source) -> Problem:
    path, kind = details["loc"], details["type"]
    place = _Place(root, path)
    if kind in ("missing", "union_tag_not_found"):
        key = str(path[-1]) if kind == "missing" else "type"
        meant = _key_meant(place, key)
        asked = None if meant is None else f"is {meant!r} meant as {key!r}?"
        where = _missing_at(place, key) if meant is None else place.value.where.key(meant)
        return source.problem("missing", f"{place.owner} has no {key}", where, asked)
    if place.what == "stateExecTimeout" and isinstance(place.value, Object):
        # One that says its total was replaced by that.
        meant = "a state is not retried: how long it may take is its total"
        return source.problem("missing", f"{place.subject} has no total", place.position, meant)
    if kind == "union_tag_invalid":
        word, position = place.value["type"], place.value.where.value("type")
        message, hint = _choice(f"{place.owner}: state type", word, STATE_TYPES)
        return source.problem("enum", message, position, hint)
    if kind == "literal_error":
        message, hint = _choice(place.subject, place.value, _quoted(str(details.get("ctx", {}).get("expected"))))
        return source.problem("enum", message, place.position, hint)
    expected = _SHORT.get(place.what) or _EXPECTED.get(kind, "of another form")
    message = f"{place.subject} must be {expected}, not {_described(place.value)}"
    return source.problem("type", message, place.position)


def _choice(subject: str, value: Any, words: Sequence[str]) -> tuple[str, str | None]:
    """Return the message that *value* is none of *words*, and the hint which of them may be meant."""
    hint = did_you_mean(value, words) if isinstance(value, str) else None
    shown = repr(value) if isinstance(value, str) else _described(value)
    return f"{subject} {shown} is not one of {', '.join(words[:-1])} or {words[-1]}", hint


def _missing_at(place: _Place, key: str) -> Position:
    return place.value.where.key(key) if isinstance(place.value, Object) else place.position


def _key_meant(place: _Place, key: str) -> str | None:
    """Return which key was perhaps written for *key*."""
    if not isinstance(place.value, Object):
        return None
    near = nearest(key, place.value.where.keys.keys() - place.value.keys())
    return None if near == key else near


def _quoted(expected: str) -> list[str]:
    return [word.strip(" '") for part in expected.split(" or ") for word in part.split(",")]


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"the text {value!r}" if isinstance(value, str) else _KINDS.get(type(value), "this")
