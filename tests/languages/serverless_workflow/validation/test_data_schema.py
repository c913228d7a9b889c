"""Data schemas are JSON Schemas that can be compared with data."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, str | None]] = {
    "a good one": ("{schema: {type: object, properties: {a: {$ref: '#/$defs/a'}}, $defs: {a: {type: integer}}}}", None),
    "one that was not found": ("in.json", None),
    "a reference to nothing": ("{schema: {$ref: '#/$defs/gone'}}",
                               ("34 /$ref: the reference '#/$defs/gone' leads to nothing within the schema"
                                " | define it under $defs of this schema, or correct the reference")),
    "a draft that is not known": (
        "{schema: {$schema: 'https://example.com/draft'}}",
        ("37 /$schema: 'https://example.com/draft' is not a draft of JSON Schema that is known here"
         " | leave it out, or write https://json-schema.org/draft/2020-12/schema"),
    ),
    "a pattern that is none": (
        "{schema: {pattern: '('}}",
        "37 /pattern: '(' is not a 'regex' | write a regular expression, such as '^[A-Z]{3}-[0-9]+$'",
    ),
    "a number": ("{schema: 3}",
                 "27 a JSON Schema is an object, or true or false | write one, such as '{type: object}'"),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), CASES.values(), ids=CASES)
def test_data_schema(found: Callable[[str, str], list[str]], schema: str, expected: str | None) -> None:
    states = "states:\n- {name: Z, type: inject, data: {}, end: true}\n"
    problems = found("data-schema", f'id: a\nspecVersion: "0.8"\ndataInputSchema: {schema}\n{states}')
    if expected is None:
        assert problems == []
    else:
        column, _, what = expected.partition(" ")
        assert problems == [f"3:{column} error dataInputSchema is not a usable JSON Schema: {what}"]
