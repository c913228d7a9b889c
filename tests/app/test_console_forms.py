"""Forms of the console: what of a schema becomes a field, and how much a form can hold."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.http.console.forms import Field, Filled, fields_of, filled, forms_of
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
