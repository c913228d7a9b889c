"""Do fields of the drafts of 2019 and 2020 compile as these mean them?"""

from typing import Any

import pytest

from swf_temporal.expressions.early import EarlyExpressions
from swf_temporal.expressions.evaluation import NOTHING, BadExpression

DATA: Any = {"age": 18, "name": "Ann", "tags": ["a", "b"], "zip": "007", "none": None, "ok": True}


@pytest.mark.parametrize(
    ("path", "operator", "value", "holds"),
    [
        ("$.age", "EQ", "18", True),
        ("$.age", "EQ", "18.0", True),
        ("$.zip", "EQ", "7", True),
        ("$.name", "EQ", "Ann", True),
        ("$.ok", "EQ", "true", True),
        ("$.age", "LT", "18", False),
        ("$.age", "LTEQ", "18", True),
        ("$.age", "GT", "9", True),
        ("$.age", "GTEQ", "18.5", False),
        ("$.name", "GT", "1", False),
        ("$.name", "LT", "1", False),
        ("$.age", "StrEQ", "18", True),
        ("$.zip", "StrEQ", "7", False),
        ("$.age", "StrLT", "9", True),
        ("$.name", "StrLTEQ", "Ann", True),
        ("$.name", "StrGT", "Am", True),
        ("$.name", "StrGTEQ", "Ao", False),
        ("$.tags", "StrEQ", '["a","b"]', False),
        ("$.missing", "EQ", "18", False),
        ("$.tags[*]", "StrEQ", "b", True),
        ("$.age", "GreaterThanEquals", "18", True),
        ("$.age", "LessThanEquals", "17", False),
        ("$.age", "lessthan", "19", True),
        ("$.none", "Null", None, True),
        ("$.name", "Exists", None, True),
        ("$.missing", "NotExists", None, True),
    ],
)
def test_comparisons(path: str, operator: str, value: str | None, *, holds: bool) -> None:
    """What a path finds is compared as the operator says: as a number, as a text, or as what it is."""
    condition: Any = {"path": path, "operator": operator, "value": value}
    assert EarlyExpressions().condition(condition)(DATA, {}) is holds


@pytest.mark.parametrize(("join", "holds"), [("all", False), ("any", True), ("none", False)])
def test_several_comparisons(join: str, *, holds: bool) -> None:
    """Several comparisons make one condition, joined as their key says."""
    several = [{"path": "$.age", "operator": "EQ", "value": "18"}, {"path": "$.age", "operator": "EQ", "value": "19"}]
    expressions = EarlyExpressions()
    condition: Any = {join: several}
    assert expressions.condition(condition)(DATA, {}) is holds
    assert expressions.condition(condition) is expressions.condition(condition)


def test_a_text_is_a_condition_in_spel() -> None:
    """A condition that is a text is in the Spring Expression Language."""
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
