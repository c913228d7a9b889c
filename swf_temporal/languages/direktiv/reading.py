"""Building the model of a definition, or problems of its form in an author's words; its JSON Schema."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.base.errors import Position, Problem, UsageError
from swf_temporal.languages.direktiv import model
from swf_temporal.languages.direktiv.model import Node, Workflow
from swf_temporal.languages.direktiv.words import FUNCTION_TYPES, START_TYPES, STATE_TYPES
from swf_temporal.text.origin import Array, Object, Source
from swf_temporal.text.suggestions import did_you_mean

_CALLED = {
    "states": "state", "functions": "function", "catch": "catch", "conditions": "condition", "events": "event",
    "variables": "variable", "actions": "action", "retries": "retry policy", "files": "file", "action": "action",
    "event": "event", "start": "start", "timeouts": "timeouts", "secrets": "secret", "codes": "code",
    "correlate": "attribute", "args": "argument",
}  # fmt: skip
"""The singular of each key that holds a list or an object."""
_EXPECTED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "too_short": "a list that is not empty",
}
_WORDS = {"states": STATE_TYPES, "functions": FUNCTION_TYPES, "start": START_TYPES}
"""The allowed types of the values under each key."""
_MODELS: dict[str, tuple[type[Node], ...]] = {
    "catch": (model.Catch,), "conditions": (model.Condition,), "retries": (model.RetryPolicy,),
    "files": (model.FunctionFile,), "action": (model.Action,), "actions": (model.Action,),
    "timeouts": (model.Timeouts,), "event": (model.GeneratedEvent, model.ConsumedEvent, model.StartEvent),
    "events": (model.XorEntry, model.StartEvent), "variables": (model.SetVariable, model.GetVariable),
}  # fmt: skip


def build(root: Object, source: Source) -> tuple[Workflow | None, list[Problem]]:
    """Return the model of the definition *root*, or the problems that prevent it."""
    try:
        return Workflow.model_validate(root), []
    except ValidationError as refused:
        found: dict[tuple[Position, str, str], Problem] = {}
        for details in refused.errors(include_url=False):
            if details["type"] == "too_short" and _DocumentPlace(root, details["loc"]).value:
                continue  # the elements of the list are invalid, which is reported separately
            if details["loc"][-1:] == ("int",):
                continue  # the error for the float alternative is more general
            problem = _problem(details, root, source)
            found.setdefault((problem.position, problem.code, problem.message), problem)
        return None, list(found.values())


class _DocumentPlace:
    """The place of an error in the document, as far as its path exists there."""

    def __init__(self, root: Object, path: Sequence[int | str]) -> None:
        self.value: Any = root
        self.owner: Object = root
        self.position = root.where.position
        self.key = ""
        self.section = ""
        """The key of the list or object that contains the owner."""
        names: list[str] = []
        held_by: list[str] = []
        under = ""
        of_type: Object | None = None
        for step in path:
            if isinstance(self.value, Object) and of_type is not self.value and under in _WORDS:
                of_type = self.value
                if step == self.value.get("type"):
                    continue  # a path includes the type before the key
            if isinstance(self.value, Object) and (written := _written(str(step), self.value)) is not None:
                self.owner, self.section, held_by = self.value, under, [*names]
                self.key = under = written
                self.position, self.value = self.owner.where.value(self.key), self.owner[self.key]
                if isinstance(self.value, Object) and self.key in _CALLED:
                    names.append(_CALLED[self.key])
            elif isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
                if isinstance(self.value, Array):
                    self.position = self.value.positions[step]
                self.value, self.key = self.value[step], ""
                names.append(_named(_CALLED.get(under, "element"), self.value, step))
        if isinstance(self.value, Object):
            self.position, self.owner, self.section = self.value.where.position, self.value, under
        self.who = _joined(names)
        self.subject = f"{_joined(held_by)}: {self.key}" if self.key else self.who
        """The words for the value itself: those of a list element, or else its key."""


def _written(key: str, value: Object) -> str | None:
    """Return *key* as written in *value*, in letters of either case; None if it is missing."""
    return key if key in value else next((one for one in value if one.lower() == key.lower()), None)


def _joined(names: Sequence[str]) -> str:
    return " of ".join(reversed(names)) or "the workflow"


def _named(word: str, value: Any, index: int) -> str:
    name = value.get("id") if isinstance(value, Object) else None
    return f"{word} {name!r}" if isinstance(name, str) else f"{word} number {index + 1}"


def _problem(details: ErrorDetails, root: Object, source: Source) -> Problem:
    path, kind = details["loc"], details["type"]
    if kind == "extra_forbidden":
        return _unknown(_DocumentPlace(root, path[:-1]), str(path[-1]), source)
    place = _DocumentPlace(root, path)
    if kind in ("missing", "union_tag_not_found"):
        key = str(path[-1]) if kind == "missing" else "type"
        hint = _type_of_function(place) if key == "type" and place.section == "functions" else None
        return source.problem("missing", f"{place.who} has no {key}", place.owner.where.position, hint)
    if kind == "union_tag_invalid":
        words = _WORDS.get(place.section, ())
        return _not_a_word(place.value["type"], words, f"{place.who}: type", place.value.where.value("type"), source)
    if kind == "literal_error":
        choices = [word.strip(" '") for word in str(details["ctx"]["expected"]).replace(" or ", ",").split(",")]
        return _not_a_word(place.value, choices, place.subject, place.position, source)
    if kind == "too_short" and isinstance(place.value, str):
        kind = "string_too_short"
    expected = _EXPECTED.get(kind, "in a different form")
    return source.problem("type", f"{place.subject} must be {expected}", place.position)


def _type_of_function(place: _DocumentPlace) -> str | None:
    """Return a hint for the type of a function without one, as in early releases of Direktiv."""
    types = {"image": "knative-workflow", "service": "knative-namespace", "workflow": "subflow"}
    return next((f"write 'type: {type_}'" for key, type_ in types.items() if key in place.owner), None)


def _unknown(place: _DocumentPlace, key: str, source: Source) -> Problem:
    written = next((one for one in place.owner if one.lower() == key.lower()), key)
    known = _keys_of(place)
    hint = did_you_mean(written, known) or f"it may have {', '.join(known)}"
    message = f"{place.who} has an unknown key {written!r}"
    return source.problem("unknown-property", message, place.owner.where.key(written), hint)


def _keys_of(place: _DocumentPlace) -> list[str]:
    type_ = place.owner.get("type")
    of_section: dict[str, Sequence[type[Node]]] = {
        "": [Workflow],
        "states": _members(model.State),
        "functions": _members(model.Function),
        "start": _members(model.Start),
    }
    tagged = of_section.get(place.section) or _MODELS.get(place.section, ())
    exact = [one for one in tagged if "type" in one.model_fields and type_ in _tags(one)]
    return sorted({key for one in exact or tagged for key in one.written()})


def _members(union: Any) -> list[type[Node]]:
    return list(union.__args__[0].__args__) if hasattr(union, "__args__") else [union]


def _tags(model: type[Node]) -> tuple[Any, ...]:
    return tuple(getattr(model.model_fields["type"].annotation, "__args__", ()))


def _not_a_word(value: Any, words: Sequence[str], subject: str, position: Position, source: Source) -> Problem:
    known = ", ".join(repr(word) for word in words)
    hint = did_you_mean(value, words) if isinstance(value, str) else None
    return source.problem("enum", f"{subject} is {value!r}, and must be one of {known}", position, hint)


def json_schema(title: str, version: str | None) -> dict[str, Any]:
    """Return the schema. Raises UsageError if a version is requested."""
    if version is not None:
        raise UsageError(f"there is no schema of version {version!r} of direktiv", "there is one, without a version")
    schema = Workflow.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}
