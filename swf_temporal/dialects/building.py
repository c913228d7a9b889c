"""Does a document have the form of a workflow, and if not, what is wrong with it in an author's words?

The model knows the form; this file turns what it refuses into problems, each at the value that it is about.
"""

from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.dialects.placed import Array, Object
from swf_temporal.errors import Position, Problem
from swf_temporal.model.workflow import Source, Workflow

_SINGULAR = {
    "states": "state", "actions": "action", "functions": "function", "events": "event", "retries": "retry",
    "errors": "error", "auth": "auth", "branches": "branch", "action": "action", "dataConditions": "condition",
    "eventConditions": "condition",
}  # fmt: skip
_EXPECTED = {
    "string_type": "a text",
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
_KINDS = {type(None): "empty", bool: "true or false", int: "a number", float: "a number", str: "a text"}


def build(root: Object, source: Source) -> tuple[Workflow | None, list[Problem]]:
    """Return the workflow that *root* describes, or None with everything that keeps it from being one."""
    try:
        root["source"] = source
        return Workflow.model_validate(root), []
    except ValidationError as refused:
        found: dict[tuple[Position, str], Problem] = {}
        for details in refused.errors(include_url=False):
            problem = _problem(details, root, source)
            found.setdefault((problem.position, problem.code), problem)
        return None, list(found.values())


class _Place:
    """Where in the document an error is: as far as its path leads through what was written."""

    def __init__(self, root: Object, path: tuple[int | str, ...]) -> None:
        self.value: Any = root
        self.position = root.where.position
        self.key = ""
        self.node = root
        self.owners: list[str] = []
        listed = ""
        for step in path:
            if isinstance(self.value, Object) and step in self.value:
                self.node, self.key = self.value, str(step)
                self.position, self.value = self.value.where.value(self.key), self.value[self.key]
                listed = self.key
            elif isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
                self._step(step)
            self._owned(listed)

    def _step(self, index: int) -> None:
        positions = self.value.positions if isinstance(self.value, Array) else None
        self.position = positions[index] if positions else self.node.where.at(self.key, index)
        self.value = self.value[index]
        if isinstance(self.value, Object):
            self.position = self.value.where.position

    def _owned(self, listed: str) -> None:
        if isinstance(self.value, Object) and isinstance(self.value.get("name"), str) and listed in _SINGULAR:
            owner = f"{_SINGULAR[listed]} {self.value['name']!r}"
            if owner not in self.owners:
                self.owners.append(owner)

    @property
    def owner(self) -> str:
        return " of ".join(reversed(self.owners)) or "the workflow"


def _problem(details: ErrorDetails, root: Object, source: Source) -> Problem:
    path, kind = details["loc"], details["type"]
    place = _Place(root, path)
    if kind == "missing":
        key = str(path[-1])
        return source.problem("missing", f"{place.owner} has no {key}", _missing_at(place, key), _key_meant(place, key))
    if kind == "union_tag_not_found":
        return source.problem("missing", f"{place.owner} has no type", place.position, _key_meant(place, "type"))
    if kind == "union_tag_invalid":
        words = _quoted(str(details.get("ctx", {}).get("expected_tags", "")))
        return _choice(source, place, "state type", place.value["type"], words, place.value.where.value("type"))
    if kind == "literal_error":
        words = _quoted(str(details.get("ctx", {}).get("expected", "")))
        return _choice(source, place, place.key, place.value, words, place.position)
    expected = _EXPECTED.get(kind, "of another form")
    message = f"{place.owner}: {place.key} must be {expected}, not {_described(place.value)}"
    return source.problem("type", message, place.position)


def _choice(source: Source, place: _Place, what: str, value: Any, words: list[str], position: Position) -> Problem:
    meant = get_close_matches(str(value), words, 1) or get_close_matches(str(value).lower(), words, 1)
    hint = f"did you mean {meant[0]!r}?" if meant else None
    choice = " or ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else "another word"
    shown = repr(value) if isinstance(value, str) else _described(value)
    return source.problem("enum", f"{place.owner}: {what} {shown} is not one of {choice}", position, hint)


def _missing_at(place: _Place, key: str) -> Position:
    return place.value.where.key(key) if isinstance(place.value, Object) else place.position


def _key_meant(place: _Place, key: str) -> str | None:
    written = list(place.value.where.keys) if isinstance(place.value, Object) else []
    near = get_close_matches(key, written, 1)
    return f"is {near[0]!r} meant as {key!r}?" if near and near[0] != key else None


def _quoted(expected: str) -> list[str]:
    return [word.strip(" '") for part in expected.split(" or ") for word in part.split(",")]


def _described(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"the text {value!r}" if isinstance(value, str) else _KINDS.get(type(value), "this")
