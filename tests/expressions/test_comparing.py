"""Comparing what paths find with values that are written in a definition."""

import pytest

from swf_temporal.data import JSON
from swf_temporal.expressions.comparing import OPERATORS


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
