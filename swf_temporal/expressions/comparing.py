"""Comparisons of the values that a path found with a value in a definition, as in the drafts of 2019 and 2020.

The latter is mostly written as a text, whatever it is compared with: `"18"` is the number 18 if a number was found.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import ExpressionFailed, ExpressionLimitExceeded
from swf_temporal.expressions.patterns import BadPattern, PatternTooSlow, matches_somewhere

Test: TypeAlias = Callable[[Sequence[JSON], JSON], bool]
"""A function that says whether the found values, which may be none or several, satisfy an operator with its value."""


def number_in(value: JSON) -> float | None:
    """Return *value*, a number or a text with one, as a number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def is_equal(found: JSON, value: JSON) -> bool:
    """Return whether *found* equals *value*, or the number, true, false or null in the text *value*."""
    if isinstance(value, str) and not isinstance(found, str):
        if isinstance(found, bool) or found is None:
            return value.strip().lower() == {True: "true", False: "false", None: "null"}[found]
        if isinstance(found, int | float):
            return number_in(value) == float(found)
    if isinstance(found, str) and isinstance(value, int | float) and not isinstance(value, bool):
        return number_in(found) == float(value)
    return identity(found) == identity(value)


def order_of(found: JSON, value: JSON) -> int | None:
    """Return -1, 0 or 1 if *found* is less than, equal to, or greater than *value*; None if they have no order.

    Numbers, and texts with numbers, are compared as numbers, and other texts by their characters.
    """
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    left, right = number_in(found), number_in(value)
    if left is not None and right is not None:
        return (left > right) - (left < right)
    if isinstance(found, str) and isinstance(value, str):
        return (found > value) - (found < value)
    return None


def matches(found: JSON, pattern: JSON) -> bool:
    """Return whether *pattern* matches in the text *found*.

    Raises ExpressionLimitExceeded if that takes too long, and ExpressionFailed if it is not a valid pattern.
    """
    if not isinstance(found, str):
        return False
    try:
        return matches_somewhere(str(pattern), found)
    except PatternTooSlow as slow:
        raise ExpressionLimitExceeded(str(slow)) from None
    except BadPattern as bad:
        raise ExpressionFailed(f"{pattern!r} is not a regular expression: {bad}") from None


def _any(test: Callable[[JSON, JSON], bool]) -> Test:
    return lambda found, value: any(test(one, value) for one in found)


def _none(test: Callable[[JSON, JSON], bool]) -> Test:
    return lambda found, value: not any(test(one, value) for one in found)


def _ordered(*orders: int) -> Test:
    return _any(lambda found, value: order_of(found, value) in orders)


OPERATORS: Final[Mapping[str, Test]] = {
    "exists": lambda found, _: bool(found),
    "notexists": lambda found, _: not found,
    "null": lambda found, _: any(one is None for one in found),
    "notnull": lambda found, _: any(one is not None for one in found),
    "equals": _any(is_equal),
    "notequals": _none(is_equal),
    "lessthan": _ordered(-1),
    "lessthanorequals": _ordered(-1, 0),
    "greaterthan": _ordered(1),
    "greaterthanorequals": _ordered(0, 1),
    "matches": _any(matches),
    "notmatches": _none(matches),
}
"""The operators of conditions in the draft of May 2020. If there are several values, one that satisfies it suffices."""
FORMER_OPERATORS: Final = {"lessthanequals": "lessthanorequals", "greaterthanequals": "greaterthanorequals"}
"""Operators that have another name in the version before."""


def _numbers(test: Callable[[float, float], bool]) -> Callable[[JSON, JSON], bool]:
    def compared(found: JSON, value: JSON) -> bool:
        left, right = number_in(found), number_in(value)
        return left is not None and right is not None and test(left, right)

    return compared


def _texts(test: Callable[[str, str], bool]) -> Callable[[JSON, JSON], bool]:
    def compared(found: JSON, value: JSON) -> bool:
        return not isinstance(found, dict | list) and test(text_of(found), text_of(value))

    return compared


def text_of(value: JSON) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else identity(value)


def is_same(found: JSON, value: JSON) -> bool:
    """Return whether two values are equal: as numbers, if both are numbers or texts with numbers."""
    left, right = number_in(found), number_in(value)
    return left == right if left is not None and right is not None else is_equal(found, value)


NUMERIC_OPERATORS: Final = ("LT", "LTEQ", "GT", "GTEQ")
"""The operators of 2019 that compare only numbers."""

OPERATORS_OF_2019: Final[Mapping[str, Test]] = {
    "EQ": _any(is_same),
    "LT": _any(_numbers(operator.lt)),
    "LTEQ": _any(_numbers(operator.le)),
    "GT": _any(_numbers(operator.gt)),
    "GTEQ": _any(_numbers(operator.ge)),
    "StrEQ": _any(_texts(operator.eq)),
    "StrLT": _any(_texts(operator.lt)),
    "StrLTEQ": _any(_texts(operator.le)),
    "StrGT": _any(_texts(operator.gt)),
    "StrGTEQ": _any(_texts(operator.ge)),
    "LessThanEquals": OPERATORS["lessthanorequals"],
    "GreaterThanEquals": OPERATORS["greaterthanorequals"],
}
"""The operators of the draft of November 2019, and those of later texts that have been renamed since."""
