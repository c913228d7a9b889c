"""Does comparing data with a schema tell what is wrong, in every draft, without reaching anywhere?"""

from typing import Any

import pytest

from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from tests.sampling import sample

DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)


@pytest.mark.parametrize("draft", DRAFTS)
def test_speaks_every_draft(draft: str) -> None:
    """A schema is read in the draft that it names, and its own references are followed."""
    schema: dict[str, Any] = {
        "$schema": draft,
        "properties": {"a": {"$ref": "#/definitions/n"}},
        "definitions": {"n": {"type": "null"}},
    }
    assert DataSchemaValidator(schema).violations({"a": 1}) == ["$.a: 1 is not of type 'null'"]


@pytest.mark.parametrize("draft", DRAFTS)
def test_properties_may_have_the_names_of_keywords(draft: str) -> None:
    """Such as those that name a schema."""
    names = ("$id", "id", "$ref")
    schema: dict[str, Any] = {
        "$schema": draft,
        "properties": {**{name: {"type": "null"} for name in names}, "a": {"$ref": "#/properties/id"}},
    }
    wrong = sorted(DataSchemaValidator(schema).violations(dict.fromkeys(("a", *names), 1)))
    assert wrong == sorted(f"$.{name}: 1 is not of type 'null'" for name in ("a", *names))


def test_is_of_the_latest_draft_without_a_word() -> None:
    """A schema that names no draft is of 2020-12, in which prefixItems says what an array begins with."""
    assert DataSchemaValidator({"prefixItems": [{"type": "string"}]}).violations([1])
    with pytest.raises(BadSchema, match="not of type 'number'"):
        DataSchemaValidator({"minimum": 1, "exclusiveMinimum": True})


def test_knows_the_drafts_themselves() -> None:
    """A schema may refer to the schema of schemas, which is at hand without a network."""
    schema: dict[str, Any] = {"properties": {"form": {"$ref": "http://json-schema.org/draft-07/schema#"}}}
    assert DataSchemaValidator(schema).violations({"form": {"type": "object"}}) == []
    assert DataSchemaValidator(schema).violations({"form": {"type": "obj"}}) != []


def test_resolves_what_is_named_within() -> None:
    """References may name a part of the schema by the $id that it has there."""
    schema: dict[str, Any] = {
        "$id": "https://example.com/root.json",
        "properties": {"a": {"$ref": "part.json"}},
        "$defs": {"part": {"$id": "part.json", "type": "integer"}},
    }
    assert DataSchemaValidator(schema).violations({"a": "x"}) == ["$.a: 'x' is not of type 'integer'"]


def test_leaves_references_in_data_alone() -> None:
    """A `$ref` in a value to compare with, or in an example, is data."""
    schema: dict[str, Any] = {"enum": [{"$ref": "#/gone"}], "examples": [{"$ref": "nowhere.json"}]}
    assert DataSchemaValidator(schema).violations({"$ref": "#/gone"}) == []


def test_tells_a_few_things() -> None:
    """Of many violations the first five are told, and that there are more; long values are cut off."""
    told = DataSchemaValidator({"items": {"type": "string"}}).violations([*range(9)])
    assert told == [*(f"$[{n}]: {n} is not of type 'string'" for n in range(5)), "and more"]
    assert len(DataSchemaValidator({"type": "null"}).violations("x" * 10_000)[0]) < 300


@pytest.mark.parametrize(("schema", "data"), [({"$ref": "#"}, {}), ({"additionalProperties": {"$ref": "#"}}, None)])
def test_survives_cycles(schema: Any, data: Any) -> None:
    """A schema that refers to itself in a cycle, or data that is nested without end, is a violation, not a crash."""
    if data is None:
        for _ in range(5_000):
            data = {"a": data}
    assert DataSchemaValidator(schema).violations(data) == [
        "$: the schema refers to itself in a cycle, or the data is nested too deeply"
    ]


EVIL = "(a|aa)+$"
"""A pattern that takes years on `SLOW`."""
SLOW = "a" * 60 + "!"
_LONG_CHECKS: list[tuple[Any, Any]] = [
    ({"type": "string", "pattern": EVIL}, SLOW),
    ({"propertyNames": {"pattern": EVIL}}, {SLOW: 1}),
    ({"patternProperties": {EVIL: {}}}, {SLOW: 1}),
    ({"unevaluatedProperties": False, "patternProperties": {EVIL: {}}}, {SLOW: 1}),
    ({"additionalProperties": False, "patternProperties": {EVIL: {}}}, {SLOW: 1}),
    ({"$ref": "#/$defs/word", "$defs": {"word": {"pattern": EVIL}}}, SLOW),
    (
        {"$schema": DRAFTS[-1], "pattern": EVIL, "properties": {"a": {"$ref": "#"}}, "items": {"pattern": EVIL}},
        {"a": SLOW},
    ),
    ({"not": {"pattern": EVIL}}, SLOW),
    ({"items": {"anyOf": [{"pattern": EVIL}, True]}}, [SLOW] * 40),
]


@pytest.mark.parametrize(("schema", "data"), sample(_LONG_CHECKS, "checks that take long", 4))
def test_patterns_take_no_longer_than_they_may(schema: Any, data: Any) -> None:
    """A pattern that does not come to an end is told, and holds nothing up."""
    told = DataSchemaValidator(schema).violations(data)
    assert told == ["$: it takes too long to check whether the data matches: the check ran longer than 1 s"]


def test_patterns_match_as_ever() -> None:
    """Texts that fit do, and what is said of others is what it always was."""
    schema: dict[str, Any] = {
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
        "properties": {"code": {"pattern": "^[A-Z]{2}$"}},
    }
    validator = DataSchemaValidator(schema)
    assert validator.violations({"code": "DE", "x-a": 1}) == []
    assert validator.violations({"code": "De", "x-a": "1", "b": 1}) == [
        "$.x-a: '1' is not of type 'integer'",
        "$: 'b' does not match any of the regexes: '^x-'",
        "$.code: 'De' does not match '^[A-Z]{2}$'",
    ]


@pytest.mark.parametrize("schema", [{"pattern": "("}, {"properties": {"a": {"patternProperties": {"(": {}}}}}])
def test_refuses_what_is_no_pattern(schema: Any) -> None:
    """A slip in a pattern is told when the schema is read."""
    with pytest.raises(BadSchema, match=r"'\('"):
        DataSchemaValidator(schema)
