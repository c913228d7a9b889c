"""Compiles the fields of definitions in the drafts of 2019 and 2020.

There are no braces: a filter is a path, a text in parameters is or contains paths, and a condition is a comparison,
several of them, or a text in the Spring Expression Language.

Comparisons (`eq` or `==`, `ne`, `lt`, `le`, `gt`, `ge`, `is`, `matches`) of what paths find with literals, joined by
`and`, `or` and `not`, with parentheses. A value is a literal, a JSONPath such as `$.error.name`, the call
`#jsonPath(taskOutputData, '$..title')`, or a name such as `name` or `error.name`, which is looked up in the data. Other
features of the language (methods, types, beans, assignments) would need a JVM, and are refused.

If an operand has several values, as `$..title`, a comparison holds if it does for one of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.comparing import OPERATORS, OPERATORS_OF_2019, Test, matches
from swf_temporal.expressions.compiled import BadExpression, Compiled, Constant, EvaluationOutcome, Variables, is_true
from swf_temporal.expressions.early_paths import EarlyPath, early_text, place_of
from swf_temporal.expressions.evaluation import Expressions
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
from swf_temporal.expressions.targets import Target

LANGUAGE: Final = "spel"

_Truth: TypeAlias = Callable[[JSON], bool]

_ORDERS: Final = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


class SpelCondition:
    """A compiled condition on an object."""

    __slots__ = ("_holds", "text")

    constant = False
    kinds = frozenset({"boolean"})
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str) -> None:
        """Compile *text*. Raises BadExpression, which names what is not supported."""
        self.text = text
        self._holds = _truth(parsed(text))

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Return whether the condition holds for *data*. Raises ExpressionFailed if values have no order."""
        try:
            return self._holds(data)
        except ExpressionFailed as failed:
            raise ExpressionFailed(f"'{self.text}' fails on the data: {failed.message}") from None


def _values(operand: Operand, data: JSON) -> Sequence[JSON]:
    """Return the values of *operand*, which may be none or several."""
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
    """Return a function that compares two operands; one without a value is null."""

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


JOINS: Final[Mapping[str, Callable[[Sequence[bool]], bool]]] = {
    "all": all,
    "any": any,
    "none": lambda truths: not any(truths),
}
"""The operators that combine comparisons into one condition, by their key."""


class EarlyExpressions(Expressions):
    """Compiles the expressions of one definition, each text once."""

    def __init__(self, synonyms: Mapping[str, str] | None = None) -> None:
        """Compile paths with *synonyms* of names: see `EarlyPath`."""
        super().__init__(language="jsonpath")
        self._synonyms = synonyms or {}
        self._paths: dict[str, EarlyPath] = {}
        # By identity, each with its value: an id is valid only as long as its object lives.
        self._conditions: dict[int, tuple[JSON, Compiled]] = {}

    def path(self, text: str) -> EarlyPath:
        """Compile a path. Raises BadExpression."""
        found = self._paths.get(text)
        if found is None:
            found = self._paths[text] = EarlyPath(text, self._synonyms)
        return found

    def expression(self, value: JSON) -> Compiled:
        """Compile a field that is a path. Raises BadExpression."""
        return self.path(value) if isinstance(value, str) else self.template(value)

    def condition(self, value: JSON) -> Compiled:
        """Compile a condition: a comparison, `{path, operator, value}`; several under a key of JOINS; or a text."""
        known = self._conditions.get(id(value))
        if known is None:
            known = self._conditions[id(value)] = (value, self._condition(value))
        return known[1]

    def _condition(self, value: JSON) -> Compiled:
        if isinstance(value, str):
            return SpelCondition(value)
        if isinstance(value, dict):
            for key, join in JOINS.items():
                several = value.get(key)
                if isinstance(several, list):
                    return ComparedCondition([self._comparison(one) for one in several], join)
            return ComparedCondition([self._comparison(value)], all)
        return Constant(value)

    def _comparison(self, value: Any) -> "_Comparison":
        operator = value["operator"]
        test = OPERATORS_OF_2019.get(operator) or OPERATORS.get(str(operator).lower())
        if test is None:
            raise BadExpression(f"'{operator}' is not an operator", 0)
        return _Comparison(self.path(value["path"]), test, value.get("value"))

    def _template_text(self, text: str) -> Compiled:
        return early_text(text, self._synonyms)

    def target(self, text: JSON) -> Target:
        """Compile a path that names one place in the data. Raises BadExpression if it may name several, or none."""
        if not isinstance(text, str):
            raise BadExpression("a place in the data is named by a path such as '$.result'")
        return place_of(self.path(text))


class _Comparison:
    __slots__ = ("_path", "_test", "_value")

    def __init__(self, path: EarlyPath, test: Test, value: JSON) -> None:
        self._path = path
        self._test = test
        self._value = value

    def holds(self, data: JSON) -> bool:
        return self._test(self._path.found(data), self._value)


class ComparedCondition:
    __slots__ = ("_comparisons", "_join")

    constant = False
    kinds = frozenset({"boolean"})
    mentions: frozenset[str] = frozenset()

    def __init__(self, comparisons: Sequence[_Comparison], join: Callable[[Sequence[bool]], bool]) -> None:
        self._comparisons = comparisons
        self._join = join

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Return whether the joined comparisons hold."""
        return self._join([comparison.holds(data) for comparison in self._comparisons])
