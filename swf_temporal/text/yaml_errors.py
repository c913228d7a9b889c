"""Explains why a text does not read as YAML, in the words of its author."""

import re

import yaml

from swf_temporal.base.errors import Position, Problem
from swf_temporal.text.origin import Source

LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

_OPEN = "this text has no closing quote"
_ENDLESS = "found unexpected end of stream"
_TOO_DEEP = "exceeded maximum nesting depth"
_QUOTES = ("'", '"')
_HOLDS_MORE = re.compile(r"[:,]\s|\n")
"""A pattern of texts that go on beyond their own end: another key, another element."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TAB = "YAML is indented with blanks: replace the tab"
_MORE = "there is more after the end of the definition"
_EXPLAINED = {
    "mapping values are not allowed": (
        "a colon cannot stand here",
        "is a line above indented differently, or does a text with ': ' need quotes?",
    ),
    "found character that cannot start any token": (
        "this character cannot start a value",
        "put the text in quotes",
    ),
    "did not find expected key": (
        "a key is expected here",
        "is this line indented like the ones it belongs to, and are quotes and brackets closed?",
    ),
    "did not find expected '-' indicator": (
        "an element of a list is expected here",
        "start the line with '- ', or indent it like the keys it belongs to",
    ),
    "could not find expected ':'": ("a colon is missing after a key", "write 'key: value'"),
    "found undefined alias": ("this alias refers to nothing", None),
    "did not find expected ',' or": ("a comma or a closing bracket is missing", None),
    "did not find expected node content": (
        "a value is missing here",
        "is a bracket not closed, or is there a comma too many?",
    ),
    "found unknown escape character": (
        "a backslash in double quotes must be doubled",
        "or put the text in single quotes, where a backslash means itself",
    ),
    "block sequence entries are not allowed": (
        "a list cannot start here",
        "put the '-' on a line of its own, indented under its key",
    ),
    "did not find expected <document start>": (_MORE, None),
}  # fmt: skip


def is_of_surrogate(error: yaml.YAMLError, text: str) -> bool:
    """Tell whether libyaml met half of a surrogate pair, which it does not read: JSON writes characters as two."""
    mark = getattr(error, "problem_mark", None)
    return mark is not None and _SURROGATE.match(text, max(mark.index - 2, 0)) is not None


def where_too_deep(error: yaml.YAMLError) -> int | None:
    """Return how many characters were read before brackets were nested deeper than libyaml reads, from 0.2.6 on."""
    mark = getattr(error, "problem_mark", None)
    return mark.index if mark is not None and getattr(error, "problem", None) == _TOO_DEEP else None


def explain(error: yaml.YAMLError, source: Source) -> Problem:
    """Return what *error* means to the author of *source*."""
    opened, mark = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    mark = mark or opened
    problem_text = str(getattr(error, "problem", None) or "this is not YAML")
    if opened is not None and problem_text == _ENDLESS:
        return source.problem("syntax", _OPEN, _position(opened))
    position = Position() if mark is None else _position(mark)
    message, hint = next(
        (explained for known, explained in _EXPLAINED.items() if known in problem_text), (problem_text, None)
    )
    if message == _MORE and _is_indented(source.text):
        message, hint = "this line is indented less than the first one", "indent them alike"
    problem = source.problem("syntax", message, position, hint)
    if _tabbed(problem):
        return source.problem("syntax", message, position, _TAB)
    return (None if mark is None else _open_before(mark, source)) or problem


def _open_before(mark: yaml.Mark, source: Source) -> Problem | None:
    """Return the problem that a text is not closed, if one ends at *mark* where another was probably to begin.

    A quote that is not closed ends at the next one, which was meant to open a text: what that holds then stands in the
    open, and is what YAML complains about.
    """
    text, last = source.text.removeprefix("\ufeff"), None
    try:
        for token in yaml.scan(text, Loader=LOADER):
            if token.start_mark.index >= mark.index:
                break
            last = token
    except yaml.YAMLError:
        pass  # that is what is explained
    if not isinstance(last, yaml.ScalarToken) or last.style not in _QUOTES or last.end_mark.index != mark.index:
        return None
    if not _HOLDS_MORE.search(text[last.start_mark.index : last.end_mark.index]):
        return None
    hint = f"it ends at the next quote, in line {last.end_mark.line + 1}, column {last.end_mark.column}"
    return source.problem("syntax", _OPEN, _position(last.start_mark), hint)


def _is_indented(text: str) -> bool:
    """Tell whether the first line that says something begins with a blank."""
    lines = (line for line in text.removeprefix("\ufeff").splitlines() if not line.lstrip().startswith(("#", "---")))
    return next((line for line in lines if line.strip()), "").startswith(" ")


def _position(mark: yaml.Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _tabbed(problem: Problem) -> bool:
    indentation = problem.line[: len(problem.line) - len(problem.line.lstrip())]
    return "\t" in indentation or problem.line[problem.position.column - 1 : problem.position.column] == "\t"
