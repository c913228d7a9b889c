"""Building a model from a document, or problems of its form in an author's words.

The model validates the form; this module turns its errors into problems, each with the position of the value.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.text.model_errors import ErrorPlace, fields_at, not_one_of, problem_of, problems_of
from swf_temporal.text.origin import Object, Source
from swf_temporal.text.suggestions import nearest

_EVENT_TYPE: Final = "write the type of the CloudEvents, such as 'type: com.example.order.paid'"
_MIN_ONE: Final = "write at least one"
_HINTS: Final[Mapping[str, str]] = {
    "action": (
        "write the action to run before waiting for the event, as in 'action: {functionRef: {refName: ...}}'; to wait "
        "alone, write 'type: event' and 'onEvents: [{eventRefs: [EVENT], actions: []}]'"
    ),
    "actions": f"{_MIN_ONE}, as in 'actions: [{{functionRef: {{refName: ...}}}}]'",
    "body": "write the condition, as in \"body: $.error.name eq 'TimedOut'\"",
    "branches": f"{_MIN_ONE}, each with a name and what it does",
    "choices": f"{_MIN_ONE}, with a rule and the nextState that it leads to",
    "clientId": "write the id that the client has with the authorization server, or '${ $SECRETS.clientId }'",
    "condition": "write when it applies, as an expression that is true or false",
    "contextAttributeName": "write the context attribute that distinguishes events, such as orderid",
    "data": "write what is added to the data, as in 'data: {greeting: hello}'",
    "duration": "write how long, such as PT15M",
    "error": "write the name of the error, or '*' for any",
    "errorRefs": "name errors that are defined under errors, or write errorRef for a single one, and '*' for any",
    "eventExpression": "write which triggers it waits for, as in 'eventExpression: paid and (packed or sent)'",
    "eventRef": "write the name of an event that is defined under events",
    "eventRefs": "write a list of the events that it waits for, by their names under events",
    "events": f"{_MIN_ONE}, with an eventExpression that names triggers",
    "eventsActions": f"{_MIN_ONE}, as in 'eventsActions: [{{eventRefs: [...], actions: [...]}}]'",
    "expression": "write it, or remove what it belongs to",
    "function": "write what it calls, as in 'function: {name: ...}'",
    "functionRef": "write what it calls, as in 'functionRef: {refName: ...}'",
    "grantType": "write one of password, clientCredentials and tokenExchange",
    "id": "write the name that the workflow is started by, such as 'id: orders'",
    "inputCollection": "write the list that it iterates over, as an expression",
    "inputParameter": "write the path of the element in an iteration, as in 'inputParameter: $.order'",
    "interval": "write from when to when, as in 2020-05-01T08:00:00Z/2020-05-31T20:00:00Z",
    "kind": "write 'kind: default' for a plain one",
    "match": "write the result or the error to retry on, or SYS.MatchAny for any error",
    "name": "it is referred to by its name: write one",
    "nextState": "write the name of the next state",
    "nextTask": "write the name of the next task",
    "onEvents": f"{_MIN_ONE}, as in 'onEvents: [{{eventRefs: [...], actions: [...]}}]'",
    "operator": "write how the value at its path is compared, such as equals",
    "path": "write which value is compared, as in 'path: $.age'",
    "produceEventRef": "write the name of an event that is defined under events",
    "properties": "write them, or the name of a secret that holds them",
    "refName": "write the name of a function that is defined under functions",
    "source": "write the source of the CloudEvents, such as 'source: /orders'",
    "startsAt": "write the name of the first state",
    "stateName": "write the name of the first state",
    "states": "write at least one state, with a name and a type",
    "tasks": "write at least one task, with a name and a type",
    "timeDelay": "write how long, such as PT15M",
    "token": "write the token, or a secret, as in '${ $SECRETS.token }'",
    "transition": "write the next state",
    "workflowId": "write the id of the workflow that it runs",
}
_PLACED: Final[Mapping[tuple[str, str], str]] = {
    ("condition", "expression"): "write when it applies, as an expression that is true or false",
    ("cron", "expression"): "write the times, such as '0 9 * * MON-FRI' for nine o'clock on weekdays",
}
"""Hints for keys that mean something else within certain keys."""


def hint_for_missing(key: str, within: str = "", types: Sequence[str] = ()) -> str | None:
    """Return a hint for the missing *key* of an object under *within*.

    *types* are the possible types of a state, if that is missing.
    """
    if key == "type":
        return f"write one of {', '.join(types[:-1])} and {types[-1]}" if types else _EVENT_TYPE
    return _PLACED.get((within, key)) or _HINTS.get(key)


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
