"""Forms generated from JSON Schemas, and the JSON that people enter in them.

A form only helps: the schema itself validates the data once it is sent.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import unquote

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import NotJSON, read_json, show_json
from swf_temporal.http.console.pages import shown_json
from swf_temporal.operations.tasks import Task, tasks_in

Kind: TypeAlias = Literal["text", "number", "choice", "listed", "json", "group"]

RAW: Final = "json"
"""The field that holds all data as JSON, instead of a form's fields."""
_DEEPEST: Final = 4
"""The depth to which groups of fields nest; deeper data is entered as JSON."""
_MAX_FIELDS: Final = 200
"""The number of fields in a form; further data is entered as JSON."""
_MAX_LENGTH: Final = 250_000
"""The number of characters that fields say and hold; further data is entered as JSON."""
_MAX_CHOICE: Final = 2000
"""The number of characters to choose from in a menu; more are proposed while one types."""
_TYPES: Final = {"date": "date", "email": "email", "uri": "url", "date-time": "text", "time": "text"}
"""The type of an `input` element, by the format of a text."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    """The JSON pointer to its value in the data."""
    label: str
    kind: Kind
    about: str = ""
    is_required: bool = False
    type: str = "text"
    """The type of the `input` element."""
    step: str = "any"
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    """The values to choose from: as JSON, and as shown."""
    list_of: str = ""
    """The name of the field whose list of values this one proposes: several may have the same."""
    error: str = ""
    fields: tuple["Field", ...] = ()
    """The fields of a group."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The data of a form that was sent."""

    data: JSON
    errors: Mapping[str, str]
    """The errors of values, by the names of fields."""


def fields_of(
    schema: JSON, given: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> tuple[Field, ...]:
    """Return the fields of an object that matches *schema*; empty if the schema does not say what it holds.

    They have the values *given* before, or else the defaults of the schema, with their *errors*.
    """
    return tuple(_Form(schema, given, errors or {}).fields(schema, "", 0))


def filled(schema: JSON, given: Mapping[str, str]) -> Filled:
    """Return the data of a form: all of it as JSON, or by its fields. Empty fields are left out."""
    if RAW in given:
        text = given[RAW].strip()
        try:
            return Filled(read_json(text) if text else {}, {})
        except NotJSON as error:
            return Filled(None, {RAW: f"this is not JSON: {error}"})
    errors: dict[str, str] = {}
    return Filled(_object(fields_of(schema, given), errors), errors)


class _Form:
    def __init__(self, root: JSON, given: Mapping[str, str] | None, errors: Mapping[str, str]) -> None:
        self._root = root
        self._given = given
        self._errors = errors
        self._count = self.length = 0
        self._choices: dict[int, tuple[tuple[tuple[str, str], ...], bool]] = {}
        """The values of each schema to choose from, and whether they are too long for a menu, by its identity."""
        self._lists: dict[int, str] = {}
        """The names of the fields that have a list of values, by the identity of their schema, as above."""

    def fields(self, schema: JSON, place: str, depth: int) -> Iterator[Field]:
        schema = self._resolved(schema)
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict):
            return
        required = schema.get("required")
        for name, one in properties.items():
            self._count += 1
            if self._count > _MAX_FIELDS:
                return
            is_required = isinstance(required, list) and name in required
            pointer = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
            field = self._field(self._resolved(one), name, pointer, depth, is_required=is_required)
            self.length += _length(field)
            if self.length > _MAX_LENGTH:
                return
            yield field

    def _field(self, schema: JSON, name: str, pointer: str, depth: int, *, is_required: bool) -> Field:
        said: dict[str, Any] = schema if isinstance(schema, dict) else {}
        title, about = said.get("title"), said.get("description")
        label = title if isinstance(title, str) and title else name
        common: dict[str, Any] = {
            "name": pointer,
            "label": label,
            "about": about if isinstance(about, str) else "",
            "is_required": is_required,
            "error": self._errors.get(pointer, ""),
        }
        kind = said.get("type")
        if kind == "object" and depth < _DEEPEST and (inner := tuple(self.fields(said, pointer, depth + 1))):
            return Field(kind="group", fields=inner, **common)
        choices = [said["const"]] if "const" in said else said.get("enum", [True, False] if kind == "boolean" else None)
        if isinstance(choices, list) and choices:
            return self._choice(choices, said, common)
        if kind in ("integer", "number"):
            step = "1" if kind == "integer" else "any"
            return Field(kind="number", type="number", step=step, value=self._value(pointer, said, show_json), **common)
        if kind == "string":
            of_format = _TYPES.get(str(said.get("format")), "text")
            return Field(kind="text", type=of_format, value=self._value(pointer, said, str), **common)
        return Field(kind="json", value=self._value(pointer, said, lambda one: show_json(one, indent=2)), **common)

    def _choice(self, choices: list[Any], said: dict[str, Any], common: dict[str, Any]) -> Field:
        """Return a field with a menu of *choices*, or if that would be long, one that proposes them from a list."""
        if id(said) not in self._choices:
            made = tuple((show_json(one), _shown(one)) for one in choices)
            self._choices[id(said)] = made, sum(len(shown) for _, shown in made) > _MAX_CHOICE
        options, is_long = self._choices[id(said)]
        if not is_long:
            return Field(kind="choice", options=options, value=self._value(common["name"], said, show_json), **common)
        list_of = self._lists.setdefault(id(said), common["name"])
        value = self._value(common["name"], said, _shown)
        return Field(kind="listed", options=options, list_of=list_of, value=value, **common)

    def _value(self, pointer: str, schema: Mapping[str, Any], show: Any) -> str:
        if self._given is not None:
            return self._given.get(pointer, "")
        return str(show(schema["default"])) if "default" in schema else ""

    def _resolved(self, schema: JSON) -> JSON:
        """Return the target of a reference within the schema; an empty schema if it is elsewhere."""
        for _ in range(_DEEPEST):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str):
                return schema
            found: Any = self._root
            for step in unquote(reference.removeprefix("#")).split("/")[1:]:
                key = step.replace("~1", "/").replace("~0", "~")
                found = found.get(key) if reference.startswith("#") and isinstance(found, dict) else None
            schema = found if isinstance(found, dict) else {}
        return {}


def _shown(choice: JSON) -> str:
    return choice if isinstance(choice, str) else show_json(choice)


def _length(field: Field) -> int:
    """Return the number of characters of a field on a page, without those of fields within it."""
    has_options = field.kind == "choice" or field.list_of == field.name
    options = sum(len(value) + len(shown) for value, shown in field.options) if has_options else 0
    return 2 * len(field.name) + len(field.label) + len(field.about) + len(field.value) + options


def _object(fields: tuple[Field, ...], errors: dict[str, str]) -> dict[str, JSON]:
    data: dict[str, JSON] = {}
    for one in fields:
        name = one.name.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        if one.kind == "group":
            inner = _object(one.fields, errors)
            if inner or one.is_required:
                data[name] = inner
        elif one.kind == "listed" and one.value:
            known = dict(reversed([(shown, value) for value, shown in one.options]))
            if one.value in known:
                data[name] = read_json(known[one.value])
            else:
                errors[one.name] = "this is not one of the choices"
        elif one.value.strip():
            try:
                data[name] = one.value if one.kind == "text" else read_json(one.value)
            except NotJSON:
                errors[one.name] = "this is not a number" if one.kind == "number" else "this is not JSON"
                continue
            if one.kind == "number" and not isinstance(data[name], int | float):
                errors[one.name] = "this is not a number"
            if one.kind == "choice" and one.value not in (value for value, _ in one.options):
                errors[one.name] = "this is not one of the choices"
    return data


@dataclass(frozen=True, slots=True)
class Awaited:
    """An awaited event, and the form to send it."""

    task: Task
    fields: tuple[Field, ...]
    raw: str = "{}"
    raw_error: str = ""
    is_raw: bool = False


def awaited_of(instance_id: str, definition: str, status: Mapping[str, Any]) -> list[Awaited]:
    """Return the events that an instance waits for, by its status: each event once; empty if no worker has answered."""
    if "awaiting" not in status:
        return []
    tasks = {one.event: one for one in tasks_in(instance_id, {**status, "workflow": definition})}
    return forms_of(tasks.values())


def forms_of(tasks: Iterable[Task]) -> list[Awaited]:
    """Return the forms of *tasks* on a page. Together they are as long as one may be; the rest is entered as JSON."""
    found, length = list[Awaited](), 0
    for one in tasks:
        form = _Form(one.data_schema, None, {})
        fields = tuple(form.fields(one.data_schema, "", 0)) if length <= _MAX_LENGTH else ()
        length += min(form.length, _MAX_LENGTH)
        found.append(Awaited(one, fields if length <= _MAX_LENGTH else ()))
    return found


def refilled(one: Awaited, given: Mapping[str, str], got: Filled) -> Awaited:
    """Return the form of an event as it was sent, with its errors."""
    is_raw = RAW in given
    return Awaited(
        one.task,
        fields_of(one.task.data_schema, None if is_raw else given, got.errors),
        given[RAW] if is_raw else shown_json(got.data),
        got.errors.get(RAW, ""),
        is_raw,
    )
