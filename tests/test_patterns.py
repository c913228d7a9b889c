"""Patterns that can be stopped."""

import pytest

from swf_temporal.expressions.patterns import BadPattern, PatternTooSlow, matches_somewhere, one_limit


def test_matches() -> None:
    assert matches_somewhere("b+", "abbc")
    assert not matches_somewhere("^b", "abbc")
    assert matches_somewhere(r"(?i)no such (?P<what>\w+)\b", "There is NO SUCH table")


def test_is_stopped() -> None:
    with pytest.raises(PatternTooSlow, match=r"too long to match the pattern '\(a\|aa\)\+\$'"):
        matches_somewhere("(a|aa)+$", "a" * 60 + "!")


def test_refuses() -> None:
    with pytest.raises(BadPattern, match="missing"):
        matches_somewhere("(", "(")
    with pytest.raises(BadPattern, match="nested too deeply"):
        matches_somewhere("(" * 5000 + ")" * 5000, "")


def test_many_together_are_stopped() -> None:
    def again_and_again() -> None:
        while True:
            matches_somewhere("(a|aa)+$", "a" * 18 + "!")

    with one_limit(), pytest.raises(PatternTooSlow):
        again_and_again()
    assert not matches_somewhere("(a|aa)+$", "a" * 18 + "!")
