"""How the complaints of jq, and those about what it is given and yields, read."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.jq import JqProgram, builtins

DECLARED = ("item", "SECRETS")


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("1 $item", "syntax error, unexpected variable", 2),
        ('1 "a"', "syntax error, unexpected string", 2),
        ("1 @base64", "syntax error, unexpected format", 2),
        ("1 foo", "syntax error, unexpected name", 2),
        ("1 2", "syntax error, unexpected number", 2),
        ("1 '", "syntax error, unexpected character", 2),
        ("def .a: 1; .", "syntax error, unexpected field", 4),
        ("1 if", "syntax error, unexpected if", 2),
        ("1 ==", "syntax error, unexpected end of the expression", 4),
        ("# é\n\n . | 'é'", "syntax error, unexpected character", 10),
        (".a \0", "an expression cannot hold the character U+0000", 3),
        ("1 + $__prog_args", "$__prog_args is not defined", 4),
        ("now + $__now", "$__now is not defined", 6),
        ("  # nothing", "the expression is empty", 0),
        ('"\ud800" | tostring', "the expression holds half of a surrogate pair", None),
    ],
)
def test_what_does_not_compile(text: str, message: str, offset: int | None) -> None:
    """The symbols of jq's grammar are told as words, and lines and columns as one place."""
    with pytest.raises(BadExpression) as told:
        JqProgram(text, DECLARED)
    assert (told.value.message, told.value.offset) == (message, offset)


@pytest.mark.parametrize(
    ("text", "data", "reason"),
    [
        ("now", None, "the workflow's time has no value here"),
        ("$SECRETS.a", None, "$SECRETS has no value here"),
        ("tostring", float("nan"), "the data cannot be written as JSON (NaN is not a JSON number (at .[0])"),
        ("reduce range(5000) as $i (null; [.])", None, "the result cannot be read as JSON (it is nested too deeply"),
        ('error("no stock")', None, "no stock: ${ "),
    ],
)
def test_what_fails(text: str, data: JSON, reason: str) -> None:
    """The reason stands first, then the expression; another attempt would fail as well."""
    with pytest.raises(ExpressionFailed) as told:
        JqProgram(f" {text} ", DECLARED)(data, {})
    assert told.value.message.startswith(reason)
    assert told.value.message.endswith(f": ${{ {text} }}")
    assert not told.value.retryable


@pytest.mark.parametrize(("length", "shown"), [(200, 200), (201, 200)])
def test_a_long_expression_is_cut(length: int, shown: int) -> None:
    """Messages show as much of it as can be read."""
    text = 'error("no") # '.ljust(length, "x")
    with pytest.raises(ExpressionFailed) as told:
        JqProgram(text, ())(None, {})
    assert told.value.message == f"no: ${{ {text[:shown]}{'…' if length > shown else ''} }}"


@pytest.mark.parametrize(
    ("text", "data", "value"),
    [
        ('"2015-03-05T23:51:47Z" | fromdate | date', None, "2015-03-05T23:51:47Z"),
        ('dateadd("seconds"; 2)', 5, 7),
        ('datesub("seconds"; 2)', 5, 3),
        ("[isvalid(error), isvalid(1)]", None, [False, True]),
        ("[leaf_paths]", {"a": [1]}, [["a", 0]]),
        ("2 | pow10", None, 100),
        ("[recurse_down]", [1], [[1], 1]),
    ],
)  # fmt: skip
def test_what_the_jq_of_the_specification_had(text: str, data: Any, value: Any) -> None:
    """Functions that a later jq lacks mean what they meant."""
    assert JqProgram(text, ())(data, {}) == value


def test_the_functions_that_can_be_called() -> None:
    assert {("length", 0), ("map", 1), ("sub", 3), ("date", 0), ("dateadd", 2), ("isvalid", 1)} <= builtins()
    assert ("map", 0) not in builtins()
