"""Evaluates simple expressions, at a small part of jq's cost.

jq reads and writes all of the data even for `.a`. A simple expression becomes nested Python closures instead,
which access only what they name. They agree with jq exactly: if they could not, for a wrong type, an error or a number
that jq would print differently, they raise NotSupported. Then jq evaluates the whole expression, and reports the error
if there is one.
"""

import operator
from collections.abc import Callable, Collection
from functools import partial, reduce
from itertools import chain
from typing import Any, Final, TypeAlias

from swf_temporal.base.accounting import current_account, uncounted
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.compiled import Compiled, Constant, EvaluationOutcome, Variables, is_true
from swf_temporal.expressions.jq import JqProgram, TooLargeToCompile, shown
from swf_temporal.expressions.parsing import (
    ArrayOf,
    BinaryOperation,
    Builtin,
    Identity,
    IfElse,
    Index,
    Literal,
    ObjectOf,
    Tree,
    Variable,
    is_fixed,
    kinds_of,
    mentioned,
    parsed,
)

_MAX_EXACT = 2**53 - 1
"""The limit beyond which jq's numbers differ from Python's."""

_MAX_PLAIN = 1e15
_NUMBER, _TEXT = 3, 4

_ELEMENT, _MEMBER = 8, 48
"""The bytes of memory for an element of an array, and for a member of an object."""


class NotSupported(Exception):  # noqa: N818 - not an error: jq takes over
    """Only jq can evaluate this."""


class NoOutput(NotSupported):
    """An expression yields nothing, for which `//` has another; elsewhere jq takes over."""


def index(container: JSON, key: JSON) -> JSON:
    """Return an element; null if an object or array has none, and for null."""
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


def total(value: JSON) -> JSON:
    """Return the sum of the elements of an array, as `+` makes it of two at a time; null if there is none."""
    if not isinstance(value, list):
        raise NotSupported
    _make(_ELEMENT * len(value))  # also of numbers, so that looking at them has its cost
    parts = [one for one in value if one is not None]
    kinds = set(map(type, parts))
    if len(parts) > 1 and len(kinds) == 1 and (joined := _joined(kinds.pop(), parts)) is not None:
        return joined
    return reduce(add, parts, None)


def _joined(kind: type, parts: list[Any]) -> JSON:
    """Return all *parts* in one; None if they are not of a kind that is joined, but numbers or what cannot be added."""
    if kind is str:
        _make(sum(map(len, parts)))
        return "".join(parts)
    if kind is list:
        _make(_ELEMENT * sum(map(len, parts)))
        return list(chain.from_iterable(parts))
    if kind is dict:
        _make(_MEMBER * sum(map(len, parts)))
        return {key: item for part in parts for key, item in part.items()}
    return None


def subtract(left: JSON, right: JSON) -> JSON:
    """Return the difference of two numbers."""
    if type(left) is int and type(right) is int:
        return _exact(left, right, left - right)
    return _result(_number(left) - _number(right))


def multiply(left: JSON, right: JSON) -> JSON:
    """Return the product of two numbers, or two objects merged, with those in them."""
    if type(left) is int and type(right) is int:
        return _exact(left, right, left * right)
    if isinstance(left, dict) and isinstance(right, dict):
        return _merged(left, right)
    return _result(_number(left) * _number(right))


def _merged(left: dict[str, JSON], right: dict[str, JSON]) -> dict[str, JSON]:
    _make(_MEMBER * (len(left) + len(right)))
    made = {**left}
    for key, value in right.items():
        before = made.get(key)
        made[key] = _merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return made


def objects(value: JSON) -> JSON:
    """Return an object as it is; for anything else there is no output."""
    if isinstance(value, dict):
        return value
    raise NoOutput


def values(value: JSON) -> JSON:
    """Return anything but null as it is, for which there is no output."""
    if value is None:
        raise NoOutput
    return value


def tostring(value: JSON) -> JSON:
    """Return a text as it is, and other values as JSON."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if type(value) is int and abs(value) <= _MAX_EXACT:
        return str(value)
    raise NotSupported


def divide(left: JSON, right: JSON) -> JSON:
    """Return the quotient of two numbers."""
    divisor = _number(right)
    if divisor == 0:
        raise NotSupported
    return _result(_number(left) / divisor)


def compare(holds: Callable[[Any, Any], bool], left: JSON, right: JSON) -> JSON:
    """Return whether *holds* is true of two values in jq's order; values of different kinds are ordered by kind."""
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
    """Count bytes that are about to be made. An evaluation that makes too many is left to jq, which is limited."""
    account = current_account()
    if account.made + size > account.made_limit:
        raise NotSupported
    account.charge_copy(size)


def _rank(value: JSON) -> int:
    """Return the rank of a value's type in jq's order of all values."""
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
    elif type(value) is float and value - value == 0:  # false for infinities and NaN
        return value
    raise NotSupported


def _exact(left: int, right: int, result: int) -> int:
    """Return the *result* of two integers after the checks of `_number` and `_result`, without a call for each."""
    if -_MAX_EXACT <= left <= _MAX_EXACT and -_MAX_EXACT <= right <= _MAX_EXACT and -_MAX_EXACT <= result <= _MAX_EXACT:
        return result
    raise NotSupported


def _result(number: float) -> int | float:
    """Return a computed number as jq prints it: without `.0`."""
    if type(number) is int:
        return _number(number)
    if abs(number) < _MAX_PLAIN:
        return int(number) if number.is_integer() else number
    raise NotSupported


_Closure: TypeAlias = Callable[[JSON, Variables], JSON]

_LONG: Final = 1024
"""The number of characters of an expression that are evaluated for a cost of 1."""
_CALLS: Final[dict[str, Callable[[JSON], JSON]]] = {
    "add": total,
    "length": length,
    "not": lambda value: not is_true(value),
    "objects": objects,
    "tostring": tostring,
    "values": values,
}


def compiled(text: str, declared: Collection[str]) -> Compiled | None:
    """Compile a simple expression; None if only jq can evaluate it."""
    tree = parsed(text, declared)
    if tree is None:
        return None
    try:
        evaluate = _closure(tree)
        if is_fixed(tree):
            return Constant(uncounted(lambda: evaluate(None, {})))
        if "+" in text or "*" in text or "add" in text or len(text) > _LONG:
            evaluate = _counted(evaluate, len(text) // _LONG)
        return SimpleExpression(text, declared, tree, evaluate)
    except RecursionError:
        return None


class SimpleExpression:
    """An expression that Python evaluates if its result is certain to be jq's, and jq otherwise."""

    __slots__ = ("_declared", "_evaluate", "_program", "_text", "kinds", "mentions")

    constant = False

    def __init__(self, text: str, declared: Collection[str], tree: Tree, evaluate: _Closure) -> None:
        self.kinds = kinds_of(tree)
        self.mentions = mentioned(tree)
        self._text = text
        self._declared = declared
        self._evaluate = evaluate
        self._program: JqProgram | None = None

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the expression's only output."""
        try:
            return self._evaluate(data, variables)
        except (NotSupported, KeyError, RecursionError):  # jq also reports a variable without a value
            return self._by_jq()(data, variables)

    def _by_jq(self) -> JqProgram:
        if self._program is None:
            try:
                self._program = JqProgram(self._text, self._declared)
            except TooLargeToCompile as error:  # jq evaluates constant parts when it compiles
                raise ExpressionLimitExceeded(f"{error.message}: {shown(self._text)}", retryable=False) from None
        return self._program


def _closure(tree: Tree) -> _Closure:
    match tree:
        case Literal(value):
            return lambda _data, _variables: value
        case Identity():
            return lambda data, _variables: data
        case Variable(name):
            return lambda _data, variables: variables[name]
        case Index():
            return _lookup(tree)
        case ArrayOf(items):
            return _array([_closure(item) for item in items])
        case ObjectOf(members):
            pairs = [(key, _closure(member)) for key, member in members]
            return lambda data, variables: {key: part(data, variables) for key, part in pairs}
        case Builtin(name):
            call = _CALLS[name]
            return lambda data, _variables: call(data)
        case IfElse(condition, chosen, otherwise):
            test, one, other = _closure(condition), _closure(chosen), _closure(otherwise)
            return lambda data, variables: (one if is_true(test(data, variables)) else other)(data, variables)
        case BinaryOperation():
            return _operation(tree)


def _array(parts: list[_Closure]) -> _Closure:
    def array(data: JSON, variables: Variables) -> JSON:
        try:
            return [part(data, variables) for part in parts]
        except NoOutput:  # it is an array without that element
            raise NotSupported from None

    return array


def _counted(evaluate: _Closure, cost: int) -> _Closure:
    """Return the closure of an expression that may make large data from small data, or is long."""

    def counted(data: JSON, variables: Variables) -> JSON:
        account = current_account()
        account.begin_evaluation()
        account.cost += cost
        return evaluate(data, variables)

    return counted


def _lookup(tree: Index) -> _Closure:
    """Return the closure for a chain of look-ups, without a call for each if the keys are names."""
    keys: list[str] = []
    start: Tree = tree
    while isinstance(start, Index) and isinstance(start.key, Literal) and isinstance(start.key.value, str):
        keys.insert(0, start.key.value)
        start = start.container
    if not keys:
        container, key = _closure(tree.container), _closure(tree.key)
        return lambda data, variables: index(container(data, variables), key(data, variables))
    if isinstance(start, Identity):
        return _member(keys[0]) if len(keys) == 1 else _chain(keys)
    first, rest = _closure(start), _chain(keys)
    return lambda data, variables: rest(first(data, variables), variables)


def _member(key: str) -> _Closure:
    def member(data: JSON, _variables: Variables) -> JSON:
        if isinstance(data, dict):
            return data.get(key)
        if data is None:
            return None
        raise NotSupported

    return member


def _chain(keys: list[str]) -> _Closure:
    def chain(data: JSON, _variables: Variables) -> JSON:
        for key in keys:
            if isinstance(data, dict):
                data = data.get(key)
            elif data is not None:
                raise NotSupported
        return data

    return chain


def _operation(tree: BinaryOperation) -> _Closure:
    left, right = _closure(tree.left), _closure(tree.right)
    match tree.sign:
        case "|":
            return lambda data, variables: right(left(data, variables), variables)
        case "and":
            return lambda data, variables: is_true(left(data, variables)) and is_true(right(data, variables))
        case "or":
            return lambda data, variables: is_true(left(data, variables)) or is_true(right(data, variables))
        case "//":
            return _alternative(left, right)
        case sign:
            combine = SIGNS[sign]
            return lambda data, variables: combine(left(data, variables), right(data, variables))


def _alternative(left: _Closure, right: _Closure) -> _Closure:
    def alternative(data: JSON, variables: Variables) -> JSON:
        try:
            value = left(data, variables)
        except NoOutput:
            return right(data, variables)
        return value if is_true(value) else right(data, variables)

    return alternative
