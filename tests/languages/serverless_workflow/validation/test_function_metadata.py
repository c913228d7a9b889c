"""Functions ask for what can be had."""

from collections.abc import Callable

import pytest

FUNCTION = """
id: a
specVersion: "0.8"
functions:
- {{name: f, type: {kind}, operation: "{operation}", metadata: {metadata}}}
states:
- {{name: A, type: operation, actions: [{{functionRef: f}}], end: true}}
"""

Found = Callable[[str, str], list[str]]


@pytest.mark.parametrize(
    ("kind", "operation", "metadata"),
    [
        ("rest", "a.json#f", "{failOnStatusCode: false, checkResponse: true, serverVariables: {region: eu}}"),
        ("openapi", "a.json#f", "{failOnStatusCode: null, team: orders, response: yes please}"),
        ("http", "GET:/a", "{failOnStatusCode: true, checkResponse: whatever}"),
        ("asyncapi", "a.yaml#f", "{result: message, failOnStatusCode: 5}"),
        ("rpc", "a.proto#A#B", "{result: 5, failOnStatuscode: 5}"),
        ("custom", "f", "{failOnStatusCode: 5}"),
    ],
)
def test_what_can_be_had(found: Found, kind: str, operation: str, metadata: str) -> None:
    """Keys that mean nothing for the type are somebody else's business."""
    assert found("function-metadata", FUNCTION.format(kind=kind, operation=operation, metadata=metadata).lstrip()) == []


@pytest.mark.parametrize(
    ("kind", "operation", "metadata", "told"),
    [
        ("rest", "rest:GET:/a", "{failOnStatusCode: never}", "failOnStatusCode is 'never', and must be true or false"),
        ("custom", "rest:GET:/a", "{failOnStatusCode: []}", "failOnStatusCode is [], and must be true or false"),
        ("openapi", "a.json#f", "{checkResponse: 1}", "checkResponse is 1, and must be true or false"),
        ("rest", "a.json#f", "{serverVariables: [eu]}", "serverVariables is ['eu'], and must be an object"),
        ("asyncapi", "a.yaml#f", "{result: all}", "result is 'all', and must be 'payload' or 'message'"),
    ],
)
def test_what_cannot(found: Found, kind: str, operation: str, metadata: str, told: str) -> None:
    text = FUNCTION.format(kind=kind, operation=operation, metadata=metadata).lstrip()
    [problem] = found("function-metadata", text)

    assert told in problem
