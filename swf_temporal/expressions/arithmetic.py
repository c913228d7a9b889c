"""The operators of jq, where Python can tell exactly what jq would yield.

Everything else raises NotSupported: jq then evaluates the whole expression, and words the error if there is one.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from swf_temporal.base.accounting import current_account
from swf_temporal.base.data import JSON

_MAX_EXACT = 2**53 - 1
"""Beyond it jq's numbers and Python's go different ways."""

_MAX_PLAIN = 1e15
_NUMBER, _TEXT = 3, 4

_ELEMENT, _MEMBER = 8, 48
"""Bytes of memory for an element of an array, and for a member of an object."""


class NotSupported(Exception):  # noqa: N818 - not an error: jq takes over
    """Only jq can tell what this yields."""


def index(container: JSON, key: JSON) -> JSON:
    """Return an element; null where an object or array has none, and within null."""
    if isinstance(key, str):
        if isinstance(container, dict):
            return container.get(key)
        if container is None:
            return None
    elif type(key) is int:
        if isinstance(container, list):
            position = key if key >= 0 else key + len(container)
            return container[position] if 0 <= position < len(container) else None
        if container is None:
            return None
    raise NotSupported


def length(value: JSON) -> JSON:
    """Return the number of characters, elements or members; 0 for null."""
    if value is None:
        return 0
    if isinstance(value, str | list | dict):
        return len(value)
    raise NotSupported


def add(left: JSON, right: JSON) -> JSON:
    """Return a sum, a concatenation, or an object with the members of both; null adds nothing."""
    if type(left) is int and type(right) is int:
        return _exact(left, right, left + right)
    if left is None:
        return right
    if right is None:
        return left
    if isinstance(left, str) and isinstance(right, str):
        _make(len(left) + len(right))
        return left + right
    if isinstance(left, list) and isinstance(right, list):
        _make(_ELEMENT * (len(left) + len(right)))
        return left + right
    if isinstance(left, dict) and isinstance(right, dict):
        _make(_MEMBER * (len(left) + len(right)))
        return {**left, **right}
    return _result(_number(left) + _number(right))


def subtract(left: JSON, right: JSON) -> JSON:
    """Return the difference of two numbers."""
    if type(left) is int and type(right) is int:
        return _exact(left, right, left - right)
    return _result(_number(left) - _number(right))


def multiply(left: JSON, right: JSON) -> JSON:
    """Return the product of two numbers."""
    if type(left) is int and type(right) is int:
        return _exact(left, right, left * right)
    return _result(_number(left) * _number(right))


def divide(left: JSON, right: JSON) -> JSON:
    """Return the quotient of two numbers."""
    divisor = _number(right)
    if divisor == 0:
        raise NotSupported
    return _result(_number(left) / divisor)


def compare(holds: Callable[[Any, Any], bool], left: JSON, right: JSON) -> JSON:
    """Tell whether *holds* is true of two values in jq's order of them; those of different kinds differ by these."""
    one, other = _rank(left), _rank(right)
    if one != other:
        return holds(one, other)
    if one in (_NUMBER, _TEXT):
        return holds(left, right)
    if one < _NUMBER:
        return holds(0, 0)
    raise NotSupported


SIGNS: Final[dict[str, Callable[[JSON, JSON], JSON]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "==": partial(compare, operator.eq),
    "!=": partial(compare, operator.ne),
    "<": partial(compare, operator.lt),
    "<=": partial(compare, operator.le),
    ">": partial(compare, operator.gt),
    ">=": partial(compare, operator.ge),
}


def _make(size: int) -> None:
    """Count bytes that are about to be made. Too many for one evaluation are left to jq, which is stopped in time."""
    account = current_account()
    if account.made + size > account.made_limit:
        raise NotSupported
    account.charge_copy(size)


def _rank(value: JSON) -> int:
    """Return where jq puts a value's type in its order of all values."""
    if isinstance(value, str):
        return _TEXT
    if value is None:
        return 0
    if isinstance(value, bool):
        return 2 if value else 1
    if isinstance(value, list):
        return 5
    if isinstance(value, dict):
        return 6
    _number(value)
    return _NUMBER


def _number(value: JSON) -> int | float:
    if type(value) is int:
        if -_MAX_EXACT <= value <= _MAX_EXACT:
            return value
    elif type(value) is float and value - value == 0:  # which infinities and NaN fail
        return value
    raise NotSupported


def _exact(left: int, right: int, result: int) -> int:
    """Return what was computed of two integers, as `_number` and `_result` do: here without a call for each."""
    if -_MAX_EXACT <= left <= _MAX_EXACT and -_MAX_EXACT <= right <= _MAX_EXACT and -_MAX_EXACT <= result <= _MAX_EXACT:
        return result
    raise NotSupported


def _result(number: float) -> int | float:
    """Return a computed number the way jq prints it: without `.0`."""
    if type(number) is int:
        return _number(number)
    if abs(number) < _MAX_PLAIN:
        return int(number) if number.is_integer() else number
    raise NotSupported
