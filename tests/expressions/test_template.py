"""Is JSON filled with what its expressions yield, and otherwise left alone?"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.expressions.evaluation import NOTHING, BadExpression, Expressions
from swf_temporal.expressions.template import EmbeddedExpression, split

DATA: dict[str, Any] = {"x": "text", "n": 1.0, "o": {"b": [1, None, "é"]}, "none": None, "yes": True}


@pytest.mark.parametrize(
    ("value", "yields"),
    [
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
    ],
)  # fmt: skip
def test_filling(value: Any, yields: Any) -> None:
    """A text that is one expression keeps its type; expressions among other text become text."""
    assert Expressions().template(value)(DATA, {}) == yields


def test_a_template_without_expressions_is_the_value_itself() -> None:
    value: dict[str, Any] = {"a": [1, {"b": "plain"}]}
    compiled = Expressions().template(value)
    assert compiled.constant
    assert compiled(DATA, {}) is value


def test_filling_leaves_the_template_as_it_was() -> None:
    """A template can be filled again and again, with other data."""
    value: dict[str, Any] = {"a": ["${ .x }"]}
    compiled = Expressions().template(value)
    assert [compiled({"x": x}, {}) for x in (1, 2)] == [{"a": [1]}, {"a": [2]}]
    assert value == {"a": ["${ .x }"]}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a ${ .b } c", ["a ", EmbeddedExpression(" .b ", 4), " c"]),
        ("${.a}${.b}", [EmbeddedExpression(".a", 2), EmbeddedExpression(".b", 7)]),
        ('${ "a\\"}\\("}" | {a: 1}) }" }', [EmbeddedExpression(' "a\\"}\\("}" | {a: 1}) }" ', 2)]),
        ("${ . # }\n}", [EmbeddedExpression(" . # }\n", 2)]),
        ("} ${ . }", ["} ", EmbeddedExpression(" . ", 4)]),
        ("", []),
    ],
)
def test_splitting(text: str, pieces: list[str | EmbeddedExpression]) -> None:
    """The closing brace is the one that jq would see: not in strings, comments or inner braces."""
    assert list(split(text)) == pieces


@pytest.mark.parametrize(
    ("text", "what", "offset"),
    [
        ("a ${ .b", "'${'", 2),
        ("${ {a: 1} ", "'${'", 0),
        ("${ . # }", "'${'", 0),
        ("${}${", "'${'", 3),
        ("a ${ {a: (1 }", "'}' closes nothing", 12),
        ("a ${ {a: 1", "'{'", 5),
        ('${ "a }', "this string", 3),
    ],
)
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
    """Plain pieces and quoted strings in expressions come back as they were, whatever they hold."""
    plain = [(text.rstrip("$"), string) for text, string in parts]
    plain = [(text, string) for text, string in plain if "${" not in text]
    text = "".join(f"{piece}${{ {string} }}" for piece, string in plain)
    pieces = split(text)
    assert [piece.text for piece in pieces if isinstance(piece, EmbeddedExpression)] == [
        f" {string} " for _, string in plain
    ]
    assert [piece for piece in pieces if isinstance(piece, str)] == [piece for piece, _ in plain if piece]
