"""Builds a model from a document, or says in an author's words what is wrong with its form.

The model knows the form; this file turns what it refuses into problems, each at the value that it is about.
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
    """The model that definitions of a version are built as, and the words that its authors have for its parts."""

    model: type[N]
    state_types: Sequence[str]
    called: Mapping[str, str]
    """What one thing in the list, or the object, under each key is called."""
    state: str = "state"
    """What a state is called."""
    texts_too: Collection[str] = ()
    """The keys under which there is an object, or a text in place of it."""
    truths_too: Collection[str] = ()
    """The keys under which there is an object, or true in place of it."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What the author writes for keys of the model, where that is another word."""


def build(
    root: Object,
    source: Source,
    form: DefinitionForm[N],
    recover: Callable[[Object, ValidationError], N | None] | None = None,
) -> tuple[N | None, list[Problem]]:
    """Return the definition that *root* describes, with everything that keeps it from being one.

    If there is any such problem, the definition is what *recover* leaves without the parts concerned, or None.
    """
    root["source"] = source
    try:
        return form.model.model_validate(root), []
    except ValidationError as refused:
        problems = problems_of(refused, lambda details: _problem(details, root, source, form))
        return None if recover is None else recover(root, refused), problems


class _DefinitionPlace(ErrorPlace):
    """A place in a definition, with the words for what stands there."""

    def __init__(self, root: Object, path: Sequence[int | str], called: Mapping[str, str]) -> None:
        super().__init__(root, path)
        self.called = called
        self.what = ""
        """The key that the value stands under, or what the list that it stands in holds."""
        self.owners: list[str] = []
        key = ""
        for step, value in self.steps:
            if isinstance(step, str):
                self.what = key = step
                self._own(key, None, value)
            else:
                self._own(key, step, value)

    def _own(self, key: str, index: int | None, value: Any) -> None:
        """Note that what follows belongs to *value*, if that is something that authors have a word for."""
        if key in self.called and (index is not None or key == "action"):
            name = value.get("name") if isinstance(value, Object) else None
            number = "" if index is None else f" number {index + 1}"
            word = self.called[key]
            self.owners.append(f"{word} {name!r}" if isinstance(name, str) else f"{word}{number}")
            self.what = ""

    @property
    def owner(self) -> str:
        """The words for the innermost thing that has some."""
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
        # One that says its total was replaced by that.
        meant = "a state is not retried: how long it may take is its total"
        return source.problem("missing", f"{place.subject} has no total", place.position, meant)
    if kind == "union_tag_invalid":
        word, position = place.value["type"], place.value.where.value("type")
        message, hint = not_one_of(f"{place.owner}: {form.state} type", word, form.state_types)
        return source.problem("enum", message, position, hint)
    problem = problem_of(details, place, place.subject, source, _shape(place.what, form))
    return replace(problem, hint=_as_list(place, fields_at(form.model, path))) if kind == "tuple_type" else problem


def _as_list(place: _DefinitionPlace, fields: Collection[str]) -> str | None:
    """Return how the object at *place* is written as a list of what has *fields*: of itself, or of those in it."""
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
