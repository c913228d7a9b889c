"""Problems for validation errors of pydantic models, each at the line and column of the invalid value.

Readers of documents add the names that their parts have in messages, and further hints.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from swf_temporal.base.errors import Position, Problem
from swf_temporal.text.origin import Array, Object, Source
from swf_temporal.text.suggestions import did_you_mean

_EXPECTED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "filter_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "tuple_type": "a list",
    "list_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "time_delta_type": "a duration such as PT5S",
    "datetime_type": "a date and time such as 2026-01-05T09:00:00Z",
}
_KINDS = {type(None): "empty", bool: "true or false", int: "a number", float: "a number", str: "a text"}
WRONG_FORM = "form"
"""The type of an error whose text is the expected form."""
_OF_A_KEY = "[key]"
"""The last part of pydantic's path to a key, rather than to its value."""


def validation_error(
    message: str, *path: str | int, hint: str | None = None, at_key: bool = False
) -> PydanticCustomError:
    """Return the error that a validator raises with its own message.

    *path* leads from the validated value to the part of it that the message is about. With *at_key* the position of the
    last key is reported, not that of its value.
    """
    facts = {"message": message, "path": path, "hint": hint, "at_key": at_key}
    return PydanticCustomError("custom", "{message}", facts)


def wrong_form(expected: str) -> PydanticCustomError:
    """Return the error that a validator raises if it knows the valid forms of a value better than the model."""
    return PydanticCustomError(WRONG_FORM, "{expected}", {"expected": expected})


class ErrorPlace:
    """The place of an error in a document, as far as its path exists in the text."""

    def __init__(self, root: Object, path: Sequence[int | str]) -> None:
        self.value: Any = root
        self.position = root.where.position
        self.key_position = self.position
        """The position of the last key of the path."""
        self.steps: list[tuple[int | str, Any]] = []
        """The keys and indexes of the path, each with the value there."""
        node, key = root, ""
        for step in path:
            if isinstance(self.value, Object) and step in self.value:
                node, key = self.value, str(step)
                self.key_position = node.where.key(key)
                self.value, self.position = node[key], node.where.value(key)
            elif isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
                positions = self.value.positions if isinstance(self.value, Array) else None
                self.position = positions[step] if positions else node.where.at(key, step)
                self.value = self.value[step]
            else:
                continue
            if isinstance(self.value, Object):
                self.position = self.value.where.position
            self.steps.append((step, self.value))


def problems_of(refused: ValidationError, to_problem: Callable[[ErrorDetails], Problem]) -> list[Problem]:
    """Return the problems that *to_problem* makes of the errors in *refused*.

    Each is reported once, but several things may be missing at the same position.
    """
    found: dict[tuple[Position, str, str], Problem] = {}
    for details in refused.errors(include_url=False):
        problem = to_problem(details)
        found.setdefault((problem.position, problem.code, problem.message * (problem.code == "missing")), problem)
    return list(found.values())


def problem_of(
    details: ErrorDetails, place: ErrorPlace, subject: str, source: Source, expected: str | None = None
) -> Problem:
    """Return the problem that *subject*, the value at *place*, is not one of the allowed words, or has another form.

    *expected* is the expected form, if it is known better than by the model.
    """
    if details["type"] in ("literal_error", "enum"):
        message, hint = not_one_of(subject, place.value, allowed_words(details))
        return source.problem("enum", message, place.position, hint)
    if expected is None:
        expected = details["msg"] if details["type"] == WRONG_FORM else expected_form(details["type"])
    expected = expected or "of another form"
    return source.problem("type", f"{subject} must be {expected}, not {describe_value(place.value)}", place.position)


def expected_form(kind: str) -> str | None:
    """Return the expected form of a value that caused an error of that *kind*, in an author's words."""
    return _EXPECTED.get(kind)


def custom_problem(details: ErrorDetails, root: Object, source: Source, code: str) -> Problem | None:
    """Return the problem, with that *code*, for the message of a validator; None for any other error.

    A validator gives a message by raising ValueError or a `validation_error`.
    """
    facts = details.get("ctx", {})
    if details["type"] == "value_error":
        return source.problem(code, str(facts["error"]), ErrorPlace(root, details["loc"]).position)
    if details["type"] != "custom":
        return None
    place = ErrorPlace(root, (*details["loc"], *facts["path"]))
    at_key = facts["at_key"] or _OF_A_KEY in details["loc"][-1:]
    position = place.key_position if at_key else place.position
    return source.problem(code, facts["message"], position, facts["hint"])


def allowed_words(details: ErrorDetails) -> list[str]:
    """Return the words that are allowed for the refused value."""
    expected = str(details.get("ctx", {}).get("expected"))
    return [word.strip(" '") for part in expected.split(" or ") for word in part.split(",")]


def not_one_of(subject: str, value: Any, words: Sequence[str]) -> tuple[str, str | None]:
    """Return the message that *value* is not one of *words*, and a hint with the one that is probably meant."""
    hint = did_you_mean(value, words) if isinstance(value, str) else None
    shown = repr(value) if isinstance(value, str) else describe_value(value)
    return f"{subject} {shown} is not one of {', '.join(words[:-1])} or {words[-1]}", hint


def describe_value(value: Any) -> str:
    """Describe *value* in an author's words."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"the text {value!r}" if isinstance(value, str) else _KINDS.get(type(value), "this")


def fields_at(model: Any, path: Sequence[int | str]) -> list[str]:
    """Return the keys that authors may write at *path* in a document of the type *model*."""
    kinds = list(_models(model))
    for step in path:
        fields = (
            fields for kind in kinds for name, fields in kind.model_fields.items() if step in (fields.alias, name)
        )
        kinds = [inner for field in fields for inner in _models(field.annotation)] or kinds
    return list(dict.fromkeys(field.alias or name for kind in kinds for name, field in kind.model_fields.items()))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that *annotation* mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def field_docs(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of *kind* that have a docstring in its source, each with that."""
    body: list[Any] = getattr(ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0], "body", [])
    for node, following in pairwise(body):
        match node, following:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(text))):
                yield field, " ".join(text.split())
