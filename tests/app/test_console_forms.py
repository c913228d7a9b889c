"""Forms of the console: what of a schema becomes a field, and how much a form can hold."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.http.console.forms import Field, Filled, fields_of, filled, forms_of, in_words
from swf_temporal.operations.tasks import Task

LONG: list[JSON] = [f"number {one}" for one in range(5_000)]


def _schema(field: JSON, count: int = 1) -> dict[str, Any]:
    return {"properties": {f"f{one}": {"$ref": "#/$defs/one"} for one in range(count)}, "$defs": {"one": field}}


def _only(schema: JSON) -> Field:
    [field] = fields_of(schema)
    return field


def test_a_long_enum_is_a_list_that_fields_share() -> None:
    """A few choices are a menu; 200 fields with the same 5,000 have one list."""
    assert _only(_schema({"enum": ["a", 1]})).kind == "choice"
    fields = fields_of(_schema({"enum": LONG}, 200))
    assert [(one.kind, one.list_of) for one in fields] == [("listed", "/f0")] * 200


@pytest.mark.parametrize(
    ("entered", "data"), [("number 7", "number 7"), ("1", 1), ("[2]", [2]), ("other", None), ("", None)]
)
def test_what_is_chosen_from_a_list(entered: str, data: JSON) -> None:
    got = filled(_schema({"enum": [*LONG, 1, [2], "1"]}), {"/f0": entered})
    errors = {"/f0": "this is not one of the choices"} if entered == "other" else {}
    assert got == Filled({} if data is None else {"f0": data}, errors)


@pytest.mark.parametrize("many", ["description", "title", "default"])
def test_a_form_holds_so_much(many: str) -> None:
    """Of fields that together say more than that, the first are shown: the rest is entered as JSON."""
    fields = fields_of(_schema({"type": "string", many: "x" * 40_000}, 200))
    assert len(fields) == 6


def test_the_forms_of_a_page_hold_so_much_together() -> None:
    """Those of the first tasks are shown; the data of the others is entered as JSON."""
    schema = _schema({"type": "string", "description": "x" * 40_000}, 3)
    forms = forms_of(Task("i", "d", "s", f"event {number}", data_schema=schema) for number in range(10))
    assert [len(one.fields) for one in forms] == [3, 3, *[0] * 8]


def test_what_a_person_writes_is_kept_and_checked() -> None:
    """A number that JSON has not is said to be none, and stays in the field, also of one that may be left out."""
    schema: JSON = {"properties": {"n": {"type": "number"}, "i": {"type": ["integer", "null"], "maximum": 5}}}
    given = {"/n": "1e99999", "/i": " 7 "}
    got = filled(schema, given)
    assert got.errors == {"/n": "this number is too large"}
    assert got.unfit == {"/i": "7 is greater than the maximum of 5"}
    assert [(one.value, one.type) for one in fields_of(schema, given)] == [("1e99999", "text"), (" 7 ", "text")]


@pytest.mark.parametrize("entered", ["true", "1,5", "x", "[1]", "0x10", "NaN"])
def test_what_is_not_a_number(entered: str) -> None:
    assert filled({"properties": {"n": {"type": "number"}}}, {"/n": entered}).errors == {"/n": "this is not a number"}


LISTS: dict[str, Any] = {
    "required": ["tags"],
    "properties": {
        "tags": {"type": "array", "items": {"type": "string", "minLength": 2}, "minItems": 1, "title": "Tags"},
        "lines": {
            "type": "array",
            "default": [{"sku": "a", "count": 2}],
            "items": {
                "type": "object",
                "required": ["sku"],
                "properties": {"sku": {"type": "string", "pattern": "^[a-z]$"}, "count": {"type": "integer"}},
            },
        },
        "any": {"type": "array", "items": {}},
    },
}


def test_lists_have_a_row_for_each_item() -> None:
    """The rows have the items of the default, or what was entered; one more if it was asked for."""
    tags, lines, any_ = fields_of(LISTS)
    assert [(one.name, one.label) for one in tags.fields] == [("/tags/0", "Tags 1")]
    assert [[inner.value for inner in row.fields] for row in lines.fields] == [["a", "2"]]
    assert (tags.kind, lines.kind, any_.kind) == ("list", "list", "json")
    tags, lines, _ = fields_of(LISTS, {"/tags/0": "xy", "/lines/0/sku": "q", "/lines/1/sku": "", "add": "/lines"})
    assert [one.value for one in tags.fields] == ["xy"]
    assert [row.fields[0].value for row in lines.fields] == ["q", "", ""]
    assert [row.fields[0].is_new for row in lines.fields] == [False, False, True]


def test_a_violation_is_beside_its_field_though_rows_before_it_are_empty() -> None:
    given = {"/tags/0": "", "/tags/1": "x", "/lines/0/sku": "", "/lines/1/sku": "", "/lines/1/count": "3"}
    got = filled(LISTS, {**given, "/lines/2/sku": "AB", "/any": "[1]"})
    assert got.data == {"tags": ["x"], "lines": [{"count": 3}, {"sku": "AB"}], "any": [1]}
    assert got.unfit == {
        "/tags/1": "'x' is too short",
        "/lines/1/sku": "this is required",
        "/lines/2/sku": "'AB' does not match '^[a-z]$'",
    }


def test_what_is_wrong_in_a_value_without_fields_of_its_own() -> None:
    """It is said at the nearest field, and what is in no field beside them."""
    schema: JSON = {
        "properties": {
            "free": {"additionalProperties": {"type": "string"}},
            "mail": {"type": "string", "format": "email"},
        },
        "not": {"required": ["mail"]},
    }
    got = filled(schema, {"/free": '{"a": 1}', "/mail": "x"})
    assert got.unfit == {"/free": "a: 1 is not of type 'string'"}
    assert got.errors == {"/mail": "'x' is not a 'email'"}
    assert len(got.unplaced) == 1
    assert in_words({**got.unfit, **got.errors}).startswith("2 fields have")


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 10}, "A whole number from 1 to 10."),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, "A number, above 0, a multiple of 0.5."),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, "A whole number, above 3."),
        ({"type": "string", "minLength": 2, "pattern": "^a"}, "At least 2 characters, matches the pattern ^a."),
        ({"type": "string", "format": "date-time"}, "A date and time, such as 2030-12-31T12:00:00Z."),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, "At least 2 entries."),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "No two alike."),
        ({"type": "string", "enum": ["a", "b"], "minLength": 1}, ""),
        ({"type": "string"}, ""),
    ],
)  # fmt: skip
def test_what_the_schema_demands_is_said_before(schema: JSON, rule: str) -> None:
    assert _only({"properties": {"f": schema}}).rule == rule


def test_rows_are_as_many_as_a_form_holds() -> None:
    """A client that claims to have 10,000 rows gets no page of them."""
    fields = fields_of(LISTS, {"/tags/9999": "x", "/lines/9999/sku": "y"})
    assert len(fields[0].fields) < 200
