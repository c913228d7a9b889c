"""The expressions of the drafts: paths, comparisons, and texts with either."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.comparing import OPERATORS, OPERATORS_OF_2019, matches
from swf_temporal.expressions.compiled import NOTHING, BadExpression
from swf_temporal.expressions.early import EarlyExpressions
from swf_temporal.expressions.early_paths import EarlyPath, early_text, place_of

DATA: Any = {"age": 18, "name": "Ann", "tags": ["a", "b"], "zip": "007", "none": None, "ok": True}


@pytest.mark.parametrize(("path", "operator", "value", "holds"), [
    ("$.age", "EQ", "18", True), ("$.age", "EQ", "18.0", True), ("$.zip", "EQ", "7", True),
    ("$.name", "EQ", "Ann", True), ("$.ok", "EQ", "true", True), ("$.age", "LT", "18", False),
    ("$.age", "LTEQ", "18", True), ("$.age", "GT", "9", True), ("$.age", "GTEQ", "18.5", False),
    ("$.name", "GT", "1", False), ("$.name", "LT", "1", False), ("$.age", "StrEQ", "18", True),
    ("$.zip", "StrEQ", "7", False), ("$.age", "StrLT", "9", True), ("$.name", "StrLTEQ", "Ann", True),
    ("$.name", "StrGT", "Am", True), ("$.name", "StrGTEQ", "Ao", False), ("$.tags", "StrEQ", '["a","b"]', False),
    ("$.missing", "EQ", "18", False), ("$.tags[*]", "StrEQ", "b", True), ("$.age", "GreaterThanEquals", "18", True),
    ("$.age", "LessThanEquals", "17", False), ("$.age", "lessthan", "19", True), ("$.none", "Null", None, True),
    ("$.name", "Exists", None, True), ("$.missing", "NotExists", None, True),
])  # fmt: skip
def test_comparisons(path: str, operator: str, value: str | None, *, holds: bool) -> None:
    """What a path finds is compared as the operator says: as a number, as a text, or as what it is."""
    condition: Any = {"path": path, "operator": operator, "value": value}
    assert EarlyExpressions().condition(condition)(DATA, {}) is holds


@pytest.mark.parametrize(("join", "holds"), [("all", False), ("any", True), ("none", False)])
def test_several_comparisons(join: str, *, holds: bool) -> None:
    several = [{"path": "$.age", "operator": "EQ", "value": "18"}, {"path": "$.age", "operator": "EQ", "value": "19"}]
    expressions = EarlyExpressions()
    condition: Any = {join: several}
    assert expressions.condition(condition)(DATA, {}) is holds
    assert expressions.condition(condition) is expressions.condition(condition)


def test_a_text_is_a_condition_in_spel() -> None:
    assert EarlyExpressions().condition("$.name eq 'Ann'")(DATA, {}) is True


def test_an_operator_has_to_be_known() -> None:
    with pytest.raises(BadExpression, match="'LIKE' is not an operator"):
        EarlyExpressions().condition({"path": "$.a", "operator": "LIKE", "value": "x"})


def test_fields() -> None:
    """A filter is a path; texts in parameters are paths, or have some in them; a target names one place."""
    expressions = EarlyExpressions()
    assert expressions.expression("$.name")(DATA, {}) == "Ann"
    assert expressions.expression("$.missing")(DATA, {}) is NOTHING
    assert expressions.template({"who": "$.name", "says": "Hi $.name", "n": 1})(DATA, {}) == {
        "who": "Ann", "says": "Hi Ann", "n": 1,
    }  # fmt: skip
    assert expressions.target("$.a.b[0]")(DATA, {}) == ["a", "b", 0]
    assert expressions.target("$")(DATA, {}) == []
    with pytest.raises(BadExpression, match="does not name a single place"):
        expressions.target("$..a")
    with pytest.raises(BadExpression, match="one begins with"):
        expressions.expression("name")


EARLY_PATHS_DATA: JSON = {
    "order": {"line-items": [{"id": 1, "ok": True}, {"id": 2, "ok": False}]},
    "exit-code": 3,
    "event": {"type": "exec"},
    "a].c-d": 4,
}


@pytest.mark.parametrize(("text", "found", "key"), [
    ("$", [EARLY_PATHS_DATA], None),
    ("$.", [EARLY_PATHS_DATA], None),
    ("$.exit-code", [3], "exit-code"),
    ("$['exit-code']", [3], "exit-code"),
    ("$['order'].line-items[1].id", [2], "id"),
    ("$event.type", ["exec"], "type"),
    ("$.order.line-items[1].id", [2], "id"),
    ("$.order.line-items[-1]['id']", [2], "id"),
    ("$.order.line-items[?(@.ok == true)].id", [1], "id"),
    ("$.order.line-items.[?(@.ok)]", [{"id": 1, "ok": True}], "line-items"),
    ("$..line-items[*].id", [1, 2], "id"),
    ("$.order.nothing.here", [], "here"),
    ("$.exit-code.within", [], "within"),
    ("$.order.line-items[7]", [], "line-items"),
    ("$['a].c-d']", [4], "a].c-d"),
    ("$.order['x].y'][*]", [], "order"),
    ("$['order'].line-items[*].id", [1, 2], "id"),
    ("$.order.line-items[?(@['ok'])].id", [1], "id"),
])  # fmt: skip
def test_finds(text: str, found: list[JSON], key: str | None) -> None:
    """A path finds what it leads to, and knows the key that this is known by."""
    path = EarlyPath(text)
    assert path.found(EARLY_PATHS_DATA) == found
    assert path.last_key == key


def test_yields() -> None:
    """A path to one place yields the value there or nothing, any other an array of all that it finds."""
    assert EarlyPath("$.exit-code")(EARLY_PATHS_DATA, {}) == 3
    assert EarlyPath("$.nothing")(EARLY_PATHS_DATA, {}) is NOTHING
    assert EarlyPath("$..id")(EARLY_PATHS_DATA, {}) == [1, 2]
    assert EarlyPath("$..nothing")(EARLY_PATHS_DATA, {}) == []


@pytest.mark.parametrize("text", ["it was heads", "$.people[?(", "$$", "$.a b", ""])
def test_refuses(text: str) -> None:
    with pytest.raises(BadExpression, match="is not a JSONPath") as refused:
        EarlyPath(text)
    assert f"'{text}'" in refused.value.message


@pytest.mark.parametrize(("text", "why"), [
    ("$..id", "does not name a single place in the data"),
    ("$.items[1000000000]", "names the element 1000000000 of an array"),
])  # fmt: skip
def test_refuses_what_names_no_place(text: str, why: str) -> None:
    with pytest.raises(BadExpression, match=why) as told:
        place_of(EarlyPath(text))
    assert told.value.offset == 0


@pytest.mark.parametrize(("text", "filled"), [
    ("no path", "no path"),
    ("$.order.line-items[0].id", 1),
    ("code $.exit-code of $event.type.", "code 3 of exec."),
    ("it costs $5 or 5 $USD", "it costs $5 or 5 $USD"),
    ("[$.nothing]", "[]"),
    ("$.order.line-items[?(@.id == 2)].ok", [False]),
    ("all: $.order.line-items[0]", 'all: {"id":1,"ok":true}'),
])  # fmt: skip
def test_fills_texts(text: str, filled: JSON) -> None:
    """A text that is a path becomes what that finds; one that has paths in it stays a text."""
    assert early_text(text)(EARLY_PATHS_DATA, {}) == filled


def test_synonyms() -> None:
    """A name that data has not finds what stands under another; one that it has is itself."""
    path = EarlyPath("$.exception.name", {"exception": "error"})
    assert path.found({"error": {"name": "x"}}) == ["x"]
    assert path.found({"error": {"name": "x"}, "exception": {}}) == []
    assert early_text("Caught $.exception.name", {"exception": "error"})({"error": {"name": "x"}}, {}) == "Caught x"


@pytest.mark.parametrize(("operator", "found", "value", "holds"), [
    ("equals", ["SUCCEEDED"], "SUCCEEDED", True),
    ("equals", [18], "18", True),
    ("equals", ["18"], 18, True),
    ("equals", [True], "true", True),
    ("equals", [None], "null", True),
    ("equals", [], "x", False),
    ("equals", [1, 2], "2", True),
    ("notequals", [1, 2], "2", False),
    ("notequals", [], "2", True),
    ("lessthan", [9], "10", True),
    ("lessthan", ["9"], "10", True),
    ("lessthan", ["apple"], "pear", True),
    ("lessthan", ["pear"], "pear", False),
    ("lessthanorequals", ["pear"], "pear", True),
    ("greaterthan", ["pear"], "pear", False),
    ("greaterthan", ["pear"], "apple", True),
    ("greaterthan", ["apple"], "pear", False),
    ("lessthan", [True], "10", False),
    ("lessthan", [{}], "10", False),
    ("lessthanorequals", [10.0], "10", True),
    ("greaterthan", [10], "10", False),
    ("greaterthanorequals", [10], "10", True),
    ("greaterthanorequals", ["x"], "10", True),
    ("exists", [None], "", True),
    ("notexists", [], "", True),
    ("null", [None], "", True),
    ("null", [], "", False),
    ("notnull", [0], "", True),
    ("notnull", [], "", False),
    ("matches", ["ann@acme.com"], r"\b\w+@\w+\.com\b", True),
    ("matches", [5], r"\d", False),
    ("notmatches", [5], r"\d", True),
])  # fmt: skip
def test_operators(operator: str, found: list[JSON], value: JSON, *, holds: bool) -> None:
    assert OPERATORS[operator](found, value) is holds


@pytest.mark.parametrize(("operator", "found", "value", "holds"), [
    ("EQ", [1], "1.0", True), ("EQ", ["a"], "b", False), ("EQ", [True], "true", True), ("LT", [1], "2", True),
    ("LT", [2], "2", False), ("LT", ["a"], "b", False), ("LTEQ", [2], "2", True), ("GT", [2], "2", False),
    ("GT", [10], "9", True), ("GTEQ", [2], "2", True), ("GTEQ", [2], "b", False), ("GTEQ", ["b"], "2", False),
    ("StrEQ", ["a"], "a", True), ("StrEQ", [5], "5", True), ("StrEQ", [["a"]], '["a"]', False),
    ("StrEQ", [{}], "{}", False), ("StrLT", ["10"], "9", True), ("StrLT", ["9"], "9", False),
    ("StrLTEQ", ["9"], "9", True), ("StrGT", ["9"], "10", True), ("StrGT", ["9"], "9", False),
    ("StrGTEQ", ["9"], "9", True), ("LessThanEquals", [1], "1", True), ("GreaterThanEquals", [1], "1", True),
])  # fmt: skip
def test_operators_of_2019(operator: str, found: list[JSON], value: JSON, *, holds: bool) -> None:
    """Those of numbers compare numbers alone, and those of texts all that is neither an object nor an array."""
    assert OPERATORS_OF_2019[operator](found, value) is holds


def test_a_pattern_that_takes_too_long_is_named() -> None:
    with pytest.raises(ExpressionLimitExceeded, match=r"too long to match the pattern '\(a\|aa\)\+\$'"):
        matches("a" * 60 + "!", "(a|aa)+$")
