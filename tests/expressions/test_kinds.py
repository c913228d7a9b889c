"""Of which kinds the output of an expression can be, as far as that is plain to see."""

import pytest

from swf_temporal.base.data import JSON, kind_of
from swf_temporal.expressions.kinds import ANY, kinds_of
from swf_temporal.expressions.parsing import parsed


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("null", "null"),
        ("true", "boolean"),
        ('"a"', "string"),
        ("1.5", "number"),
        ("[.a]", "array"),
        ("{a: .a}", "object"),
        ("length", "number"),
        ("not", "boolean"),
        (".a == 1", "boolean"),
        (".a and .b", "boolean"),
        (".a | 1", "number"),
        (".a // 1", "boolean number string array object"),
        ("null // 1", "number"),
        ('1 // "a"', "number string"),
        ('if .a then 1 else "b" end', "number string"),
        ("1 + 2", "number"),
        ("1 + null", "number"),
        ("null + {}", "object"),
        ("null + null", "null"),
        ('"a" + "b"', "string"),
        ("[1] + [2]", "array"),
        (".a + 1", "number"),
        (".a + .b", "number string array object null"),
        ("1 - 1", "number"),
        ("[1] - [1]", "array"),
        (".a - 1", "number"),
        (".a - .b", "number array"),
        ("2 * 3", "number"),
        ("{} * {}", "object"),
        ('"a" * 2', "string null"),
        ('2 * "a"', "string null"),
        (".a * 2", "number string null"),
        ("2 * .a", "number string null"),
        (".a * {}", "object"),
        ("1 / 2", "number"),
        ('"a,b" / ","', "array"),
        (".a / .b", "number array"),
        (".a / 2", "number"),
    ],
)
def test_what_an_expression_can_yield(text: str, kinds: str) -> None:
    tree = parsed(text, ())
    assert tree is not None
    assert kinds_of(tree) == frozenset(kinds.split())


@pytest.mark.parametrize("text", [".a", '1 + "a"', '"a" - 1', "[1] * 2", "{} / 2", '"a" / 1', "null * null"])
def test_nothing_is_known_of_what_can_only_fail(text: str) -> None:
    tree = parsed(text, ())
    assert tree is not None
    assert kinds_of(tree) == ANY


def test_kinds_have_the_names_of_jq() -> None:
    values: list[JSON] = [None, False, 0, 0.5, "", [], {}]
    kinds = ["null", "boolean", "number", "number", "string", "array", "object"]
    assert [kind_of(value) for value in values] == kinds
