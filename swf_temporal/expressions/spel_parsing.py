"""The parser of conditions in the Spring Expression Language, and the parts that it returns."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias
from typing import Literal as TypingLiteral

from swf_temporal.base.data import JSON
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.expressions.patterns import BadPattern, compiled

MAX_DEPTH: Final = 40
"""The nesting limit of parentheses and `not`."""
WHOLE: Final = frozenset({"taskOutputData", "stateOutputData", "taskData", "stateData"})
"""The names of the data as a whole."""

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
_JOINING: Final = {"and": "and", "&&": "and", "or": "or", "||": "or", "not": "not", "!": "not"}
_CONSTANTS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None}
_KNOWN: Final = "supported: eq ne lt le gt ge is matches, and or not, JSONPath, #jsonPath(data, 'path'), literals"


@dataclass(frozen=True, slots=True)
class Literal:
    value: JSON


@dataclass(frozen=True, slots=True)
class PathValues:
    """The values that a path finds in the data or, with a name before it, in the value of that name."""

    path: EarlyPath
    of: "Operand | None" = None


@dataclass(frozen=True, slots=True)
class Named:
    """A name for the data as a whole, unless the data has such a key: *whole* is the path without that name."""

    first: str
    path: EarlyPath
    whole: EarlyPath


Operand: TypeAlias = Literal | PathValues | Named


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison by `==`, `!=`, `<`, `<=`, `>`, `>=` or `matches`."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Alone:
    """A value used as a condition: it holds if the value is neither null nor false."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions of which all, or any, have to hold."""

    word: TypingLiteral["and", "or"]
    parts: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Negated:
    """A condition that must not hold."""

    inner: "Condition"


Condition: TypeAlias = Compared | Alone | Joined | Negated


def parsed(text: str) -> Condition:
    """Parse the condition *text*. Raises BadExpression."""
    return _Parser(text).condition()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    offset: int


class _Parser:
    """The parser of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def condition(self) -> Condition:
        holds = self._alternatives()
        if self._at < len(self._tokens):
            raise self._refused(self._tokens[self._at])
        return holds

    def _alternatives(self) -> Condition:
        return self._joined("or", self._conjunction)

    def _conjunction(self) -> Condition:
        return self._joined("and", self._negation)

    def _joined(self, word: TypingLiteral["and", "or"], part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while _JOINING.get(self._peek()) == word:
            self._at += 1
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _negation(self) -> Condition:
        if _JOINING.get(self._peek()) != "not":
            return self._comparison()
        with_not = self._next()
        return Negated(self._nested(self._negation, with_not))

    def _comparison(self) -> Condition:
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
            return Alone(left)
        self._at += 1
        place = self._tokens[self._at] if self._at < len(self._tokens) else None
        right = self._operand()
        if operator == "matches" and place is not None and place.kind == "text":
            _check_pattern(place)
        return Compared(operator, left, right)

    def _nested(self, part: Callable[[], Condition], token: _Token) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadExpression("this is nested too deeply", token.offset)
        inner = part()
        self._depth -= 1
        return inner

    def _operand(self) -> Operand:
        token = self._next()
        match token.kind:
            case "text":
                return Literal(_unquoted(token.text))
            case "number":
                return Literal(_number(token))
            case "path":
                return PathValues(_path(token))
            case "call":
                return self._json_path(token)
            case "name" if token.text in _CONSTANTS:
                return Literal(_CONSTANTS[token.text])
            case "name" if token.text not in _COMPARISONS and token.text not in _JOINING:
                return _named(token.text)
            case _:
                raise self._refused(token)

    def _json_path(self, call: _Token) -> Operand:
        if call.text != "#jsonPath":
            raise BadExpression(f"the function {call.text!r} is not known; {_KNOWN}", call.offset)
        self._expect("(", call)
        of = self._next()
        if of.kind not in ("name", "path"):
            raise self._refused(of)
        root = PathValues(_path(of)) if of.kind == "path" else _named(of.text)
        self._expect(",", call)
        text = self._next()
        if text.kind != "text":
            raise BadExpression("the second argument of #jsonPath is a path in quotes", text.offset)
        path = _path(_Token("path", _unquoted(text.text), text.offset + 1))
        self._expect(")", call)
        return PathValues(path, root)

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
    """Return the end of the path that begins at *start*, including brackets and their contents."""
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


def _number(token: _Token) -> int | float:
    try:
        return float(token.text) if {".", "e", "E"} & set(token.text) else int(token.text)
    except ValueError:  # Python does not read integers of more than 4,300 digits
        raise BadExpression("this number has too many digits", token.offset) from None


def _named(name: str) -> Operand:
    """Return the operand that looks up a name in the data: a path, or a name of the data as a whole."""
    first, _, rest = name.partition(".")
    path = EarlyPath(f"$.{name}")
    return Named(first, path, EarlyPath(f"$.{rest}" if rest else "$")) if first in WHOLE else PathValues(path)


def _check_pattern(token: _Token) -> None:
    try:
        compiled(_unquoted(token.text))
    except BadPattern as bad:
        raise BadExpression(f"{token.text} is not a regular expression: {bad}", token.offset) from None


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0])
