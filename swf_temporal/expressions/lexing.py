r"""Splits jq expressions into words.

The words are those of jq: a bracket inside a string or a comment is not a bracket, and the content of `\( … )` in a
string is program again.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from swf_temporal.expressions.compiled import BadExpression

ASSIGNING = frozenset({"=", "|=", "+=", "-=", "*=", "/=", "%=", "//="})
"""The operators that yield their input with a part of it changed."""

_ENCLOSING = frozenset({"if", "reduce", "foreach", "try", "def", "label"})
"""Keywords that enclose other expressions: an assignment inside them need not be the result."""


class Token(NamedTuple):
    """A word: its kind, its text and where it starts. A string comes in parts, with its quotes as tokens."""

    kind: str
    text: str
    offset: int


_WORD = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<comment>\#(?:\\(?:\\|\r?\n)|[^\n])*)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<field>\.[a-zA-Z_][a-zA-Z_0-9]*)"
    r"|(?P<variable>\$[a-zA-Z_](?:[a-zA-Z_0-9]|::)*)"
    r"|(?P<format>@[a-zA-Z0-9_]+)"
    r"|(?P<name>(?:[a-zA-Z_][a-zA-Z_0-9]*::)*[a-zA-Z_][a-zA-Z_0-9]*)"
    r"|(?P<quote>\")"
    r"|(?P<open>[(\[{])"
    r"|(?P<close>[)\]}])"
    r"|(?P<operator>\?//=|\?//|\|=|\+=|-=|\*=|/=|%=|//=|==|!=|//|<=|>=|\.\.|.)",
    re.DOTALL,
)
_IN_STRING = re.compile(r"(?P<text>[^\"\\]+)|(?P<quote>\")|(?P<open>\\\()|(?P<escape>\\.?)", re.DOTALL)
_CLOSES = {"(": ")", "[": "]", "{": "}", "\\(": ")"}


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """Yield the words of the expression that starts at *start*, without blanks and comments.

    Raises BadExpression at an unmatched closing bracket; the caller must have handled those that enclose the
    expression itself, such as the one of `${ … }`.
    """
    open_: list[Token] = []
    in_string = False
    at = start
    while at < len(text):
        match = (_IN_STRING if in_string else _WORD).match(text, at)
        assert match is not None  # noqa: S101 - each pattern ends by taking any character
        token = Token(match.lastgroup or "", match[0], at)
        at = match.end()
        if token.kind in ("space", "comment"):
            continue
        yield token
        if token.kind == "open":
            open_.append(token)
            in_string = False
        elif token.kind == "close":
            if not open_ or _CLOSES[open_[-1].text] != token.text:
                raise BadExpression(f"'{token.text}' closes nothing", token.offset)
            in_string = open_.pop().text == "\\("
        elif token.kind == "quote":
            if in_string:
                open_.pop()
                in_string = False
            else:
                open_.append(token)
                in_string = True
    if open_:
        what = "this string" if open_[-1].kind == "quote" else f"'{open_[-1].text[-1]}'"
        raise BadExpression(f"{what} is not closed", open_[-1].offset)


def assigns(text: str) -> bool:
    """Return True if the last step of a valid expression assigns to a field, so that it yields the data around it."""
    depth, to_field, assigns, begins = 0, False, False, True
    for token in tokens(text):
        if token.kind in ("close", "quote"):
            depth -= token.kind == "close"
        elif token.kind == "name" and token.text in _ENCLOSING:
            return False
        elif depth == 0:
            if begins:
                to_field, assigns = token.kind == "field", False
            assigns = assigns or (to_field and token.kind == "operator" and token.text in ASSIGNING)
        begins = depth == 0 and token.kind == "operator" and token.text == "|"
        depth += token.kind == "open"
    return assigns
