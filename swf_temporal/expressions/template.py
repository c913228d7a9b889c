"""Finds the expressions in a text, and fills JSON with their outcomes.

`${` starts an expression anywhere in a text, and the `}` that closes it is found by jq's syntax: braces
within braces, strings and comments do not count. There is no escape; a text that needs `${` itself is written
`${ "${" }`.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from swf_temporal.base.accounting import check_size, current_account, json_size
from swf_temporal.base.data import JSON, kind_of
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.compiled import NOTHING, BadExpression, Compiled, Constant, EvaluationOutcome, Variables
from swf_temporal.expressions.lexing import tokens

_OPENING = "${"
_PARTS = 64
"""The number of parts of an object or array that are filled for a cost of 1."""


class EmbeddedExpression(NamedTuple):
    """An expression in a text: the content of the braces, and its offset."""

    text: str
    offset: int


@lru_cache(maxsize=4096)
def split(text: str) -> tuple[str | EmbeddedExpression, ...]:
    """Return the plain pieces and the expressions of a text, in order, without empty pieces.

    Raises BadExpression if a `${` is not closed.
    """
    pieces: list[str | EmbeddedExpression] = []
    at = 0
    while (start := text.find(_OPENING, at)) >= 0:
        if start > at:
            pieces.append(text[at:start])
        end = _closing(text, start + len(_OPENING))
        pieces.append(EmbeddedExpression(text[start + len(_OPENING) : end], start + len(_OPENING)))
        at = end + 1
    if at < len(text):
        pieces.append(text[at:])
    return tuple(pieces)


def sole(pieces: Sequence[str | EmbeddedExpression]) -> EmbeddedExpression | None:
    """Return the expression that a text consists of, apart from blanks around it, or None."""
    found = [piece for piece in pieces if isinstance(piece, EmbeddedExpression)]
    blank = all(isinstance(piece, EmbeddedExpression) or not piece.strip() for piece in pieces)
    return found[0] if blank and len(found) == 1 else None


def compiled_text(text: str, compile_source: Callable[[str], Compiled]) -> Compiled:
    """Compile a text: it becomes the outcome of its only expression, or a text of several pieces."""
    if _OPENING not in text:
        return Constant(text)
    pieces = split(text)
    only = sole(pieces)
    if only is not None:
        return _compiled(only, compile_source)
    return Joined([piece if isinstance(piece, str) else _compiled(piece, compile_source) for piece in pieces])


def filled(value: JSON, compile_text: Callable[[str], Compiled]) -> Compiled:
    """Compile *value*, in which all texts are filled, however deep; keys of objects are left as they are."""
    if isinstance(value, str):
        return compile_text(value)
    parts: list[tuple[str | int, JSON]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    live = [(key, part) for key, item in parts if not _is_as_written(part := filled(item, compile_text), item)]
    if not live or not isinstance(value, dict | list):
        return Constant(value)
    return _Filled(value, live)


def _is_as_written(part: Compiled, item: JSON) -> bool:
    """Return whether *part* is *item* itself: an expression may be constant, too, but yields another value."""
    return isinstance(part, Constant) and part.value is item


def joined(texts: Iterable[str]) -> str:
    """Return *texts* as one. Raises ExpressionLimitExceeded, before joining them, if it would be too long."""
    pieces: list[str] = []
    size = 0
    for text in texts:
        size += len(text)
        check_size(size)
        pieces.append(text)
    current_account().charge_copy(size)
    return "".join(pieces)


class Joined:
    __slots__ = ("_pieces", "mentions")

    constant = False
    kinds = frozenset({"string"})

    def __init__(self, pieces: Sequence[str | Compiled]) -> None:
        self._pieces = pieces
        self.mentions = _mentions([piece for piece in pieces if not isinstance(piece, str)])

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the pieces and the outcomes of the expressions as one text."""
        return joined(piece if isinstance(piece, str) else _as_text(piece(data, variables)) for piece in self._pieces)


class _Filled:
    """An object or an array with expressions somewhere in it."""

    __slots__ = ("_cost", "_live", "_value", "kinds", "mentions")

    constant = False

    def __init__(self, value: dict[str, JSON] | list[JSON], live: Sequence[tuple[str | int, Compiled]]) -> None:
        self.kinds = frozenset({kind_of(value)})
        self._value = value
        self._live = live
        self._cost = len(live) // _PARTS
        self.mentions = _mentions([part for _, part in live])

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        if self._cost:
            current_account().cost += self._cost
        value = self._value.copy()
        for key, part in self._live:
            result = part(data, variables)
            # An object cannot contain nothing; users of jq expect null in its place.
            value[key] = None if result is NOTHING else result  # type: ignore[index]  # a key or an index of what it is
        return value


def _closing(text: str, start: int) -> int:
    depth = 0
    for token in tokens(text, start):
        if token.kind == "open":
            depth += 1
        elif token.kind == "close":
            if depth == 0 and token.text == "}":
                return token.offset
            depth -= 1
    raise BadExpression("'${' is not closed", start - len(_OPENING))


def _compiled(source: EmbeddedExpression, compile_source: Callable[[str], Compiled]) -> Compiled:
    try:
        return compile_source(source.text)
    except BadExpression as error:
        raise error.moved(source.offset) from None


def _as_text(value: EvaluationOutcome) -> str:
    # As in jq's string interpolation.
    if isinstance(value, str):
        return value
    if value is NOTHING:
        return ""
    sizes: dict[int, int] = {}
    check_size(json_size(value, sizes=sizes))
    return write_json(value, ensure_ascii=False, sizes=sizes)


def _mentions(parts: Sequence[Compiled]) -> frozenset[str]:
    return frozenset[str]().union(*(part.mentions for part in parts))
