"""Event expressions: the triggers that an entry of an event state needs, as in `(first or second) and third`.

A word is `and`, `or`, a parenthesis, or else part of the name of a trigger; a name with blanks may be in quotes. `and`
has precedence over `or`. Both words are case-insensitive, since the texts write them in both ways.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from swf_temporal.languages.serverless_workflow.model.states import EventNeed

MAX_DEPTH: Final = 40
"""The nesting limit of parentheses."""

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<sign>[()]|&&|\|\|)|"(?P<quoted>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s()"'&|]+))"""
)
_WORDS: Final = {"and": "and", "&&": "and", "or": "or", "||": "or", "(": "(", ")": ")"}


class BadEventExpression(ValueError):  # noqa: N818 - named for what it is about
    """An event expression that cannot be read. `offset` counts characters from 0."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True, slots=True)
class _Token:
    sign: str
    """`and`, `or` or a parenthesis; empty for a name."""
    text: str
    offset: int


def parsed(text: str, known: Collection[str] = ()) -> EventNeed:
    """Return the events that *text* requires; *known* are names of several words. Raises BadEventExpression."""
    return _Parser(text, _tokens(text, known)).whole()


def names_in(need: EventNeed) -> tuple[str, ...]:
    """Return the triggers in *need*, each once, in the order written."""
    if need.join == "event":
        return (need.ref,)
    return tuple(dict.fromkeys(name for part in need.parts for name in names_in(part)))


class _Parser:
    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> EventNeed:
        need = self._alternatives()
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            raise BadEventExpression(f"'and' or 'or' is missing before {token.text!r}", token.offset)
        return need

    def _alternatives(self) -> EventNeed:
        parts = [self._conjunction()]
        while self._peek() == "or":
            self._at += 1
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else EventNeed(join="or", parts=tuple(parts))

    def _conjunction(self) -> EventNeed:
        parts = [self._operand()]
        while self._peek() == "and":
            self._at += 1
            parts.append(self._operand())
        return parts[0] if len(parts) == 1 else EventNeed(join="and", parts=tuple(parts))

    def _operand(self) -> EventNeed:
        if self._at >= len(self._tokens):
            raise BadEventExpression("the name of a trigger is missing at the end", len(self._text))
        token = self._tokens[self._at]
        self._at += 1
        if token.sign == "(":
            return self._in_parentheses(token)
        if token.sign:
            raise BadEventExpression(f"the name of a trigger is missing before {token.text!r}", token.offset)
        return EventNeed(join="event", ref=token.text)

    def _in_parentheses(self, opening: _Token) -> EventNeed:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadEventExpression("parentheses are nested too deeply", opening.offset)
        need = self._alternatives()
        if self._peek() != ")":
            raise BadEventExpression("this parenthesis is not closed", opening.offset)
        self._at += 1
        self._depth -= 1
        return need

    def _peek(self) -> str:
        return self._tokens[self._at].sign if self._at < len(self._tokens) else ""


def _tokens(text: str, known: Collection[str]) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            raise BadEventExpression(f"{rest[:1]!r} is not known in an event expression", len(text) - len(rest))
        start = match.start(match.lastgroup or 0)
        token = match[match.lastgroup or 0]
        sign = _WORDS.get(token.lower(), "") if match.lastgroup in ("sign", "word") else ""
        if match.lastgroup in ("quoted", "single") or sign:
            found.append(_Token(sign, token, start))
            at = match.end()
            continue
        name = _longest(text, start, known) or token
        found.append(_Token("", name, start))
        at = start + len(name)
    return found


def _longest(text: str, start: int, known: Collection[str]) -> str | None:
    """Return the longest of the names *known* at *start* that is followed by a delimiter."""
    candidates = [
        name for name in known if text.startswith(name, start) and text[start + len(name) :][:1] in _AFTER_A_NAME
    ]
    return max(candidates, key=len, default=None)


_AFTER_A_NAME: Final = ("", " ", "\t", "\n", "\r", "(", ")", "&", "|")
