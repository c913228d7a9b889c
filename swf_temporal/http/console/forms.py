"""Forms generated from JSON Schemas, the data that people enter in them, and what is wrong with each field.

The schema itself judges the data, as it does those of programs. A form shows its judgement beside the fields, and
checks formats, too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, TypeGuard
from urllib.parse import unquote

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import NotJSON, read_json, show_json
from swf_temporal.expressions.json_schema import violations_in
from swf_temporal.http.console.pages import shown_json
from swf_temporal.operations.tasks import Task, tasks_in

Kind: TypeAlias = Literal["text", "number", "choice", "listed", "json", "group", "list"]

RAW: Final = "json"
"""The field that holds all data as JSON, instead of a form's fields."""
ADD: Final = "add"
"""The button that asks for another row of a list, whose name it has."""
_DEEPEST: Final = 4
"""The depth to which groups of fields nest; deeper data is entered as JSON."""
_MAX_FIELDS: Final = 200
"""The number of fields in a form; further data is entered as JSON."""
_MAX_ROWS: Final = 20
"""The number of rows that a list has before people add some."""
_MAX_LENGTH: Final = 250_000
"""The number of characters that fields say and hold; further data is entered as JSON."""
_MAX_CHOICE: Final = 2000
"""The number of characters to choose from in a menu; more are proposed while one types."""
_MAX_RULE: Final = 200
"""The number of characters of a pattern that a form shows."""
_FORMATS: Final = {
    "date": "a date, such as 2030-12-31",
    "time": "a time, such as 12:00:00Z",
    "date-time": "a date and time, such as 2030-12-31T12:00:00Z",
    "email": "an email address",
    "uri": "an address, such as https://example.com",
    "uuid": "a UUID",
    "hostname": "the name of a host",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}
"""The description of a format for people."""
_KEYBOARDS: Final = {"email": "email", "uri": "url"}
"""The keyboard of a phone, by the format of a text."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    """The JSON pointer to its value in the data."""
    label: str
    kind: Kind
    about: str = ""
    rule: str = ""
    """The demands of the schema on the value, in words."""
    is_required: bool = False
    type: str = "text"
    """The type of the `input` element. One for numbers would hide what is not a number, and leave it out."""
    keyboard: str = ""
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    """The values to choose from: as JSON, and as shown."""
    list_of: str = ""
    """The name of the field whose list of values this one proposes: several may have the same."""
    error: str = ""
    fields: tuple["Field", ...] = ()
    """The fields of a group, or the rows of a list."""
    is_new: bool = False
    """Whether it is in the row that was asked for just now."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The data of a form that was sent."""

    data: JSON
    errors: Mapping[str, str]
    """Values that cannot be sent, by the names of fields: not JSON, not a number, or not of the format."""
    unfit: Mapping[str, str] = field(default_factory=dict)
    """Violations of the schema, by the names of fields."""
    unplaced: tuple[str, ...] = ()
    """Violations of the schema that belong to no field."""


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
    read = _Reading(fields_of(schema, given))
    data = read.object(read.form)
    for one in violations_in(data, schema) if isinstance(schema, dict | bool) else ():
        read.place(one.path, one.message, is_format=one.keyword == "format")
    unfit = {name: text for name, text in read.unfit.items() if name not in read.errors}
    return Filled(data, read.errors, unfit, tuple(read.unplaced))


def in_words(wrong: Mapping[str, str], unplaced: Iterable[str] = ()) -> str:
    """Return what is wrong with a form whose fields say the rest."""
    count = len(wrong)
    fields = f"{count} {'field has' if count == 1 else 'fields have'} a wrong value" if count else ""
    return "; ".join(filter(None, [fields, *unplaced])) or "the form has a wrong value"


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
        self._defaults: dict[str, JSON] = {}
        """The defaults of fields that are those of the groups and lists around them."""

    def fields(self, schema: JSON, place: str, depth: int) -> Iterator[Field]:
        schema = self._resolved(schema)
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(properties, dict):
            return
        required = schema.get("required")
        for name, one in properties.items():
            is_required = isinstance(required, list) and name in required
            field = self._counted(one, name, f"{place}/{_escaped(name)}", depth, is_required=is_required)
            if field is None:
                return
            yield field

    def _counted(self, schema: JSON, name: str, pointer: str, depth: int, *, is_required: bool) -> Field | None:
        """Return a field, as long as the form has room for it."""
        self._count += 1
        if self._count > _MAX_FIELDS:
            return None
        field = self._field(self._resolved(schema), name, pointer, depth, is_required=is_required)
        self.length += _length(field)
        return None if self.length > _MAX_LENGTH else field

    def _field(self, schema: JSON, name: str, pointer: str, depth: int, *, is_required: bool) -> Field:
        said: dict[str, Any] = schema if isinstance(schema, dict) else {}
        title, about = said.get("title"), said.get("description")
        label = title if isinstance(title, str) and title else name
        kind = _kind(said)
        common: dict[str, Any] = {
            "name": pointer,
            "label": label,
            "about": about if isinstance(about, str) else "",
            "rule": _rule(kind, said),
            "is_required": is_required,
            "error": self._errors.get(pointer, ""),
        }
        if depth < _DEEPEST and kind in ("object", "array"):
            self._spread(pointer, said)
            if kind == "object" and (inner := tuple(self.fields(said, pointer, depth + 1))):
                return Field(kind="group", fields=inner, **common)
            if kind == "array" and (rows := self._rows(said, label, pointer, depth + 1)):
                return Field(kind="list", fields=rows, **common)
        choices = [said["const"]] if "const" in said else said.get("enum", [True, False] if kind == "boolean" else None)
        if isinstance(choices, list) and choices:
            return self._choice(choices, said, common)
        if kind in ("integer", "number"):
            keyboard = "numeric" if kind == "integer" else "decimal"
            return Field(kind="number", keyboard=keyboard, value=self._value(pointer, said, show_json), **common)
        if kind == "string":
            of_format = str(said.get("format"))
            type_, keyboard = ("date" if of_format == "date" else "text"), _KEYBOARDS.get(of_format, "")
            value = self._value(pointer, said, _shown)
            return Field(kind="text", type=type_, keyboard=keyboard, value=value, **common)
        return Field(kind="json", value=self._value(pointer, said, lambda one: show_json(one, indent=2)), **common)

    def _rows(self, said: Mapping[str, Any], label: str, pointer: str, depth: int) -> tuple[Field, ...]:
        """Return the rows of a list, those that were given or one to begin with; none if its items can be anything."""
        items = self._resolved(said.get("items"))
        if not isinstance(items, dict) or "prefixItems" in said:
            return ()
        rows = list[Field]()
        for number in range(self._row_count(said, pointer)):
            row = self._counted(items, label, f"{pointer}/{number}", depth, is_required=False)
            if row is None or row.kind == "json":
                break
            rows.append(replace(row, label=f"{row.label} {number + 1}"))
        if rows and self._given is not None and self._given.get(ADD) == pointer:
            rows[-1] = _new(rows[-1])
        return tuple(rows)

    def _row_count(self, said: Mapping[str, Any], pointer: str) -> int:
        if self._given is None:
            default, least = said.get("default"), said.get("minItems")
            wanted = (len(default) if isinstance(default, list) else 0, least if isinstance(least, int) else 0, 1)
            return min(max(wanted), _MAX_ROWS)
        of_row = re.compile(f"{re.escape(pointer)}/([0-9]{{1,4}})(/|$)")
        numbers = [int(found[1]) + 1 for one in self._given if (found := of_row.match(one))]
        return max(numbers, default=1) + (self._given.get(ADD) == pointer)

    def _spread(self, pointer: str, said: Mapping[str, Any]) -> None:
        """Note the default of a group or a list as those of its fields."""
        default = self._defaults.get(pointer, said.get("default"))
        if isinstance(default, dict | list):
            inner = default.items() if isinstance(default, dict) else enumerate(default)
            self._defaults |= {f"{pointer}/{_escaped(str(name))}": value for name, value in inner}

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
        if pointer in self._defaults:
            return str(show(self._defaults[pointer]))
        return str(show(schema["default"])) if "default" in schema else ""

    def _resolved(self, schema: JSON) -> JSON:
        """Return the target of a reference within the schema; an empty schema if it is elsewhere."""
        for _ in range(_DEEPEST):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str):
                return schema
            found: Any = self._root
            for step in unquote(reference.removeprefix("#")).split("/")[1:]:
                found = found.get(_unescaped(step)) if reference.startswith("#") and isinstance(found, dict) else None
            schema = found if isinstance(found, dict) else {}
        return {}


def _new(row: Field) -> Field:
    """Return *row*, whose first field a person goes on with."""
    return replace(row, fields=(_new(row.fields[0]), *row.fields[1:])) if row.fields else replace(row, is_new=True)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _shown(choice: JSON) -> str:
    return choice if isinstance(choice, str) else show_json(choice)


def _kind(said: Mapping[str, Any]) -> str:
    """Return the type of a value that is not null, if a schema says one."""
    kind = said.get("type")
    kinds = [one for one in kind if one != "null"] if isinstance(kind, list) else [kind]
    if kinds == [None] and isinstance(said.get("properties"), dict):
        return "object"
    return str(kinds[0]) if len(kinds) == 1 else ""


def _rule(kind: str, said: Mapping[str, Any]) -> str:
    """Return what a schema demands of a value, as a sentence; empty if the field shows it."""
    if "const" in said or "enum" in said:
        return ""
    match kind:
        case "integer" | "number":
            what = "a whole number" if kind == "integer" else "a number"
            bounds = _range(*_bounds(said))
            parts = [f"{what} {bounds}" if bounds.startswith("from") else what]
            parts.append("" if bounds.startswith("from") else bounds)
            if "multipleOf" in said:
                parts.append(f"a multiple of {show_json(said['multipleOf'])}")
        case "string":
            length = _range(said.get("minLength"), said.get("maxLength"))
            pattern = str(said.get("pattern", ""))[:_MAX_RULE]
            parts = [_FORMATS.get(str(said.get("format")), ""), f"{length} characters" if length else ""]
            parts.append(f"matches the pattern {pattern}" if pattern else "")
        case "array":
            count = _range(said.get("minItems"), said.get("maxItems"))
            parts = [f"{count} entries" if count else "", "no two alike" if said.get("uniqueItems") is True else ""]
        case _:
            parts = []
    text = ", ".join(filter(None, parts))
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _bounds(said: Mapping[str, Any]) -> tuple[JSON, JSON, bool, bool]:
    """Return the bounds of a number, and which of them it may not reach: drafts say that in two ways."""
    least, most = said.get("minimum"), said.get("maximum")
    above, below = said.get("exclusiveMinimum"), said.get("exclusiveMaximum")
    is_above, is_below = above is True, below is True
    if _is_number(above) and (not _is_number(least) or above >= least):
        least, is_above = above, True
    if _is_number(below) and (not _is_number(most) or below <= most):
        most, is_below = below, True
    return least, most, is_above, is_below


def _range(least: JSON, most: JSON, is_above: bool = False, is_below: bool = False) -> str:  # noqa: FBT001, FBT002 - as _bounds
    low = f"{'above' if is_above else 'at least'} {show_json(least)}" if _is_number(least) else ""
    high = f"{'below' if is_below else 'at most'} {show_json(most)}" if _is_number(most) else ""
    if low and high and not (is_above or is_below):
        return f"from {show_json(least)} to {show_json(most)}" if least != most else f"exactly {show_json(most)}"
    return " and ".join(filter(None, [low, high]))


def _is_number(value: JSON) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _length(field: Field) -> int:
    """Return the number of characters of a field on a page, without those of fields within it."""
    has_options = field.kind == "choice" or field.list_of == field.name
    options = sum(len(value) + len(shown) for value, shown in field.options) if has_options else 0
    return 2 * len(field.name) + len(field.label) + len(field.about) + len(field.rule) + len(field.value) + options


_NOTHING: Final = object()


class _Reading:
    """Reads the values of a form, and knows from which field each comes: rows without a value are left out."""

    def __init__(self, form: tuple[Field, ...]) -> None:
        self.form = form
        self.errors: dict[str, str] = {}
        self.unfit: dict[str, str] = {}
        self.unplaced: list[str] = []
        self._names = {one.name for one in _every(form)}
        self._rows: dict[str, str] = {}
        """The names of the rows of lists, by their places in the data: empty rows are left out there."""

    def object(self, fields: tuple[Field, ...]) -> dict[str, JSON]:
        """Return the values of *fields*, without those that are empty."""
        values = ((_unescaped(one.name.rpartition("/")[2]), self._value(one)) for one in fields)
        return {name: value for name, value in values if value is not _NOTHING}

    def place(self, path: tuple[str | int, ...], message: str, *, is_format: bool) -> None:
        """Note a violation at *path* in the data, beside the field that it is about."""
        name, inside = "", list[str]()
        for step in (_escaped(str(one)) for one in path):
            name = self._rows.get(f"{name}/{step}", f"{name}/{step}")
        while name and name not in self._names:
            name, _, step = name.rpartition("/")
            inside.insert(0, _unescaped(step))
        text = f"{'.'.join(inside)}: {message}" if inside else message
        if not name:
            self.unplaced.append(text)
            return
        to = self.errors if is_format else self.unfit
        to[name] = f"{to[name]}; {text}" if name in to else text

    def _value(self, one: Field) -> Any:
        if one.kind in ("group", "list"):
            found = self.object(one.fields) if one.kind == "group" else self._list(one)
            return found if found or one.is_required else _NOTHING
        text = one.value if one.kind == "text" else one.value.strip()
        if not text.strip():
            return _NOTHING
        if one.kind == "text":
            return text
        try:
            return _read(one, text)
        except NotJSON as error:
            self.errors[one.name] = str(error)
            return _NOTHING

    def _list(self, one: Field) -> list[JSON]:
        found = list[JSON]()
        for row in one.fields:
            self._rows[f"{one.name}/{len(found)}"] = row.name
            value = self._value(row)
            if value is not _NOTHING:
                found.append(value)
        return found


def _every(fields: Iterable[Field]) -> Iterator[Field]:
    for one in fields:
        yield one
        yield from _every(one.fields)


def _read(one: Field, text: str) -> JSON:
    """Return the value that *text* is in a field. Raises NotJSON, which says what is wrong with it."""
    if one.kind == "listed":
        known = dict(reversed([(shown, value) for value, shown in one.options]))
        if text not in known:
            raise NotJSON("this is not one of the choices")
        text = known[text]
    if one.kind == "choice" and text not in (value for value, _ in one.options):
        raise NotJSON("this is not one of the choices")
    try:
        value: JSON = read_json(text)
    except NotJSON as error:
        if one.kind == "number":
            is_large = "too large" in str(error)
            raise NotJSON("this number is too large" if is_large else "this is not a number") from None
        raise NotJSON(f"this is not JSON: {error}") from None
    if one.kind == "number" and not _is_number(value):
        raise NotJSON("this is not a number")
    return value


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
        fields_of(one.task.data_schema, None if is_raw else given, {**got.unfit, **got.errors}),
        given[RAW] if is_raw else shown_json(got.data),
        got.errors.get(RAW, ""),
        is_raw,
    )
