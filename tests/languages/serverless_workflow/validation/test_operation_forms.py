"""Operations are written as their functions' types demand."""

import json
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Settings
from tests.languages.serverless_workflow.models import found

FUNCTION = """
id: a
specVersion: "0.8"
functions:
- {{name: f, type: {kind}, operation: {operation}}}
states:
- {{name: A, type: operation, actions: [{{functionRef: f}}], end: true}}
"""

FINE: list[tuple[str, Any]] = [
    ("rest", "api.json#check"),
    ("rest", "file://api.json#check"),
    ("rest", "https://example.com/a#b/api.json#check"),
    ("openapi", " api.json # check "),
    ("rest", "rest:GET:/a"),
    ("rest", "rest:/a"),
    ("rest", "rest: get: /a"),
    ("rest", {"uri": "/a"}),
    ("openapi", {"method": "post", "uri": "/a", "headers": {"a": "b"}, "query": None}),
    ("http", "GET:/a"),
    ("http", {"method": "DELETE", "uri": "/a", "cookies": {}, "failOnStatusCode": False}),
    ("custom", "rest:PUT:/a"),
    ("custom", "reset"),
    ("rpc", "a.proto#Users#List"),
    ("rpc", "reflection:#shop.Users#List"),
    ("graphql", "/graphql#query#pet"),
    ("graphql", "/graphql#Mutation#addPet"),
    ("odata", "/svc#Persons"),
    ("asyncapi", "streets.yaml#onLight"),
    ("soap", "whatever"),
]

WRONG: list[tuple[str, Any, str]] = [
    ("rest", "#check", "the operation '#check' names no document: one of"),
    ("openapi", "api.json#", "names no operationId: one of the type openapi is"),
    ("rest", 5, "the operation must be a text: one of the type rest is written document.json#operationId"),
    ("rest", "rest:GTE:/a", "'GTE' is not a method of HTTP that can be called | did you mean 'GET'?"),
    ("custom", "rest:FETCH:/a", "'FETCH' is not a method of HTTP that can be called"),
    ("http", "/a", "the operation '/a' has no URL: write it as rest:METHOD:URL"),
    ("http", 5, "the operation 5 is neither rest:METHOD:URL nor an object with method and uri"),
    ("request", "rest:GET:/a", "a function of the type request takes no operation: its arguments are the request"),
    ("rpc", "a.proto", "names no service and no method: one of the type rpc is written service.proto#Service#Method"),
    ("rpc", "a.proto##List", "names no service: one of"),
    ("graphql", "/graphql#pet", "the operation '/graphql#pet' names no field: one of the type graphql is written"),
]

IN_SCENARIOS: list[tuple[str, Any]] = [
    ("rest", "check"), ("rest", "rest:GET"), ("http", {"method": "POTS", "uri": "/a"}),
    ("http", {"method": ["GET"], "uri": "/a"}), ("http", {"method": "GET"}),
    ("http", {"uri": "/a", "failOnStatusCode": "no"}), ("rpc", "a.proto#Users"), ("rpc", {"a": 1}),

    ("graphql", "/graphql#querry#pet"), ("graphql", "/graphql#query#the pet"), ("graphql", "/graphql#subscription#pet"),
    ("odata", "/svc"), ("asyncapi", "streets.yaml"),
]  # fmt: skip
"""What is said of these, and where, the scenarios of refusals show."""


def _text(kind: str, operation: object) -> str:
    return FUNCTION.format(kind=kind, operation=json.dumps(operation)).lstrip()


@pytest.mark.parametrize(("kind", "operation"), FINE)
def test_operations_that_are_fine(kind: str, operation: object) -> None:
    assert found("operation-form", _text(kind, operation)) == []
    assert found("unknown-property", _text(kind, operation)) == []


@pytest.mark.parametrize(("kind", "operation", "told"), WRONG)
def test_operations_that_are_not(kind: str, operation: object, told: str) -> None:
    [problem] = found("operation-form", _text(kind, operation))
    assert problem.startswith("4:")
    assert told in problem


@pytest.mark.parametrize(("kind", "operation"), [*FINE, *IN_SCENARIOS, *(one[:2] for one in WRONG)], ids=str)
async def test_the_rule_and_the_call_agree(tmp_path: Path, kind: str, operation: object) -> None:
    """What the rule lets pass can be called as far as its form goes, and what it refuses could only have failed."""
    functions = Functions(settings=Settings())
    function = Function(name="f", type=kind, operation=operation)
    with pytest.raises(CallFailed) as failed:
        await functions.call(Call(function, base=str(tmp_path)))
    await functions.aclose()
    is_refused = failed.value.code in {"BadOperation", "Unsupported"}
    assert bool(found("operation-form", _text(kind, operation))) is is_refused, failed.value.message
