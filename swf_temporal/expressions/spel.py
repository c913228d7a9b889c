"""The part of the Spring Expression Language that the draft of May 2020 writes its conditions in.

Comparisons (`eq` or `==`, `ne`, `lt`, `le`, `gt`, `ge`, `is`, `matches`) of what paths find with literals, joined by
`and`, `or` and `not`, with parentheses. A value is a literal, a JSONPath such as `$.error.name`, the call
`#jsonPath(taskOutputData, '$..title')`, or a name such as `name` or `error.name`, which is looked up in the data. What
else the language has (methods, types, beans, assignments) would reach into a machine that is not there: it is refused.

A value that may be several, as of `$..title`, fits a comparison if one of them does.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from swf_temporal.data import JSON, identity
from swf_temporal.errors import ExpressionFailed
from swf_temporal.expressions.comparing import matches
from swf_temporal.expressions.compiled import BadExpression, Outcome, Variables, is_true
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.patterns import BadPattern, compiled

LANGUAGE: Final = "spel"
MAX_DEPTH: Final = 40
"""How deep parentheses and `not` may be nested."""
WHOLE: Final = frozenset({"taskOutputData", "stateOutputData", "taskData", "stateData"})
"""Names of the data as a whole."""

_Value: TypeAlias = Callable[[JSON], Sequence[JSON]]
"""Yields the values that an operand may have: none where it finds nothing."""
_Truth: TypeAlias = Callable[[JSON], bool]

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
      | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<call>\#\w+)
      | (?P<path>\$)
      | (?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)
      | (?P<sign>==|!=|<=|>=|&&|\|\||[<>!(),])
    )""",
    re.VERBOSE,
)
_PATH_STEP: Final = re.compile(r"\.{0,2}(?:\*|\w+(?:-\w+)*)")
_COMPARISONS: Final = {
    "eq": "==", "==": "==", "is": "==", "ne": "!=", "!=": "!=", "lt": "<", "<": "<", "le": "<=", "<=": "<=",
    "gt": ">", ">": ">", "ge": ">=", ">=": ">=", "matches": "matches",
}  # fmt: skip
_ORDERS: Final = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}
_JOINING: Final = {"and": "and", "&&": "and", "or": "or", "||": "or", "not": "not", "!": "not"}
_CONSTANTS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None}
_KNOWN: Final = "what is known: eq ne lt le gt ge is matches, and or not, JSONPath, #jsonPath(data, 'path'), literals"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    offset: int


class SpelCondition:
    """A condition that compiles: true or false of an object."""

    __slots__ = ("_holds", "text")

    constant = False
    kinds = frozenset({"boolean"})
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str) -> None:
        """Compile *text*. Raises BadExpression, which says what of it is not known here."""
        self.text = text
        self._holds = _Parser(text).condition()

    def __call__(self, data: JSON, _variables: Variables) -> Outcome:
        """Tell whether the condition holds of *data*. Raises ExpressionFailed where values have no order."""
        try:
            return self._holds(data)
        except ExpressionFailed as failed:
            raise ExpressionFailed(f"'{self.text}' fails on the data: {failed.message}") from None


class _Parser:
    """One reading of one text, from its first word to its last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def condition(self) -> _Truth:
        holds = self._alternatives()
        if self._at < len(self._tokens):
            raise self._refused(self._tokens[self._at])
        return holds

    def _alternatives(self) -> _Truth:
        return self._joined("or", self._conjunction, any)

    def _conjunction(self) -> _Truth:
        return self._joined("and", self._negation, all)

    def _joined(self, word: str, part: Callable[[], _Truth], quantifier: Callable[..., bool]) -> _Truth:
        parts = [part()]
        while _JOINING.get(self._peek()) == word:
            self._at += 1
            parts.append(part())
        return parts[0] if len(parts) == 1 else lambda data: quantifier(one(data) for one in parts)

    def _negation(self) -> _Truth:
        if _JOINING.get(self._peek()) != "not":
            return self._comparison()
        with_not = self._next()
        inner = self._nested(self._negation, with_not)
        return lambda data: not inner(data)

    def _comparison(self) -> _Truth:
        if self._peek() == "(":
            opening = self._next()
            holds = self._nested(self._alternatives, opening)
            if self._peek() != ")":
                raise BadExpression("'(' is not closed", opening.offset)
            self._at += 1
            return holds
        left = self._operand()
        operator = _COMPARISONS.get(self._peek())
        if operator is None:
            return lambda data: any(is_true(one) for one in left(data))
        self._at += 1
        place = self._tokens[self._at] if self._at < len(self._tokens) else None
        right = self._operand()
        if operator == "matches" and place is not None and place.kind == "text":
            _check_pattern(place)
        return _compared(operator, left, right)

    def _nested(self, part: Callable[[], _Truth], token: _Token) -> _Truth:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadExpression("this is nested too deeply", token.offset)
        inner = part()
        self._depth -= 1
        return inner

    def _operand(self) -> _Value:
        token = self._next()
        match token.kind:
            case "text":
                value: JSON = _unquoted(token.text)
                return lambda _: (value,)
            case "number":
                number: JSON = float(token.text) if {".", "e", "E"} & set(token.text) else int(token.text)
                return lambda _: (number,)
            case "path":
                return _path(token).found
            case "call":
                return self._json_path(token)
            case "name" if token.text in _CONSTANTS:
                constant = _CONSTANTS[token.text]
                return lambda _: (constant,)
            case "name" if token.text not in _COMPARISONS and token.text not in _JOINING:
                return _named(token.text)
            case _:
                raise self._refused(token)

    def _json_path(self, call: _Token) -> _Value:
        if call.text != "#jsonPath":
            raise BadExpression(f"the function {call.text!r} is not known; {_KNOWN}", call.offset)
        self._expect("(", call)
        of = self._next()
        if of.kind not in ("name", "path"):
            raise self._refused(of)
        root = _path(of).found if of.kind == "path" else _named(of.text)
        self._expect(",", call)
        text = self._next()
        if text.kind != "text":
            raise BadExpression("the second argument of #jsonPath is a path in quotes", text.offset)
        path = _path(_Token("path", _unquoted(text.text), text.offset + 1))
        self._expect(")", call)
        return lambda data: [found for one in root(data) for found in path.found(one)]

    def _peek(self) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        return "" if token is None or token.kind == "text" else token.text

    def _next(self) -> _Token:
        if self._at >= len(self._tokens):
            raise BadExpression("this ends where a value is expected", len(self._text.rstrip()))
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, sign: str, call: _Token) -> None:
        if self._peek() != sign:
            raise BadExpression("#jsonPath is written #jsonPath(taskOutputData, '$.path')", call.offset)
        self._at += 1

    def _refused(self, token: _Token) -> BadExpression:
        return BadExpression(f"{token.text!r} is not expected here; {_KNOWN}", token.offset)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise BadExpression(f"{text[start:].split(maxsplit=1)[0]!r} is not known; {_KNOWN}", start)
        kind, start = match.lastgroup, match.start(match.lastgroup)
        at = _end_of_path(text, start) if kind == "path" else match.end()
        found.append(_Token(kind, text[start:at], start))
    return found


def _end_of_path(text: str, start: int) -> int:
    """Return where the path ends that begins at *start*: brackets and what is within belong to it."""
    at = start + 1
    while at < len(text):
        if text[at] == "[":
            at = _after_bracket(text, at)
            continue
        match = _PATH_STEP.match(text, at)
        if match is None or not match[0]:
            break
        at = match.end()
    return at


def _after_bracket(text: str, start: int) -> int:
    depth, quote = 0, ""
    for at in range(start, len(text)):
        character = text[at]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            depth += (character == "[") - (character == "]")
            if depth == 0:
                return at + 1
    raise BadExpression("'[' is not closed", start)


def _path(token: _Token) -> EarlyPath:
    try:
        return EarlyPath(token.text)
    except BadExpression as error:
        raise BadExpression(error.message, token.offset) from None


def _named(name: str) -> _Value:
    """Return what looks a name up in the data: as a path does, but for names of the data as a whole."""
    first, _, rest = name.partition(".")
    path = EarlyPath(f"$.{name}")
    whole = EarlyPath(f"$.{rest}" if rest else "$") if first in WHOLE else None

    def found(data: JSON) -> Sequence[JSON]:
        if whole is not None and not (isinstance(data, dict) and first in data):
            return whole.found(data)
        return path.found(data)

    return found


def _compared(operator: str, left: _Value, right: _Value) -> _Truth:
    """Return what compares two operands; what finds nothing is null."""

    def holds(data: JSON) -> bool:
        pairs = [(one, other) for one in left(data) or (None,) for other in right(data) or (None,)]
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


def _check_pattern(token: _Token) -> None:
    try:
        compiled(_unquoted(token.text))
    except BadPattern as bad:
        raise BadExpression(f"{token.text} is not a regular expression: {bad}", token.offset) from None


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0])
