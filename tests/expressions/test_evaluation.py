"""Is every way of writing an expression understood?"""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import ANY
from swf_temporal.expressions.evaluation import _MAX_STRUCTURES, NOTHING, BadExpression, Expressions, is_true

DATA: dict[str, Any] = {"n": 3, "name": "Ada", "a b": {"c": [1, 2]}, "f": 1.0, "none": None}
VARIABLES: dict[str, Any] = {"item": {"x": 1}, "CONST": {"limit": 2}, "args": {"limit": 2}}
FUNCTIONS = {
    "isBig": ".n > $args.limit", "Two words": "${ .n }", "nested": "${ fn:isBig }", "loop": "fn:pool",
    "pool": "${ fn:loop }", "old": "{{ fn:old }}", "wrong": ".n | nope",
}  # fmt: skip


@pytest.fixture
def expressions() -> Expressions:
    return Expressions(variables=["item", "CONST", "SECRETS", "args"], functions=FUNCTIONS)


@pytest.mark.parametrize(("text", "yields"), [
    ("${ .n }", 3), ("  ${.n}\n", 3), (".n", 3), (".n + 1", 4), ("{{ .name }}", "Ada"), ("{{.name}}", "Ada"),
    ("{{ {a: .n} }}", {"a": 3}), ("$item.x", 1), ("$CONST.limit", 2), ("(.n)", 3), ("[.n]", [3]), ("{a: .n}", {"a": 3}),
    ('.["a b"].c[1]', 2), ("fn:isBig", True), ("${ fn:isBig }", True), ("fn: Two words ", 3), ("${ fn:nested }", True),
    ("${ .n | # } is in a comment\n 5 }", 5), ("${ empty }", NOTHING), ("${ .n, .name }", [3, "Ada"]),
    ("Hello ${ .name }!", "Hello Ada!"), ("length", 5), (" keys | first ", "a b"), ('"Hello " + .name', "Hello Ada"),
    ("if .n > 2 then .name else null end", "Ada"), ("1 + 1", 2), ('"${ .n }" + .name', "${ .n }Ada"), ("true", True),
    (True, True), (None, None), (7, 7), ({"a": "${ .n }", "b": ".n"}, {"a": 3, "b": ".n"}),
])  # fmt: skip
def test_a_field_that_holds_an_expression(expressions: Expressions, text: Any, yields: Any) -> None:
    """The braces may be left out, the old form works, functions are called, and the rest is constant."""
    assert expressions.expression(text)(DATA, VARIABLES) == yields


@pytest.mark.parametrize(("text", "message", "offset"), [
    ("${ .n", "is not closed", 0),
    ("a ${ .n | }", "unexpected end of the expression", 10),
    ("${ $nope }", r"\$nope is not defined", 3),
    ("x ${ 'é' }", "unexpected character", 5),
    ('${ "é" | nope }', "nope/0 is not defined", 9),
    ("${ .n\n | nope }", "nope/0 is not defined", 9),
    ("${ }", "empty", 2),
    ("${ (.n }", "'}' closes nothing", 7),
    ('${ "abc }', "this string is not closed", 3),
    ("fn:nope", "no expression function 'nope'", 0),
    ("${ fn:nope }", "no expression function 'nope'", 3),
    ("fn:loop", "leads back to itself", 0),
    ("fn:old", "leads back to itself", 0),
    ("fn:a fn:b", "no expression function 'a fn:b'", 0),
    ("fn:wrong", "in the expression function 'wrong': nope/0 is not defined", 0),
    ("{{ nope }}", "nope/0 is not defined", 3),
    ("  {{ nope }}", "nope/0 is not defined", 5),
    ("Hello", "Hello/0 is not defined", 0),
    (" Hello SimulationContext", "unexpected name", 7),
    ("$5.00", "unexpected number", 1),
    (".total > limit", "limit/0 is not defined", 9),
    ("", "the expression is empty", 0),
])  # fmt: skip
def test_what_does_not_compile_says_where(expressions: Expressions, text: str, message: str, offset: int) -> None:
    """A text that does not compile is refused with its fault and the place of it, with marks or without."""
    with pytest.raises(BadExpression, match=message) as error:
        expressions.expression(text)
    assert error.value.offset == offset


@pytest.mark.parametrize(("text", "kinds"), [
    (".n", ANY),
    ("keys", ANY),
    ("${ .n }", ANY),
    ("fn:isBig", {"boolean"}),
    ("Hello ${ .name }", {"string"}),
    ({"a": "${ .n }"}, {"object"}),
    (["${ .n }"], {"array"}),
    ("3", {"number"}),
    ("null", {"null"}),
    (".n > 3 and .name", {"boolean"}),
    (".list | length", {"number"}),
    (".n | not", {"boolean"}),
    ("{n}", {"object"}),
    ("[.n]", {"array"}),
    ("if .n then [] else 1 end", {"array", "number"}),
    (".n + 1", {"number"}),
    (".n + null", {"null", "number", "string", "array", "object"}),
    (".list + [1]", {"array"}),
    ('"a" + .name', {"string"}),
    (".n - 1", {"number"}),
    (".n * 2", {"number", "string", "null"}),
    (".n / 2", {"number"}),
    ('.name / ","', {"array"}),
    (".n // 1", ANY - {"null"}),
    ('"a" - 1', ANY),
])  # fmt: skip
def test_knows_the_kinds_of_what_it_yields(expressions: Expressions, text: Any, kinds: set[str]) -> None:
    assert expressions.expression(text).kinds == kinds


@pytest.mark.parametrize(
    ("text", "constant", "mentions"),
    [
        ("${ .n }", False, set()),
        ("${ [1, {a: true}] }", True, set()),
        ('"no"', True, set()),
        ("$item.x + $CONST.limit", False, {"item", "CONST"}),
        ("${ .[] | $item }", False, {"item"}),
        ("${ .[] as $item | $item }", False, set()),
        ("${ $item as {x: $item} | $item }", False, {"item"}),
        ("a ${ $item } ${ .n as $n | $SECRETS }", False, {"item", "SECRETS"}),
        ("${ fn:isBig }", False, {"args"}),
        ({"a": ["${ $SECRETS.key }", 1]}, False, {"SECRETS"}),
        ({"a": ["$SECRETS", 1]}, True, set()),
    ],
)
def test_knows_what_it_reads(expressions: Expressions, text: Any, constant: bool, mentions: set[str]) -> None:  # noqa: FBT001 - a column of the table
    compiled = expressions.expression(text)
    assert (compiled.constant, compiled.mentions) == (constant, frozenset(mentions))


@pytest.mark.parametrize("text", ["$SECRETS.key", "${ [$SECRETS.key] | first }", "${ now }"])
def test_a_variable_without_a_value_is_a_failure(expressions: Expressions, text: str) -> None:
    """A variable that is declared but has no value here fails the expression, and is not taken for null."""
    with pytest.raises(ExpressionFailed, match="has no value here"):
        expressions.expression(text)(DATA, {})


@pytest.mark.parametrize("text", ["${ .n.x }", "${ .n.x | tostring }"])
def test_a_failure_names_the_expression_and_the_reason(expressions: Expressions, text: str) -> None:
    with pytest.raises(ExpressionFailed) as fault:
        expressions.expression(text)(DATA, VARIABLES)
    assert fault.value.message == f'Cannot index number with string ("x"): {text}'
    assert not fault.value.retryable


def test_error_texts_of_the_author_come_through(expressions: Expressions) -> None:
    with pytest.raises(ExpressionFailed, match="No stock left: "):
        expressions.expression('${ error("No stock left") }')(DATA, VARIABLES)


def test_compiles_each_text_once(expressions: Expressions) -> None:
    structure: dict[str, Any] = {"a": "${ .n }"}
    assert expressions.expression("${ .n }") is expressions.expression("${ .n }")
    assert expressions.template(structure) is expressions.template(structure)
    assert expressions.template("x ${ .n }") is expressions.template("x ${ .n }")
    assert expressions.target(".n") is expressions.target(".n")


def test_other_languages_are_refused() -> None:
    with pytest.raises(BadExpression, match=r"^expressions are written in jq or jsonpath here, not in 'cel'$"):
        Expressions(language="cel")


def test_no_more_structures_are_kept_than_memory_is_to_hold(expressions: Expressions) -> None:
    """They are known by their places in memory, and a run makes ever new ones; those before are compiled anew."""
    structures: list[list[JSON]] = [[number] for number in range(_MAX_STRUCTURES)]
    compiled = [expressions.template(structure) for structure in structures]
    assert expressions.template(structures[0]) is compiled[0]
    assert expressions.template(["one more"])(DATA, {}) == ["one more"]
    assert expressions.template(structures[0]) is not compiled[0]


@pytest.mark.parametrize(("outcome", "holds"), [
    (None, False), (False, False), (NOTHING, False), (0, True), ("", True), ([], True), ({}, True), (True, True),
])  # fmt: skip
def test_truth_is_jqs(outcome: Any, holds: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_true(outcome) is holds
