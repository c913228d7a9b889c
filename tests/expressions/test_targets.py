"""Does a field such as toStateData name the place it says?"""

from typing import Any, Final

import pytest

from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.braced import BracedPaths
from swf_temporal.expressions.early import EarlyExpressions
from swf_temporal.expressions.evaluation import BadExpression, Expressions

PATHS: Final = (Expressions(language="jsonpath"), EarlyExpressions(), BracedPaths())
DATA: dict[str, Any] = {"key": "k", "list": [{"id": 1}, {"id": 2}], "n": 1}


@pytest.mark.parametrize(
    ("text", "path"),
    [
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
    ],
)
def test_names_a_path(text: str, path: list[str | int]) -> None:
    """A target is the path its expression names, bare or in braces, looked up where it has to be."""
    assert Expressions(variables=["item"]).target(text)(DATA, {"item": "i"}) == path


@pytest.mark.parametrize(
    "text", ["1", "[.a]", "[.a][0]", "${ {a: .b} }", "$CONST.a", "results", "${ .a", 5, None, "if . then 1 else 2 end"]
)
def test_what_names_no_place_is_refused(text: Any) -> None:
    """A value, a variable or a word is no place in the data, and that shows before anything runs."""
    with pytest.raises(BadExpression):
        Expressions().target(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".a, .b", "names 2 places"),
        ("${ empty }", "names 0 places"),
        (".list[0:1]", "more, or less, than one element"),
        (".list[1.5]", "more, or less, than one element"),
        ("${ .n | tostring }", "Invalid path expression"),
        (".[true]", "Cannot index object with boolean"),
    ],
)
def test_not_one_place_is_a_failure(text: str, message: str) -> None:
    with pytest.raises(ExpressionFailed, match=message):
        Expressions().target(text)(DATA, {})


def test_what_names_no_place_is_told_with_an_example() -> None:
    with pytest.raises(BadExpression) as told:
        Expressions().target(" 1 ")
    assert told.value.message == "'1' is not a place in the data, such as '.result'"
    assert told.value.offset == 0
    with pytest.raises(BadExpression) as told:
        Expressions().target("${ 1 }")
    assert told.value.offset == 2
    with pytest.raises(BadExpression) as told:
        Expressions().target(7)
    assert told.value.message == "a place in the data is named by an expression such as '.result'"


@pytest.mark.parametrize(
    ("text", "message"),
    [("$.list[1000001]", "the element 1000001 of an array"), ("$" + ".a" * 401, "401 (levels deep|steps)")],
)
@pytest.mark.parametrize("expressions", PATHS, ids=lambda one: type(one).__name__)
def test_a_place_that_data_cannot_have_is_refused(expressions: Expressions, text: str, message: str) -> None:
    with pytest.raises(BadExpression, match=message):
        expressions.target(text)


@pytest.mark.parametrize("expressions", PATHS, ids=lambda one: type(one).__name__)
def test_a_place_that_data_can_have_is_not(expressions: Expressions) -> None:
    assert expressions.target("$.list[1000000].a")(DATA, {}) == ["list", 1_000_000, "a"]


@pytest.mark.parametrize("expressions", PATHS[1:], ids=lambda one: type(one).__name__)
def test_a_path_that_names_several_places_is_refused(expressions: Expressions) -> None:
    with pytest.raises(BadExpression, match="does not name a single place") as told:
        expressions.target("$.list[*]")
    assert told.value.offset == 0


def test_jq_names_no_place_that_data_cannot_have() -> None:
    with pytest.raises(BadExpression, match="this names the element 1000001"):
        Expressions().target(".list[1000001]")
