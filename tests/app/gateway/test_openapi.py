"""The schemas of inputs in the gateway's description."""

from swf_temporal.http.gateway.openapi import description_of
from swf_temporal.languages.loading import load
from tests.definitions import definition

NAMED = definition("""\
id: named
dataInputSchema:
  schema:
    $id: https://example.com/input
    properties: {$id: {type: string}, n: {$ref: '#/definitions/n'}}
    definitions: {n: {type: integer}}
states: [{name: Begin, type: inject, data: {}, end: true}]
""")


def test_a_schema_loses_its_name_and_no_property() -> None:
    described = description_of([load(NAMED)], is_open=True)
    assert described["components"]["schemas"]["Input.named"] == {
        "properties": {"$id": {"type": "string"}, "n": {"$ref": "#/components/schemas/Input.named/definitions/n"}},
        "definitions": {"n": {"type": "integer"}},
    }
