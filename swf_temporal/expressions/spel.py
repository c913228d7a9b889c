"""The part of the Spring Expression Language that the draft of May 2020 writes its conditions in.

Comparisons (`eq` or `==`, `ne`, `lt`, `le`, `gt`, `ge`, `is`, `matches`) of what paths find with literals, joined by
`and`, `or` and `not`, with parentheses. A value is a literal, a JSONPath such as `$.error.name`, the call
`#jsonPath(taskOutputData, '$..title')`, or a name such as `name` or `error.name`, which is looked up in the data. What
else the language has (methods, types, beans, assignments) would reach into a machine that is not there: it is refused.

A value that may be several, as of `$..title`, fits a comparison if one of them does.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.comparing import matches
from swf_temporal.expressions.compiled import EvaluationOutcome, Variables, is_true
from swf_temporal.expressions.spel_parsing import (
    Alone,
    Compared,
    Condition,
    Joined,
    Literal,
    Named,
    Negated,
    Operand,
    PathValues,
    parsed,
)

LANGUAGE: Final = "spel"

_Truth: TypeAlias = Callable[[JSON], bool]

_ORDERS: Final = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


class SpelCondition:
    """A condition that compiles: true or false of an object."""

    __slots__ = ("_holds", "text")

    constant = False
    kinds = frozenset({"boolean"})
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str) -> None:
        """Compile *text*. Raises BadExpression, which says what of it is not known here."""
        self.text = text
        self._holds = _truth(parsed(text))

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Tell whether the condition holds of *data*. Raises ExpressionFailed where values have no order."""
        try:
            return self._holds(data)
        except ExpressionFailed as failed:
            raise ExpressionFailed(f"'{self.text}' fails on the data: {failed.message}") from None


def _values(operand: Operand, data: JSON) -> Sequence[JSON]:
    """Return the values that *operand* may have: none where it finds nothing."""
    match operand:
        case Literal(value):
            return (value,)
        case PathValues(path, of):
            return path.found(data) if of is None else [one for whole in _values(of, data) for one in path.found(whole)]
        case Named(first, path, whole):
            return path.found(data) if isinstance(data, dict) and first in data else whole.found(data)


def _truth(condition: Condition) -> _Truth:
    match condition:
        case Compared(operator, left, right):
            return _compared(operator, left, right)
        case Alone(operand):
            return lambda data: any(is_true(one) for one in _values(operand, data))
        case Negated(inner):
            holds = _truth(inner)
            return lambda data: not holds(data)
        case Joined(word, parts):
            truths = [_truth(part) for part in parts]
            quantifier = all if word == "and" else any
            return lambda data: quantifier(one(data) for one in truths)


def _compared(operator: str, left: Operand, right: Operand) -> _Truth:
    """Return what compares two operands; what finds nothing is null."""

    def holds(data: JSON) -> bool:
        pairs = [(one, other) for one in _values(left, data) or (None,) for other in _values(right, data) or (None,)]
        if operator == "!=":
            return not any(identity(one) == identity(other) for one, other in pairs)
        return any(_fits(operator, one, other) for one, other in pairs)

    return holds


def _fits(operator: str, left: JSON, right: JSON) -> bool:
    if operator == "==":
        return identity(left) == identity(right)
    if operator == "matches":
        return matches(left, right)
    if left is None or right is None:
        return False
    for kind in (str, int | float):
        if isinstance(left, kind) and isinstance(right, kind) and not {type(left), type(right)} & {bool}:
            return ((left > right) - (left < right)) in _ORDERS[operator]  # type: ignore[operator] # both are of one kind
    raise ExpressionFailed(f"{identity(left)} and {identity(right)} have no order")
