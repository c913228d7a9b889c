"""How the values of bindings are read."""

from typing import Any

import pytest

from swf_temporal.events.brokers.port import number, part, switch, word, words
from tests.failing import failing


@pytest.mark.parametrize(("value", "constant"), [
    ("a", "a"),
    ({"const": "a"}, "a"),
    ({"type": "string", "enum": ["a"]}, "a"),
    ({"type": "string", "default": "a"}, "a"),
    ({"type": "string", "enum": ["a", "b"]}, None),
    ({"type": "string"}, None),
    (None, None),
])  # fmt: skip
def test_a_text_is_a_constant_or_a_schema_that_allows_only_one(value: Any, constant: str | None) -> None:
    assert word({"groupId": value}, "groupId") == constant


def test_what_a_binding_does_not_say_has_a_default() -> None:
    assert number({}, "qos", 1) == 1
    assert switch({}, "retain", default=True)
    assert word({}, "clientId") is None
    assert words({}, "cc") == []
    assert part({}, "queue") == {}


@pytest.mark.parametrize(("read", "value", "wanted"), [
    (lambda binding: number(binding, "x", 0), "1", "a whole number"),
    (lambda binding: number(binding, "x", 0), True, "a whole number"),
    (lambda binding: switch(binding, "x", default=False), "true", "true or false"),
    (lambda binding: word(binding, "x"), 1, "a text"),
    (lambda binding: words(binding, "x"), "a", "a list of texts"),
    (lambda binding: part(binding, "x"), "a", "an object"),
])  # fmt: skip
def test_a_value_of_another_type_is_told(read: Any, value: Any, wanted: str) -> None:
    with failing("BadDocument", f"'x' is {value!r}; it must be {wanted}", retryable=False):
        read({"x": value})
