"""Hints for expressions that do not compile: what the author may have meant, or can write instead."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.lexing import tokens
from swf_temporal.text.suggestions import meant_or_known

_NAMES: Final = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*")
"""A path without its leading `$`."""
_LEAVE_OUT: Final = "leave it out to select everything"
_A_PATH: Final = "'$.order.id', '$.items[0]' or '$.items[?(@.price > 10)]'"
_A_CONDITION: Final = "write a comparison, such as '$.age gt 18'; and, or and not join several"
_EXPECTS_MORE: Final = re.compile(
    r"(?:[|,+\-*/%=<>:?.]+|\b(?:and|or|not|then|else|if|as|elif|reduce|foreach|try|catch))$"
)
_BRACES: Final = re.compile(r"\$\{(?P<jq>.*)\}|\{\{(?P<older>.*)\}\}", re.DOTALL)
_OF_OTHER_LANGUAGES: Final = {
    "&&": "jq writes 'and' for &&",
    "||": "jq writes 'or' for ||",
    "!==": "jq writes '!=' for !==",
    "===": "jq writes '==' for ===",
    "!": "jq writes '(...) | not' for !(...)",
    "'": 'jq writes texts in double quotes: "..."',
}
_SHOWN_BY: Final = ("character", "'|'", "'='")
"""Unexpected tokens, in jq's words, that may be a sign of another language."""
_JSON_PATH: Final = re.compile(r"\$(?P<jq>\.(?!\.)(?:(?!\[[?*]|\.[.*]).)*)", re.DOTALL)
"""A JSONPath that is jq without its `$`."""
_ELEMENTS: Final = "'.items[]' for '$.items[*]', and '.items[] | select(.price > 10)' for a filter"
_IN_PARENTHESES: Final = ("as", "def", "label")
"""Words that the value of a key has only within parentheses."""
_PLACE: Final = "write the path of a field in the data, such as '.result'"
_UNEXPECTED: Final = re.compile(r"syntax error, unexpected (?P<what>.+)")
_UNDEFINED: Final = re.compile(r"\$(?P<name>\w+) is not defined")


def hint_for_path(text: str, *, in_braces: bool = False) -> str:
    """Return a hint for *text*, which is not a JSONPath; *in_braces* if paths are in braces, as in 0.5."""
    text = text.strip()
    if not text:
        return _LEAVE_OUT
    if "${" in text or text.startswith("{{"):
        return f"write the path without braces, such as {_A_PATH}"
    if _NAMES.fullmatch(text):
        path = f"$.{text.removeprefix('.')}"
        return f"did you mean '{{{{ {path} }}}}'?" if in_braces else f"did you mean {path!r}?"
    return f"write a path into the data, such as {_A_PATH}"


def hint_for_condition(text: str) -> str:
    """Return a hint for *text*, which is not a condition in spel."""
    if "${" in text:
        return "${ } marks jq, which is supported since 0.6: write a comparison without it, such as '$.age gt 18'"
    return _A_CONDITION


def hint_for_variable(message: str, known: Iterable[str]) -> str | None:
    """Return a hint with the known variables, if *message* says that one is not defined."""
    undefined = _UNDEFINED.fullmatch(message)
    if undefined is None:
        return None
    return meant_or_known(f"${undefined['name']}", known)


def hint_for_syntax(message: str, text: str, *, is_marked: bool, is_target: bool) -> str | None:
    """Return a hint for the syntax error of jq in *message*.

    *is_marked* is True if *text* is in `${ }`, and *is_target* if it has to be a path in the data.
    """
    unexpected = _UNEXPECTED.match(message)
    if unexpected is None:
        return _PLACE if is_target and "is not a place" in message else None
    braces = _BRACES.fullmatch(text.strip())
    inner = (text if braces is None else braces["jq"] or braces["older"] or "").strip()
    if unexpected["what"] == "end of the expression":
        expects_more = _EXPECTS_MORE.search(inner)
        if expects_more is not None:
            return f"write what follows {expects_more[0]!r}, or remove it"
        return "close what is open: a bracket, a quote or an 'end' is missing"
    foreign = next((hint for mark, hint in _OF_OTHER_LANGUAGES.items() if mark in inner), None)
    if unexpected["what"] in _SHOWN_BY and foreign is not None:
        return foreign
    if unexpected["what"] in _IN_PARENTHESES and (value := _value_with(unexpected["what"], inner)) is not None:
        return f"write the value of a key in parentheses: {{{value}}}"
    if inner.startswith("$."):
        same = _JSON_PATH.fullmatch(inner)
        return f"that is a JSONPath: jq writes {_ELEMENTS if same is None else repr(same['jq'])}"
    if is_target:
        return _PLACE
    if is_marked:
        return "correct the jq here, or remove ${ } if a text is meant"
    return f"write '\"{inner}\"' if a text is meant, and jq such as '.order.id' if a field is"


def _value_with(word: str, jq: str) -> str | None:
    """Return the first key of an object in *jq* whose value has *word*, with the value in parentheses up to there."""
    enclosing: list[tuple[str, int, int | None]] = [("", 0, None)]  # bracket, begin of the key, begin of its value
    with suppress(BadExpression):
        for token in tokens(jq):
            bracket, key, value = enclosing[-1]
            if token.kind == "open":
                enclosing.append((token.text, token.offset + 1, None))
            elif token.kind == "close":
                enclosing.pop()
            elif bracket == "{" and token.text == ",":
                enclosing[-1] = (bracket, token.offset + 1, None)
            elif bracket == "{" and token.text == ":" and value is None:
                enclosing[-1] = (bracket, key, token.offset + 1)
            elif bracket == "{" and value is not None and token.kind == "name" and token.text == word:
                written = jq[value : token.offset].strip()
                return f"{jq[key:value].strip()} ({written}{' ' if written else ''}{word} …)"
    return None
