"""Comparing what paths find with values that are written in a definition."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.comparing import OPERATORS, OPERATORS_OF_2019, matches


@pytest.mark.parametrize(
    ("operator", "found", "value", "holds"),
    [
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
    ],
)
def test_operators(operator: str, found: list[JSON], value: JSON, *, holds: bool) -> None:
    """An operator tells whether what was found is as it asks."""
    assert OPERATORS[operator](found, value) is holds


@pytest.mark.parametrize(
    ("operator", "found", "value", "holds"),
    [
        ("EQ", [1], "1.0", True),
        ("EQ", ["a"], "b", False),
        ("EQ", [True], "true", True),
        ("LT", [1], "2", True),
        ("LT", [2], "2", False),
        ("LT", ["a"], "b", False),
        ("LTEQ", [2], "2", True),
        ("GT", [2], "2", False),
        ("GT", [10], "9", True),
        ("GTEQ", [2], "2", True),
        ("GTEQ", [2], "b", False),
        ("GTEQ", ["b"], "2", False),
        ("StrEQ", ["a"], "a", True),
        ("StrEQ", [5], "5", True),
        ("StrEQ", [["a"]], '["a"]', False),
        ("StrEQ", [{}], "{}", False),
        ("StrLT", ["10"], "9", True),
        ("StrLT", ["9"], "9", False),
        ("StrLTEQ", ["9"], "9", True),
        ("StrGT", ["9"], "10", True),
        ("StrGT", ["9"], "9", False),
        ("StrGTEQ", ["9"], "9", True),
        ("LessThanEquals", [1], "1", True),
        ("GreaterThanEquals", [1], "1", True),
    ],
)
def test_operators_of_2019(operator: str, found: list[JSON], value: JSON, *, holds: bool) -> None:
    """Those of numbers compare numbers alone, and those of texts all that is neither an object nor an array."""
    assert OPERATORS_OF_2019[operator](found, value) is holds


def test_a_pattern_that_takes_too_long_is_named() -> None:
    with pytest.raises(ExpressionLimitExceeded, match=r"what matches the pattern '\(a\|aa\)\+\$'"):
        matches("a" * 60 + "!", "(a|aa)+$")
