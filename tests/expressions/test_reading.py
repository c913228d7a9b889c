"""Which fields an expression reads and makes, as far as that is plain to see."""

import pytest

from swf_temporal.expressions.targets import makes, members, reads


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (".a", "a"),
        (".a.b", "a"),
        ('.["a"]', "a"),
        (".[0]", ""),
        (".", ""),
        (".a[.b]", "a"),
        (".a // .b", ""),
        (".a == null", ""),
        ("null == .a", ""),
        (".a == .b", "a b"),
        (".a and (.b > 1)", "a b"),
        (".a | .b", "a"),
        ("if .a then .b else .c end", "a"),
        ("{x: .a, y: .b.c}", "a b"),
        ("[.a, .b]", "a b"),
        (".a | length", "a"),
        ("$CONST.a", ""),
        ("for ${ .a } and ${ .b }", "a b"),
        ("[range(.a)]", ""),
        ("[range(${ .a })] ${ .b }", "a b"),
        (".a |", ""),
        ("${ | } ${ .b }", "b"),
        ("${ .a", ""),
    ],
)
def test_the_fields_that_an_expression_cannot_do_without(text: str, fields: str) -> None:
    """One that may be missing does not count, nor does one of other data; what is not simple tells nothing."""
    assert reads(text, ["CONST"]) == frozenset(fields.split())


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{a: 1, b: .c}", {"a", "b"}),
        ("${ {a: 1} }", {"a"}),
        ("{}", set()),
        (".a", None),
        ("[1]", None),
        ("${ {a: 1} } and ${ {b: 1} }", None),
        ("{a: range(3)}", None),
    ],
)
def test_the_fields_that_an_expression_makes(text: str, fields: set[str] | None) -> None:
    assert makes(text, ()) == fields


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$CONST.rate", ["rate"]),
        ('$CONST["rate"]', ["rate"]),
        ('$CONST."rate"', ["rate"]),
        ("$CONST.a * $CONST.b.c", ["a", "b"]),
        ("for ${ $CONST.a } and ${ $CONST.b }", ["a", "b"]),
        ("$CONST", []),
        ("$CONST[.a]", []),
        ('$CONST["a" + "b"]', []),
        (r'$CONST["a\(1)"]', []),
        ('$CONST | "a"', []),
        ("$OTHER.a", []),
        ('$CONST["a"', []),
        ("$CONST.a )", []),
        ("${ $CONST.a", []),
    ],
)
def test_the_members_of_a_variable_that_an_expression_names(text: str, names: list[str]) -> None:
    assert list(members(text, "CONST")) == names
