"""A text that stands for itself was not meant as an expression."""

from collections.abc import Callable

import pytest

DOCUMENT = """\
id: a
specVersion: "0.8"
secrets: [s]
functions: [{{name: f, operation: a.json#f, authRef: me}}]
auth: [{{name: me, scheme: bearer, properties: {{token: "{auth}"}}}}]
events:
- {{name: E, type: e, correlation: [{{contextAttributeName: k, contextAttributeValue: "{value}"}}]}}
states:
- {{name: W, type: event, onEvents: [{{eventRefs: [E]}}], transition: A}}
- name: A
  type: operation
  actions: [{{functionRef: {{refName: f, arguments: {{x: "{argument}"}}}}}}]
  transition: B
- {{name: B, type: inject, data: {{x: "{injected}"}}, end: true}}
"""
PLAIN = {"auth": "t", "value": "v", "argument": "x", "injected": "y"}

CASES: dict[str, tuple[dict[str, str], list[str]]] = {
    "what an event must have": ({"value": ".k"},
                                ["7:85 warning event 'E': '.k' is compared as text | did you mean '${ .k }'?"]),
    "a secret for a call": (
        {"argument": "$SECRETS.s", "auth": "$SECRETS.s"},
        ["5:55 warning auth 'me': '$SECRETS.s' is sent as text | did you mean '${ $SECRETS.s }'?",
         "12:55 warning state 'A': '$SECRETS.s' is sent as text | did you mean '${ $SECRETS.s }'?"],
    ),
    "a secret where none may be": ({"injected": "$SECRETS.s", "value": "$SECRETS.s"}, []),
    "arguments, which nobody has there": ({"argument": "$args.x"}, []),
    "a name that is injected": ({"injected": ".env", "argument": ".x"},
                                ["12:55 warning state 'A': '.x' is sent as text | did you mean '${ .x }'?"]),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "expected"), CASES.values(), ids=CASES)
def test_texts_meant(found: Callable[[str, str], list[str]], texts: dict[str, str], expected: list[str]) -> None:
    assert found("plain-text", DOCUMENT.format(**{**PLAIN, **texts})) == expected


def test_a_name_that_the_input_has(found: Callable[[str, str], list[str]]) -> None:
    """A field that the schema of the input describes is known."""
    text = DOCUMENT.format(**{**PLAIN, "argument": ".env"})
    assert found("plain-text", text) == []
    schema = "dataInputSchema: {schema: {type: object, properties: {env: {type: string}}}}\n"
    assert len(found("plain-text", text + schema)) == 1


def test_no_language(found: Callable[[str, str], list[str]]) -> None:
    assert found("plain-text", DOCUMENT.format(**{**PLAIN, "argument": ".x"}) + "expressionLang: cel\n") == []


def test_the_place_of_a_secret(found: Callable[[str, str], list[str]]) -> None:
    """Properties that are one text name a secret, and need no marks for it."""
    text = DOCUMENT.format(**PLAIN).replace('properties: {token: "t"}', 'properties: "$SECRETS.s"')
    assert "$SECRETS.s" in text
    assert found("plain-text", text) == []
