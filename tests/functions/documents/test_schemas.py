"""What schemas of documents ask of answers."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.functions.documents.parts import Document, self_contained
from tests.failing import failing

COMPONENTS: dict[str, Any] = {
    "Pet": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "of": {"$ref": "#/x/Pet"}},
    },
    "Password": {"type": "string", "writeOnly": True},
    "Tree": {
        "$dynamicAnchor": "node",
        "properties": {"children": {"items": {"$dynamicRef": "#node"}}},
        "type": "object",
    },
}


def fits(version: str, schema: JSON, value: JSON) -> bool:
    key = "swagger" if version == "2.0" else "openapi"
    document = Document("d", "d", {key: version, "x": COMPONENTS})
    return DataSchemaValidator(self_contained(document, document, schema)).violations(value) == []


ALL = ("2.0", "3.0.3", "3.1.0")
OLD = ("2.0", "3.0.3")


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize(("schema", "good", "bad"), [
    ({"type": "integer", "format": "int32"}, 1, "1"),
    ({"type": "array", "items": {"type": "string"}, "maxItems": 2}, ["a"], ["a", 1]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": "b"}),
    ({"enum": ["a", "b"]}, "a", "c"),
    ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, 2, 4),
    ({"not": {"type": "string"}}, 1, "a"),
    ({"$ref": "#/x/Pet"}, {"name": "a", "of": {"name": "b"}}, {"name": "a", "of": {}}),
    ({"type": "string", "pattern": "^a"}, "ab", "ba"),
    (True, 1, None),
    ({}, None, None),
])  # fmt: skip
def test_what_all_versions_share(version: str, schema: JSON, good: JSON, bad: JSON) -> None:
    assert fits(version, schema, good)
    assert fits(version, schema, bad) == (bad is None)


@pytest.mark.parametrize("version", OLD)
@pytest.mark.parametrize(("schema", "good", "bad"), [
    ({"type": "string", "nullable": True}, None, 1),
    ({"type": "string", "enum": ["a"], "nullable": True}, None, "b"),
    ({"allOf": [{"$ref": "#/x/Pet"}], "nullable": True}, None, 1),
    ({"type": "string", "x-nullable": True}, None, 1),
    ({"type": "string", "nullable": False}, "a", None),
    ({"maximum": 3, "exclusiveMaximum": True}, 2, 3),
    ({"minimum": 3, "exclusiveMinimum": False}, 3, 2),
    ({"$ref": "#/x/Pet", "required": ["other"]}, {"name": "a"}, {}),
])  # fmt: skip
def test_the_dialect_of_older_versions(version: str, schema: JSON, good: JSON, bad: JSON) -> None:
    assert fits(version, schema, good)
    assert not fits(version, schema, bad)


@pytest.mark.parametrize(("schema", "good", "bad"), [
    ({"type": ["string", "null"]}, None, 1),
    ({"exclusiveMaximum": 3}, 2, 3),
    ({"const": 1}, 1, 2),
    ({"$ref": "#/x/Pet", "required": ["other"]}, {"name": "a", "other": 1}, {"name": "a"}),
    ({"prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", "b"]),
    ({"if": {"type": "string"}, "then": {"minLength": 2}}, "ab", "a"),
    ({"patternProperties": {"^a": {"type": "integer"}}}, {"a": 1}, {"a": "b"}),
    ({"type": "string", "nullable": True}, "a", None),
    ({"$ref": "#/x/Tree"}, {"children": [{"children": []}]}, {"children": [1]}),
])  # fmt: skip
def test_version_3_1_is_json_schema(schema: JSON, good: JSON, bad: JSON) -> None:
    assert fits("3.1.0", schema, good)
    assert not fits("3.1.0", schema, bad)


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize(("schema", "value"), [
    ({"type": "string", "format": "date"}, "tomorrow"),
    ({"example": {"$ref": "#/none"}, "default": 5, "type": "string"}, "a"),
    ({"discriminator": {"propertyName": "kind"}, "type": "object"}, {}),
    ({"properties": {"id": {"readOnly": True, "type": "integer"}}}, {"id": 1}),
    ({"required": ["p"], "properties": {"p": {"$ref": "#/x/Password"}}}, {}),
    ({"pattern": r"^\p{L}+$", "patternProperties": {r"\p{L}": False}}, "a"),
    ({"required": True}, {}),
    ({"type": "file"}, "a"),
])  # fmt: skip
def test_what_does_not_count(version: str, schema: JSON, value: JSON) -> None:
    """Remarks are no claims; what is only written need not be there; patterns of JavaScript's own are left out."""
    assert fits(version, schema, value)


@pytest.mark.parametrize("schema", [5, {"items": "a"}, {"properties": {"a": None}}])
def test_what_is_no_schema(schema: JSON) -> None:
    with failing("BadDocument", "in place of a schema"):
        fits("3.0.0", schema, 1)


def test_a_schema_without_bottom() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"items": schema}
    with pytest.raises(CallFailed, match="too deeply"):
        fits("3.0.0", schema, 1)
