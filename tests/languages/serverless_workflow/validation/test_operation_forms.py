"""Operations are written as their functions' types demand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.calls import Function
from swf_temporal.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.operator.settings import Settings

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
    ("rest", "check", "the operation 'check' names no operationId: one of the type rest is written"),
    ("rest", "#check", "the operation '#check' names no document: one of"),
    ("openapi", "api.json#", "names no operationId: one of the type openapi is"),
    ("rest", 5, "the operation must be a text: one of the type rest is written document.json#operationId"),
    ("rest", "rest:GET", "the operation 'rest:GET' names no URL: it is written rest:METHOD:URL"),
    ("rest", "rest:GTE:/a", "'GTE' is not a method of HTTP that can be called | did you mean 'GET'?"),
    ("custom", "rest:FETCH:/a", "'FETCH' is not a method of HTTP that can be called"),
    ("http", "/a", "the operation '/a' names no URL: it is written rest:METHOD:URL"),
    ("http", 5, "the operation 5 is neither rest:METHOD:URL nor an object with method and uri"),
    ("http", {"method": "POTS", "uri": "/a"}, "HTTP that can be called | did you mean 'POST'?"),
    ("http", {"method": ["GET"], "uri": "/a"}, "method must be a text"),
    ("http", {"method": "GET"}, "the operation names no uri"),
    ("http", {"uri": "/a", "failOnStatusCode": "no"}, "failOnStatusCode must be true or false"),
    ("rpc", "a.proto", "names no service and no method: one of the type rpc is written service.proto#Service#Method"),
    ("rpc", "a.proto#Users", "the operation 'a.proto#Users' names no method: one of"),
    ("rpc", "a.proto##List", "names no service: one of"),
    ("rpc", {"a": 1}, "the operation must be a text: one of the type rpc is written service.proto#Service#Method"),
    ("graphql", "/graphql#pet", "the operation '/graphql#pet' names no field: one of the type graphql is written"),
    ("graphql", "/graphql#querry#pet", "'querry' is neither query nor mutation | did you mean 'query'?"),
    ("graphql", "/graphql#query#the pet", "'the pet' cannot be the name of a field in GraphQL"),
    ("graphql", "/graphql#subscription#pet", "a subscription cannot be called: an operation is a query or a mutation"),
    ("odata", "/svc", "the operation '/svc' names no entity set: one of the type odata is written"),
    ("asyncapi", "streets.yaml", "names no operationId: one of the type asyncapi is written document.yaml#operationId"),
]

Found = Callable[[str, str], list[str]]


def _text(kind: str, operation: object) -> str:
    return FUNCTION.format(kind=kind, operation=json.dumps(operation)).lstrip()


@pytest.mark.parametrize(("kind", "operation"), FINE)
def test_operations_that_are_fine(found: Found, kind: str, operation: object) -> None:
    """Of types that nobody has defined, nothing is known."""
    assert found("operation-form", _text(kind, operation)) == []
    assert found("unknown-property", _text(kind, operation)) == []


@pytest.mark.parametrize(("kind", "operation", "told"), WRONG)
def test_operations_that_are_not(found: Found, kind: str, operation: object, told: str) -> None:
    """Each is told with its place, with what is missing, and with what was perhaps meant."""
    [problem] = found("operation-form", _text(kind, operation))

    assert problem.startswith("4:")
    assert told in problem


@pytest.mark.parametrize(("kind", "operation"), [*FINE, *((kind, operation) for kind, operation, _ in WRONG)], ids=str)
async def test_the_rule_and_the_call_agree(found: Found, tmp_path: Path, kind: str, operation: object) -> None:
    """What the rule lets pass can be called as far as its form goes, and what it refuses could only have failed."""
    functions = Functions(settings=Settings())
    function = Function(name="f", type=kind, operation=operation)
    with pytest.raises(CallFailed) as failed:
        await functions.call(Call(function, base=str(tmp_path)))
    await functions.aclose()

    is_refused = failed.value.code in {"BadOperation", "Unsupported"}
    assert bool(found("operation-form", _text(kind, operation))) is is_refused, failed.value.message


def test_places_within_an_object(found: Found) -> None:
    """What is wrong in an object is told where it stands there."""
    text = _text("http", {"method": "GTE", "uri": "/a", "headers": "no"})
    assert found("operation-form", text) == [
        "4:47 error function 'f': 'GTE' is not a method of HTTP that can be called | did you mean 'GET'?",
        "4:78 error function 'f': headers must be an object",
    ]


def test_keys_that_mean_nothing(found: Found) -> None:
    """A key that nobody reads is told, with the one that was perhaps meant."""
    text = _text("http", {"uri": "/a", "header": {}})
    assert found("unknown-property", text) == [
        "4:60 warning function 'f': 'header' is not a property of an operation | did you mean 'headers'?"
    ]
