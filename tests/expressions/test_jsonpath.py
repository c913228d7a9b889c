"""Do expressions in JSONPath find what they name?"""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, ExpressionLimitExceeded
from swf_temporal.expressions.evaluation import NOTHING, BadExpression, Expressions

DATA: dict[str, Any] = {
    "a": {"b": 1, "c": [{"x": 1}, {"x": 2}]}, "language": "English", "no": False, "none": None, "zero": 0,
}  # fmt: skip
VARIABLES: dict[str, Any] = {"CONST": {"k": 5}, "item": {"z": 7}, "WORKFLOW": {"id": "w"}}


@pytest.fixture
def expressions() -> Expressions:
    return Expressions(language="jsonpath", variables=["item", "CONST", "WORKFLOW"])


@pytest.mark.parametrize(("text", "value"), [
    ("${ $.a.b }", 1), ("$.a.b", 1), ("{{ $.a.b }}", 1), ("$", DATA), ("$.gone", NOTHING),
    ("$.a.c[?@.x > 1]", [{"x": 2}]), ("$.a.c[*].x", [1, 2]), ("$.a.c[?@.x > 9]", []), ("$..x", [1, 2]), ("$CONST.k", 5),
    ("${ $item.z }", 7), ("$item", {"z": 7}), ("$.a.c.[?(@.['x'] > 1)].['x']", [2]),
])  # fmt: skip
def test_finds(expressions: Expressions, text: str, value: Any) -> None:
    """A path to one place yields the value there or nothing, any other an array of all that it finds."""
    assert expressions.expression(text)(DATA, VARIABLES) == value


@pytest.mark.parametrize(("text", "holds"), [
    ("$.a.b", True), ("$.zero", True), ("$.gone", False), ("$.no", False), ("$.none", False), ("$.a.c[?@.x > 1]", True),
    ("$.a.c[?@.x > 9]", False), ("$item.z", True), ("$item.a", False), ("${ $[?(@.language == 'English')] }", True),
    ("{{ $.[?(@.language == 'Spanish')] }}", False),
])  # fmt: skip
def test_conditions(expressions: Expressions, text: str, holds: bool) -> None:  # noqa: FBT001 - what is expected
    assert expressions.condition(text)(DATA, VARIABLES) is holds


@pytest.mark.parametrize(
    ("found", "holds"), [([False], False), ([False, None], False), ([False, 0], True), ([None, {}], True), ([], False)]
)
def test_conditions_that_find_several(expressions: Expressions, found: list[Any], *, holds: bool) -> None:
    assert expressions.condition("${ $.a[*] }")({"a": found}, {}) is holds


def test_filters_of_objects() -> None:
    """They are tried on the object itself, at any depth, and on the elements of an array as always."""
    filters = Expressions(language="jsonpath", filters_objects=True)
    one: JSON = {"x": 0, "in": {"n": 1}}
    data: JSON = {"one": one, "all": [{"x": 0}, {"x": 1, "in": {"n": 1}}], "text": "x"}
    for text, found in {
        "$.one[?(@.x < 1)]": [one],
        "$.one[?(@.x > 1)]": [],
        "$.one[?(@.x < 1)].in[?(@.n == 1)].n": [1],
        "$.all[?(@.x == 1)].in[?(@.n == 1)]": [{"n": 1}],
        "$.all[?(@.x < 1)]": [{"x": 0}],
        "$.text[?(@.x < 1)]": [],
    }.items():
        assert filters.expression(text)(data, {}) == found, text


def test_embedded(expressions: Expressions) -> None:
    text = "${ $WORKFLOW.id }: ${ $.a.c[*].x }${ $.gone }"
    assert expressions.template({"t": [text]})(DATA, VARIABLES) == {"t": ["w: [1,2]"]}
    assert expressions.template(text).mentions == {"WORKFLOW"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("${ $.a.c[0].x }", ["a", "c", 0, "x"]),
        ("$", []),
        (".", []),
        ("", []),
        ("$['a b']", ["a b"]),
        ("$.a.['b.[0]'].[1]", ["a", "b.[0]", 1]),
    ],
)
def test_targets(expressions: Expressions, text: str, path: list[str | int]) -> None:
    assert expressions.target(text)({}, {}) == path


@pytest.mark.parametrize("text", ["$.a[*]", "$..a", "$CONST.k", ".a", "$.a["])
def test_no_targets(expressions: Expressions, text: str) -> None:
    with pytest.raises(BadExpression):
        expressions.target(text)


@pytest.mark.parametrize("text", ["${ .a }", "${ $.a + 1 }", "${ $UNKNOWN.a }", "${ }"])
def test_refused(expressions: Expressions, text: str) -> None:
    with pytest.raises(BadExpression, match="not a JSONPath"):
        expressions.template(text)


@pytest.mark.parametrize("text", [".a", "plain text", "length"])
def test_refused_without_marks(expressions: Expressions, text: str) -> None:
    """A text in jq's manner, or a plain one, is not a path where a path is to stand."""
    with pytest.raises(BadExpression, match="one begins with") as told:
        expressions.expression(text)
    assert told.value.offset == 0


@pytest.mark.parametrize("data", ["a text", '{"a": 1}', 3, None, True])
def test_data_without_an_inside(expressions: Expressions, data: Any) -> None:
    assert expressions.expression("$")(data, {}) == data
    assert expressions.expression("$.a")(data, {}) is NOTHING
    assert expressions.expression("$[*]")(data, {}) == []


def test_functions() -> None:
    expressions = Expressions(language="jsonpath", functions={"adults": "$.people[?@.age >= 18].name"})
    data: dict[str, Any] = {"people": [{"name": "Ada", "age": 36}, {"name": "Tim", "age": 6}]}
    assert expressions.expression("fn:adults")(data, {}) == ["Ada"]
    assert expressions.expression("${ fn:adults }")(data, {}) == ["Ada"]


@pytest.mark.parametrize("function", ["match", "search"])
def test_patterns_take_no_longer_than_they_may(expressions: Expressions, function: str) -> None:
    """Patterns are those of I-Regexp; one that does not come to an end fails the run, and holds nothing up."""
    text = "$[?%s(@.name, '%s')]"
    found = expressions.expression(text % (function, "A.+"))([{"name": "Ada"}, {"name": "Bob"}], {})
    assert found == [{"name": "Ada"}]
    with pytest.raises(ExpressionLimitExceeded, match="ran longer than") as told:
        expressions.expression(text % (function, "(a|aa)+c"))([{"name": "a" * 60 + "!"}], {})
    assert not told.value.retryable


@pytest.mark.parametrize("function", ["match", "search"])
def test_a_pattern_that_is_none_finds_nothing(expressions: Expressions, function: str) -> None:
    assert expressions.expression(f"$[?{function}(@.name, '(')]")([{"name": "("}], {}) == []


def test_what_is_nested_too_deeply_is_told(expressions: Expressions) -> None:
    """In the data, and in the path itself; of any other fault of a path the reason is told."""
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    with pytest.raises(ExpressionFailed) as failed:
        expressions.expression("$..x")(deep, {})
    assert failed.value.message == "'$..x' fails on the data: it is nested too deeply"
    with pytest.raises(BadExpression, match=r"' is not a JSONPath: it is nested too deeply$"):
        expressions.expression(f"$[?{'(' * 3000}@.x{')' * 3000}]")
    with pytest.raises(BadExpression, match=r"^'\$\.a\[' is not a JSONPath: unexpected end of query$"):
        expressions.expression("$.a[")


@pytest.mark.parametrize(("text", "offset"), [("$.a[*]", 0), ("${ $.a[*] }", 2)])
def test_where_it_is_that_names_no_place(expressions: Expressions, text: str, offset: int) -> None:
    with pytest.raises(BadExpression) as told:
        expressions.target(text)
    message = "'$.a[*]' does not name a single place in the data, as '$.result' would"
    assert (told.value.message, told.value.offset) == (message, offset)
