"""Building the model of a definition, or problems of its form in an author's words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.base.errors import Position, Problem
from swf_temporal.languages.dsl.model.node import ONLY
from swf_temporal.languages.dsl.model.parts import DataSchema, EventFilter
from swf_temporal.languages.dsl.model.workflow import (
    BUILT_IN,
    ONE_OF,
    TASK_TYPES,
    TASKS,
    Document,
    Run,
    TaskBase,
    Use,
    Workflow,
    type_of,
)
from swf_temporal.languages.dsl.names import LATEST_DSL, LIKE_ZIGFLOW
from swf_temporal.text.model_errors import DIALECT, WRONG_FORM, ErrorPlace, fields_at, problem_of, problems_of
from swf_temporal.text.origin import Array, Object, Source
from swf_temporal.text.suggestions import did_you_mean, nearest

W = TypeVar("W", bound=Workflow)

_WHOLE: Final = "the workflow"
_DSL: Final = ".".join(map(str, LATEST_DSL))
_TYPES: Final = f"a task has one of the keys {', '.join(TASK_TYPES[:-1])} and {TASK_TYPES[-1]}"
_UNKNOWN: Final = "unknown-property"
_STRATEGIES: Final = (["listen", "to"], ["schedule", "on"], ["to", "until"], ["on", "until"])
"""The last two keys of event consumption strategies."""
_OF_SCHEMAS: Final = frozenset({
    "$ref", "$schema", "additionalProperties", "allOf", "anyOf", "enum", "items", "oneOf", "properties", "required",
    "type",
})  # fmt: skip
"""Keys that show a JSON Schema."""
_TASK_LISTS: Final = ("do", "branches", "try", "before", "after")
_LISTS: Final = (*_TASK_LISTS, "switch", "extensions")
"""The keys of lists of names and values."""
_HINTS: Final[Mapping[str, str]] = {
    "document": f"write document: {{dsl: '{_DSL}', namespace: …, name: …, version: '0.1.0'}}",
    "do": "the tasks are a list under do, each with its name: - greet: {set: {greeting: Hello}}",
    "dsl": f"write dsl: '{_DSL}'",
    "catch": "write catch: {} to catch every error",
    "then": "write the task to which the case leads, or continue, exit or end",
    "with": "the arguments are written under with",
    "after": "write a duration, such as {minutes: 15}",
    "type": "every error has one, a URI such as https://example.com/errors/sold-out",
    "status": "every error has one, a number such as 400",
}
"""Hints for what is missing, by its key."""
_OLDER: Final[Mapping[str, str]] = {
    "id": "the name of a definition is document.name",
    "specVersion": "the version of the language is document.dsl",
    "states": "definitions of this version have tasks, under do, in place of states",
    "start": "a workflow begins with the first task under do",
    "auth": "write the policies under use.authentications",
    "events": "events have no definitions: a filter in listen, and an event in emit, says what it is",
    "timeouts": "write timeout: for the workflow itself, and named ones under use.timeouts",
    "dataInputSchema": "write input: {schema: {document: …}}",
    "expressionLang": "the language of expressions is evaluate.language",
    "description": "write it as document.summary",
}
"""Hints for keys at the top that other versions of the language have."""
_MEANT: Final[Mapping[str, str]] = {
    "uri": "endpoint", "url": "endpoint", "transition": "then", "next": "then", "end": "then: end", "type": "call",
    "parallel": "fork", "foreach": "for", "inject": "set", "sleep": "wait", "operation": "call", "function": "call",
    "action": "call", "arguments": "with", "condition": "when", "details": "detail",
}  # fmt: skip
"""What is probably meant by keys of other versions and languages, if it is possible in its place."""


def build(root: Object, source: Source, model: type[W]) -> tuple[W | None, list[Problem]]:
    """Return the *model* of the definition *root*, or the problems that prevent it."""
    try:
        return model.model_validate(root), []
    except ValidationError as refused:
        return None, problems_of(refused, lambda details: _problem(details, root, source))


class _Place(ErrorPlace):
    """A place in a definition, with the words for the value there."""

    def __init__(self, root: Object, path: Sequence[int | str]) -> None:
        super().__init__(root, _in_text(root, path))
        self.owner = _WHOLE
        self.keys: list[str] = []
        """The keys from the innermost task to the value."""
        before: int | str = ""
        for step, _ in self.steps:
            if isinstance(step, str):
                if isinstance(before, int) and self.keys[-1:] not in (["switch"], ["any"], ["all"]):
                    kind = "extension" if self.keys[-1:] == ["extensions"] else "task"
                    self.owner, self.keys = f"{kind} {step!r}", []
                elif self.owner == _WHOLE and self.keys == ["use", "functions"]:
                    self.owner, self.keys = f"function {step!r}", []
                else:
                    self.keys.append(step)
            before = step

    @property
    def subject(self) -> str:
        """The name of the value in messages."""
        return f"{self.owner}: {'.'.join(self.keys)}" if self.keys else self.owner


def _in_text(root: Object, path: Sequence[int | str]) -> list[int | str]:
    """Return *path*, which pydantic reports, as the path in the document, where names are keys."""
    found: list[int | str] = []
    value: Any = root
    for one in path:
        step = next(iter(value)) if one == ONLY and isinstance(value, dict) and len(value) == 1 else one
        is_element = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if is_element or (isinstance(value, dict) and step in value):
            value = value[step]
            found.append(step)
    return found


def _problem(details: ErrorDetails, root: Object, source: Source) -> Problem:
    path, kind = details["loc"], details["type"]
    place = _Place(root, path)
    if kind == "extra_forbidden":
        around = _Place(root, path[:-1])
        return _schema_itself(around, source) or _unknown(place, around, path, source)
    if kind == "missing":
        return _missing(_Place(root, path[:-1]), str(path[-1]), source)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _no_type(place, source)
    problem = problem_of(details, place, place.subject, source)
    if kind == WRONG_FORM and isinstance(place.value, list):
        return _misshapen(place, problem, source)
    if kind == "string_type" and not isinstance(place.value, dict | list | None):
        return replace(problem, hint="write it in quotes")
    return replace(problem, hint=_hint_for_form(place) or problem.hint)


def _hint_for_form(place: _Place) -> str | None:
    """Return a hint for the value at *place*, which has another form than that of its key."""
    key = place.keys[-1] if place.keys else ""
    match place.value:
        case Object() if key in _LISTS:
            return _as_list(place.value)
        case str() if key == "authentication":
            return f"write authentication: {{use: {place.value}}}"
        case dict() | list() if key == "then":
            return "write the name of a task, or continue, exit or end"
        case list() if key == "catch":
            return "a try has one catch, an object: catch: {errors: {with: …}, do: […]}"
        case list() if place.keys[-2:] in _STRATEGIES:
            return f"write {key}: {{any: […]}}, or all for one event of each"
        case list() if place.owner == _WHOLE and place.keys[:-1] == ["use"]:
            first = next(iter(place.value), None)
            name = next(iter(first), "name") if isinstance(first, dict) else "name"
            return f"write an object with their names as its keys: {key}: {{{name}: …}}"
    return None


def _as_list(tasks: Object) -> str:
    """Return a hint for *tasks*, an object in place of a list: early releases had those, and tasks without a name."""
    if type_of(tasks) is not None:
        return f"write a list of tasks with names: - name: {{{type_of(tasks)}: …}}"
    first = next(iter(tasks), "name")
    return f"write each as an element of a list: - {first}: …"


def _misshapen(place: _Place, problem: Problem, source: Source) -> Problem:
    """Return the problem of an element that does not have its name as its one key."""
    for index, item in enumerate(place.value):
        if isinstance(item, dict) and len(item) == 1:
            continue
        at = place.value.positions[index] if isinstance(place.value, Array) else place.position
        what = place.subject
        if not isinstance(item, Object):
            is_list = isinstance(item, list) and place.keys[-1:] and place.keys[-1] in _TASK_LISTS
            hint = "write one task: - name: {do: […]}" if is_list else None
            return source.problem("type", f"{what}: each element must be an object with one key, its name", at, hint)
        first = next(iter(item), None)
        hint = None
        if first is not None:
            is_flat = item[first] is None
            hint = f"indent what belongs to {first!r}" if is_flat else f"write a name around it: - name: {{{first}: …}}"
        message = f"{what}: an element has {len(item)} keys, and has to have one, its name"
        return source.problem("type", message, item.where.position, hint)
    return problem


def _schema_itself(around: _Place, source: Source) -> Problem | None:
    """Return the problem, one for all of its keys, of a JSON Schema that stands where its document has to be named."""
    schema = around.value
    if around.keys[-1:] != ["schema"] or not isinstance(schema, Object) or _OF_SCHEMAS.isdisjoint(schema):
        return None
    key = next(one for one in schema if one not in DataSchema.written())
    message, hint = f"{around.subject} has an unknown key {key!r}", "the schema itself goes under schema.document"
    return source.problem(_UNKNOWN, message, schema.where.key(key), hint)


def _unknown(place: _Place, around: _Place, path: Sequence[int | str], source: Source) -> Problem:
    key, owner = str(path[-1]), around.owner
    is_task = not around.keys and owner != _WHOLE and not owner.startswith("extension")
    kind = type_of(around.value) if is_task else None
    if kind is not None and key in TASK_TYPES:
        message = f"{owner} has both {kind} and {key}, and a task has one type"
        return source.problem("task-type", message, place.key_position, "write two tasks, one after the other")
    known = sorted(set(fields_at(Workflow, _of_models(path[:-1]))) - {"@", "name", ONLY, key})
    hint = _misplaced(key, around, kind) or _meant(key, known) or did_you_mean(key, known)
    is_whole = owner == _WHOLE and not around.keys
    if is_whole and key.startswith("."):
        hint = f"{LIKE_ZIGFLOW}; in DSL 1.0, write it where it is used first"
    elif hint is None and is_whole:
        hint = f"it may have {', '.join(Workflow.written())}"
    elif hint is None:
        hint = f"it may have {', '.join(known)}" if kind is None else _keys_of(kind)
    return source.problem(_UNKNOWN, f"{owner} has an unknown key {key!r}", place.key_position, hint)


def _keys_of(kind: str) -> str:
    """Return a hint with the keys of a task of the type *kind*."""
    own = [key for one in TASKS if one.kind == kind for key in one.written() if key not in TaskBase.written()]
    return f"a {kind} task has {', '.join(dict.fromkeys(own))}, and the keys of all tasks"


def _meant(key: str, known: Sequence[str]) -> str | None:
    meant = _MEANT.get(key)
    return f"did you mean {meant!r}?" if meant is not None and meant.partition(":")[0] in known else None


def _misplaced(key: str, around: _Place, kind: str | None) -> str | None:
    """Return where *key* belongs, if it is at a wrong level."""
    if around.owner == _WHOLE and not around.keys:
        if key in Document.written() and key not in _OLDER:
            return f"write it under document: document.{key}"
        if key in Use.written() and key not in _OLDER:
            return f"write it under use: use.{key}"
        return _OLDER.get(key)
    if around.keys[-2:] in _STRATEGIES and key in EventFilter.written():
        return f"write {around.keys[-1]}: {{one: {{{key}: …}}}}"
    if around.keys and key in (*TaskBase.written(), *_BESIDE) and around.owner != _WHOLE:
        return f"{key!r} belongs to the task itself: write it beside {around.keys[0]!r}"
    if kind is not None:
        inner = next((one for one in _INSIDE[kind] if key in fields_at(Workflow, ["do", ONLY, *one.split(".")])), None)
        return None if inner is None else f"write it under {inner}"
    return None


_BESIDE: Final = ("catch", "do", "foreach", "while", "with")
"""The keys of tasks of some types, beside that of the type."""
_INSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(TASK_TYPES, ()),
    "call": ("with",),
    "for": ("for",),
    "fork": ("fork",),
    "listen": ("listen",),
    "run": ("run",),
    "try": ("catch",),
    "emit": ("emit",),
    "raise": ("raise",),
}
"""The objects in tasks that have the keys of their types."""


def _of_models(path: Sequence[int | str]) -> list[int | str]:
    """Return *path* without the steps that are no fields of models."""
    return [step for step in path if isinstance(step, str) and (step == ONLY or not step.startswith("*"))]


def _missing(place: _Place, key: str, source: Source) -> Problem:
    own = place.value if isinstance(place.value, Object) else None
    meant = nearest(key, own, 0.75) if own else None
    older = next((one for one in own or () if _MEANT.get(one) == key), None)
    meant = meant if meant is not None and meant != key else older
    hint = _HINTS.get(key) if meant is None else f"is {meant!r} meant as {key!r}?"
    return source.problem("missing", f"{place.subject} has no {key}", _beginning(place), hint)


def _beginning(place: _Place) -> Position:
    return place.value.where.position if isinstance(place.value, Object) else place.position


def _no_type(place: _Place, source: Source) -> Problem:
    if not isinstance(place.value, Object):
        hint = "write what it does, such as set: {greeting: Hello}" if place.value is None else None
        return source.problem("type", f"{place.subject} must be an object", place.position, hint)
    meant = [_MEANT[key] for key in place.value if _MEANT.get(key) in TASK_TYPES]
    foreign = [key for key in place.value if key not in (*TaskBase.written(), *_BESIDE)]
    near = [hint for key in foreign if (hint := did_you_mean(key, TASK_TYPES)) is not None]
    hint = f"did you mean {meant[0]!r}?" if meant else near[0] if near else _TYPES
    if hint == _TYPES and foreign:
        hint = _instead_of(foreign[0])
    return source.problem("missing", f"{place.subject} has no type", place.position, hint)


def _instead_of(key: str) -> str:
    """Return a hint for a task without a type that has *key*, which no task has."""
    if key in BUILT_IN:
        return f"write call: {key}, and the arguments under with"
    if key in Run.written():
        return f"write it under run: run: {{{key}: …}}"
    return f"{key!r} is no type of a task: {_TYPES}"


def json_schema(title: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of definitions, called *title*."""
    schema = Workflow.model_json_schema(by_alias=True)
    parts = schema["$defs"]
    for kind, (_, keys) in ONE_OF.items():
        parts[kind.__name__]["oneOf"] = [{"required": [key]} for key in keys]
    _tidy(schema)
    return {"$schema": DIALECT, **schema, "title": title}


def _tidy(node: Any) -> None:
    """Leave out of *node* that what is not required may be null, and what repeats the names of keys."""
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _tidy(part)
    if not isinstance(node, dict):
        return
    if node.get("default") in (None, {}, []) or isinstance(node.get("default"), dict):
        node.pop("default", None)
    if isinstance(node.get("title"), str):
        del node["title"]
    choices = node.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        left = [one for one in choices if one != {"type": "null"}]
        if len(left) == 1:
            del node["anyOf"]
            node |= {key: value for key, value in left[0].items() if key not in node}
        else:
            node["anyOf"] = left
