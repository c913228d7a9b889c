"""Texts with expressions in them, and places in the data that expressions name."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.early import EarlyExpressions
from swf_temporal.expressions.early_paths import BracedPaths
from swf_temporal.expressions.evaluation import NOTHING, BadExpression, Expressions
from swf_temporal.expressions.template import EmbeddedExpression, split

DATA: dict[str, Any] = {"x": "text", "n": 1.0, "o": {"b": [1, None, "é"]}, "none": None, "yes": True}


@pytest.mark.parametrize(("value", "yields"), [
    ("${ .o }", DATA["o"]),
    (" ${ .n } ", 1.0),
    ("${ .x }${ .n }", "text1.0"),
    ("<${ .o }>", '<{"b":[1,null,"é"]}>'),
    ("${ .none } and ${ .yes }", "null and true"),
    ("[${ empty }]", "[]"),
    ("Total: $${ .n }", "Total: $1.0"),
    ('say ${ "${" }', "say ${"),
    ("${ {a: {b: .n}} }", {"a": {"b": 1.0}}),
    ('${ "\\(.x) }" } }', "text } }"),
    ('${ "}" + "\\"}" }', '}"}'),
    ("$ {.x} {x} .x", "$ {.x} {x} .x"),
    (".x", ".x"),
    ("fn:x", "fn:x"),
    ({"${ .x }": "${ .x }", "k": [1, "${ .n }", {"d": "a ${ .x }"}]},
     {"${ .x }": "text", "k": [1, 1.0, {"d": "a text"}]}),
    ({"a": "${ empty }"}, {"a": None}),
    ("${ empty }", NOTHING),
    (3, 3),
    (None, None),
])  # fmt: skip
def test_filling(value: Any, yields: Any) -> None:
    assert Expressions().template(value)(DATA, {}) == yields


def test_a_template_without_expressions_is_the_value_itself() -> None:
    value: dict[str, Any] = {"a": [1, {"b": "plain"}]}
    compiled = Expressions().template(value)
    assert compiled.constant
    assert compiled(DATA, {}) is value


def test_filling_leaves_the_template_as_it_was() -> None:
    value: dict[str, Any] = {"a": ["${ .x }"]}
    compiled = Expressions().template(value)
    assert [compiled({"x": x}, {}) for x in (1, 2)] == [{"a": [1]}, {"a": [2]}]
    assert value == {"a": ["${ .x }"]}


@pytest.mark.parametrize(("text", "pieces"), [
    ("a ${ .b } c", ["a ", EmbeddedExpression(" .b ", 4), " c"]),
    ("${.a}${.b}", [EmbeddedExpression(".a", 2), EmbeddedExpression(".b", 7)]),
    ('${ "a\\"}\\("}" | {a: 1}) }" }', [EmbeddedExpression(' "a\\"}\\("}" | {a: 1}) }" ', 2)]),
    ("${ . # }\n}", [EmbeddedExpression(" . # }\n", 2)]),
    ("} ${ . }", ["} ", EmbeddedExpression(" . ", 4)]),
    ("", []),
])  # fmt: skip
def test_splitting(text: str, pieces: list[str | EmbeddedExpression]) -> None:
    """The closing brace is the one that jq would see: not in strings, comments or inner braces."""
    assert list(split(text)) == pieces


@pytest.mark.parametrize(("text", "what", "offset"), [
    ("a ${ .b", "'${'", 2), ("${ {a: 1} ", "'${'", 0), ("${ . # }", "'${'", 0), ("${}${", "'${'", 3),
    ("a ${ {a: (1 }", "'}' closes nothing", 12), ("a ${ {a: 1", "'{'", 5), ('${ "a }', "this string", 3),
])  # fmt: skip
def test_an_unclosed_expression_is_refused_where_it_starts(text: str, what: str, offset: int) -> None:
    with pytest.raises(BadExpression) as error:
        split(text)
    message = what if "closes" in what else f"{what} is not closed"
    assert (error.value.message, error.value.offset) == (message, offset)


jq_strings = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).map(
    lambda text: json.dumps(text, ensure_ascii=False)
)


@given(st.lists(st.tuples(st.text(st.sampled_from("ab {}$\"'\\#"), max_size=4), jq_strings), max_size=4))
def test_any_text_around_any_string(parts: list[tuple[str, str]]) -> None:
    plain = [(text.rstrip("$"), string) for text, string in parts]
    plain = [(text, string) for text, string in plain if "${" not in text]
    text = "".join(f"{piece}${{ {string} }}" for piece, string in plain)
    pieces = split(text)
    assert [piece.text for piece in pieces if isinstance(piece, EmbeddedExpression)] == [
        f" {string} " for _, string in plain
    ]
    assert [piece for piece in pieces if isinstance(piece, str)] == [piece for piece, _ in plain if piece]


PATHS: Final = (Expressions(language="jsonpath"), EarlyExpressions(), BracedPaths())
TARGETS_DATA: dict[str, Any] = {"key": "k", "list": [{"id": 1}, {"id": 2}], "n": 1}


@pytest.mark.parametrize(("text", "path"), [
    (".", []),
    ("", []),
    ("  ", []),
    ("${ . }", []),
    (".a.b[0]", ["a", "b", 0]),
    ('${ .a["b c"] }', ["a", "b c"]),
    ("{{ .a }}", ["a"]),
    (".a[-1]", ["a", -1]),
    (".n.x", ["n", "x"]),
    (".a[.key]", ["a", "k"]),
    ("${ .a[$item] }", ["a", "i"]),
    (".list[] | select(.id == 2) | .state", ["list", 1, "state"]),
    ("${ first(.list[]) }", ["list", 0]),
    ("if . then .a else 2 end", ["a"]),
    ("if .none then 1 else .a end", ["a"]),
])  # fmt: skip
def test_names_a_path(text: str, path: list[str | int]) -> None:
    """A target is the path its expression names, bare or in braces, looked up where it has to be."""
    assert Expressions(variables=["item"]).target(text)(TARGETS_DATA, {"item": "i"}) == path


@pytest.mark.parametrize(
    "text", ["1", "[.a]", "[.a][0]", "${ {a: .b} }", "$CONST.a", "results", "${ .a", 5, None, "if . then 1 else 2 end"]
)
def test_what_names_no_place_is_refused(text: Any) -> None:
    """A value, a variable or a word is no place in the data, and that shows before anything runs."""
    with pytest.raises(BadExpression):
        Expressions().target(text)


@pytest.mark.parametrize(("text", "message"), [
    (".a, .b", "names 2 places"),
    ("${ empty }", "names 0 places"),
    (".list[0:1]", "more, or less, than one element"),
    (".list[1.5]", "more, or less, than one element"),
    ("${ .n | tostring }", "Invalid path expression"),
    (".[true]", "Cannot index object with boolean"),
])  # fmt: skip
def test_not_one_place_is_a_failure(text: str, message: str) -> None:
    with pytest.raises(ExpressionFailed, match=message):
        Expressions().target(text)(TARGETS_DATA, {})


def test_what_names_no_place_is_told_with_an_example() -> None:
    with pytest.raises(BadExpression) as told:
        Expressions().target(" 1 ")
    assert (told.value.message, told.value.offset) == ("'1' is not a place in the data, such as '.result'", 0)
    with pytest.raises(BadExpression) as told:
        Expressions().target("${ 1 }")
    assert told.value.offset == 2
    with pytest.raises(BadExpression) as told:
        Expressions().target(7)
    assert told.value.message == "a place in the data is named by an expression such as '.result'"


@pytest.mark.parametrize(("text", "message"), [
    ("$.list[1000001]", "the element 1000001 of an array"), ("$" + ".a" * 401, "401 (levels deep|steps)"),
])  # fmt: skip
@pytest.mark.parametrize("expressions", PATHS, ids=lambda one: type(one).__name__)
def test_a_place_that_data_cannot_have_is_refused(expressions: Expressions, text: str, message: str) -> None:
    with pytest.raises(BadExpression, match=message):
        expressions.target(text)


@pytest.mark.parametrize("expressions", PATHS, ids=lambda one: type(one).__name__)
def test_a_place_that_data_can_have_is_not(expressions: Expressions) -> None:
    assert expressions.target("$.list[1000000].a")(TARGETS_DATA, {}) == ["list", 1_000_000, "a"]


@pytest.mark.parametrize("expressions", PATHS[1:], ids=lambda one: type(one).__name__)
def test_a_path_that_names_several_places_is_refused(expressions: Expressions) -> None:
    with pytest.raises(BadExpression, match="does not name a single place") as told:
        expressions.target("$.list[*]")
    assert told.value.offset == 0


def test_jq_names_no_place_that_data_cannot_have() -> None:
    with pytest.raises(BadExpression, match="this names the element 1000001"):
        Expressions().target(".list[1000001]")
