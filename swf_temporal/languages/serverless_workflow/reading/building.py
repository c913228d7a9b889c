"""Building a model from a document, or problems of its form in an author's words.

The model validates the form; this module turns its errors into problems, each with the position of the value.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.missing import hint_for_missing
from swf_temporal.text.located import Object
from swf_temporal.text.model_errors import ErrorPlace, fields_at, not_one_of, problem_of, problems_of
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import nearest

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class DefinitionForm(Generic[N]):
    """The model of a version's definitions, and the words for its parts."""

    model: type[N]
    state_types: Sequence[str]
    called: Mapping[str, str]
    """The singular of each key that holds a list or an object."""
    state: str = "state"
    """The word for a state."""
    texts_too: Collection[str] = ()
    """The keys of objects that may be written as a text."""
    truths_too: Collection[str] = ()
    """The keys of objects that may be written as true."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The author's words for keys of the model, where they differ."""


def build(
    root: Object,
    source: Source,
    form: DefinitionForm[N],
    recover: Callable[[Object, ValidationError], N | None] | None = None,
) -> tuple[N | None, list[Problem]]:
    """Return the definition *root* with the problems of its form.

    If there are any, the definition is what *recover* returns without the malformed parts, or None.
    """
    root["source"] = source
    try:
        return form.model.model_validate(root), []
    except ValidationError as refused:
        problems = problems_of(refused, lambda details: _problem(details, root, source, form))
        return None if recover is None else recover(root, refused), problems


class _DefinitionPlace(ErrorPlace):
    """A place in a definition, with the words for the value there."""

    def __init__(self, root: Object, path: Sequence[int | str], called: Mapping[str, str]) -> None:
        super().__init__(root, path)
        self.called = called
        self.what = ""
        """The key of the value, or of the list that contains it."""
        self.owners: list[str] = []
        key = ""
        for step, value in self.steps:
            if isinstance(step, str):
                self.what = key = step
                self._own(key, None, value)
            else:
                self._own(key, step, value)

    def _own(self, key: str, index: int | None, value: Any) -> None:
        """Record *value* as an owner of what follows, if there is a word for it."""
        if key in self.called and (index is not None or key == "action"):
            name = value.get("name") if isinstance(value, Object) else None
            number = "" if index is None else f" number {index + 1}"
            word = self.called[key]
            self.owners.append(f"{word} {name!r}" if isinstance(name, str) else f"{word}{number}")
            self.what = ""

    @property
    def owner(self) -> str:
        """The words for the innermost owner."""
        return " of ".join(reversed(self.owners)) or "the workflow"

    @property
    def subject(self) -> str:
        return f"{self.owner}: {self.what}" if self.what else self.owner


def _problem(details: ErrorDetails, root: Object, source: Source, form: DefinitionForm[Any]) -> Problem:
    path, kind = details["loc"], details["type"]
    place = _DefinitionPlace(root, path, form.called)
    if kind in ("missing", "union_tag_not_found"):
        key = str(path[-1]) if kind == "missing" else "type"
        return _missing(place, key, source, form, form.state_types if kind != "missing" else ())
    if place.what == "stateExecTimeout" and isinstance(place.value, Object):
        # A timeout with a total was replaced by the total before.
        meant = "write a total: a state is not retried, so that is its timeout"
        return source.problem("missing", f"{place.subject} has no total", place.position, meant)
    if kind == "union_tag_invalid":
        word, position = place.value["type"], place.value.where.value("type")
        message, hint = not_one_of(f"{place.owner}: {form.state} type", word, form.state_types)
        return source.problem("enum", message, position, hint)
    problem = problem_of(details, place, place.subject, source, _shape(place.what, form))
    return replace(problem, hint=_as_list(place, fields_at(form.model, path))) if kind == "tuple_type" else problem


def _as_list(place: _DefinitionPlace, fields: Collection[str]) -> str | None:
    """Return a hint how to write the object at *place* as a list of objects with *fields*."""
    if not isinstance(place.value, Object) or not place.value:
        return None
    first = next(iter(place.value))
    if first in fields:
        return f"write a list with it as the only element, as in '{place.what}: [{{{first}: ...}}]'"
    if isinstance(place.value[first], Object):
        return f"write a list with the names in its elements, as in '{place.what}: [{{name: {first}, ...}}]'"
    return None


def _missing(
    place: _DefinitionPlace, key: str, source: Source, form: DefinitionForm[Any], types: Sequence[str]
) -> Problem:
    word = form.words.get(key, key)
    meant = _key_meant(place, word)
    hint = hint_for_missing(word, place.what, types) if meant is None else f"is {meant!r} meant as {word!r}?"
    where = _missing_at(place, key) if meant is None else place.value.where.key(meant)
    return source.problem("missing", f"{place.subject} has no {word}", where, hint)


def _shape(key: str, form: DefinitionForm[Any]) -> str | None:
    if key in form.truths_too:
        return "true or an object"
    return "a text or an object" if key in form.texts_too else None


def _missing_at(place: ErrorPlace, key: str) -> Position:
    return place.value.where.key(key) if isinstance(place.value, Object) else place.position


def _key_meant(place: ErrorPlace, key: str) -> str | None:
    if not isinstance(place.value, Object):
        return None
    near = nearest(key, place.value.where.keys.keys() - place.value.keys())
    return None if near == key else near
