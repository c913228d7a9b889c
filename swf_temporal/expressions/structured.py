"""Structured jq: JSON whose texts may contain `jq( … )`, and `js( … )` with JavaScript.

A text that is one query becomes its result; if there is more in it, the results become parts of the text: texts as they
are, everything else as JSON with sorted keys and without blanks. Keys of objects are never evaluated. The bracket that
ends a query is found by jq's syntax, so that one in a string of the query does not count; likewise for a script.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from swf_temporal.base.accounting import check_size, json_size
from swf_temporal.base.data import JSON, Path, plain_numbers
from swf_temporal.base.errors import ExpressionFailed, FatalFault
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions import js, paths
from swf_temporal.expressions.compiled import NOTHING, BadExpression, Compiled, Several
from swf_temporal.expressions.jq import JqProgram
from swf_temporal.expressions.js import EngineMissing, JsProgram
from swf_temporal.expressions.lexing import tokens
from swf_temporal.expressions.template import joined

FAILED: Final = "QueryFailed"
"""The code of a query that cannot be read, that fails, or that yields nothing."""
NOT_OBJECT: Final = "NotAnObject"
"""The code of several results where only one is possible, and of a result that must be an object and is not."""
NOT_INSTALLED: Final = "NotInstalled"
"""The name of the error of a script without an engine; states cannot catch it."""

LANGUAGE: Final = "structured-jq"
"""Its name in records, if a query may yield null and several results have the code NOT_OBJECT."""
_OPTIONS: Final = {
    LANGUAGE: (False, NOT_OBJECT),
    f"{LANGUAGE}-without-null": (True, NOT_OBJECT),
    f"{LANGUAGE}-without-several": (False, FAILED),
    f"{LANGUAGE}-without-null-without-several": (True, FAILED),
}
"""Its names in records: whether a query that yields null is an error there, and the code of several results."""
_NAMES: Final = {options: name for name, options in _OPTIONS.items()}

_OPENING = re.compile(r"(jq|js)\(")
_ESCAPED = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
_MAX_CACHED = 10_000
_ahead: dict[str, JqProgram] = {}
"""The programs of queries that were compiled together, by their texts."""


class EmbeddedQuery(NamedTuple):
    """A query in a text: the content of its brackets, its offset, and the word before them, `jq` or `js`."""

    text: str
    offset: int
    word: str = "jq"

    def __str__(self) -> str:
        return f"{self.word}({self.text})"


def jq_fault(message: str, code: str = FAILED) -> ExpressionFailed:
    """Return the fault of an expression, with a *code* that languages map to their own errors."""
    return ExpressionFailed(message, name=code, code=code, retryable=False)


class _How(NamedTuple):
    now: float
    null_fails: bool


class StructuredJq:
    """Compiles the values of one definition, each once."""

    def __init__(self, *, null_fails: bool = False, several: str = NOT_OBJECT) -> None:
        """Make a compiler. With *null_fails*, a query that yields null is an error, as in releases since v0.6.1.

        *several* is the code of the error of several results where only one is possible.
        """
        self._null_fails = null_fails
        self._several = several
        self.language = _NAMES[null_fails, several]
        """Its name in records."""
        # By identity, each with its value: an id is valid only as long as its object lives.
        self._kept: dict[int, tuple[JSON, _Part]] = {}

    @classmethod
    def named(cls, language: str) -> "StructuredJq":
        """Return a compiler of the variant with the name *language* in records."""
        null_fails, several = _OPTIONS[language]
        return cls(null_fails=null_fails, several=several)

    def evaluate(self, value: JSON, data: JSON, now: float) -> JSON:
        """Return *value* with the results of its queries on *data*; null means the data itself.

        Raises ExpressionFailed, with one of the codes above, and ExpressionLimitExceeded.
        """
        results = self.results(value, data, now)
        if len(results) > 1:
            query = _shown(as_text(value))
            raise jq_fault(f"the query has {len(results)} results, and can have one here: {query}", self._several)
        return results[0]

    def results(self, value: JSON, data: JSON, now: float) -> list[JSON]:
        """Return all results, at least one; there can be several only if *value* is a single query."""
        if value is None:
            return [data]
        part, how = self._part(value), _How(now, self._null_fails)
        if isinstance(part, _Single):
            return part.results(data, how)
        return [_filled(part, data, how)]

    def _part(self, value: JSON) -> "_Part":
        if isinstance(value, str):
            return _compiled_text(value)
        known = self._kept.get(id(value))
        if known is not None:
            return known[1]
        if len(self._kept) >= _MAX_CACHED:
            self._kept.clear()
        compile_ahead(value)
        part = _compiled(value)
        self._kept[id(value)] = (value, part)
        return part


def problems_in(value: JSON, path: Path = ()) -> Iterator[tuple[Path, BadExpression]]:
    """Yield the errors of the queries in *value*, each with the path to its text. Offsets count within that text."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from problems_in(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from problems_in(item, (*path, index))
    elif isinstance(value, str):
        try:
            for piece in split(value):
                if isinstance(piece, EmbeddedQuery):
                    _program(piece)
        except BadExpression as error:
            yield path, error


def compile_ahead(value: JSON) -> None:
    """Compile the jq queries in *value* several at a time; those that fail then are compiled when they are needed."""
    texts = [text for text in _jq_texts(value) if text not in _ahead and paths.compiled(text, ()) is None]
    if len(_ahead) + len(texts) > _MAX_CACHED:
        _ahead.clear()
    _ahead.update(JqProgram.together(texts[:_MAX_CACHED], ()))


def _jq_texts(value: JSON) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _jq_texts(item)
    elif isinstance(value, str):
        with suppress(BadExpression):
            yield from (piece.text for piece in split(value) if isinstance(piece, EmbeddedQuery) and piece.word == "jq")


def split(text: str) -> list[str | EmbeddedQuery]:
    """Return the plain pieces and the queries of a text, in order; blanks around a text with queries are left out.

    Raises BadExpression if a query is not closed.
    """
    if _OPENING.search(text) is None:
        return [text]
    pieces: list[str | EmbeddedQuery] = []
    at, last = len(text) - len(text.lstrip()), len(text.rstrip())
    while (opening := _OPENING.search(text, at, last)) is not None:
        if opening.start() > at:
            pieces.append(text[at : opening.start()])
        end = _closing(text, opening.end(), opening[1])
        pieces.append(EmbeddedQuery(text[opening.end() : end], opening.end(), opening[1]))
        at = end + 1
    if at < last:
        pieces.append(text[at:last])
    return pieces


def as_text(value: JSON) -> str:
    """Return *value* as part of a text: a text as it is, everything else as JSON."""
    if isinstance(value, str):
        return value
    check_size(json_size(value))
    return write_json(plain_numbers(value), ensure_ascii=False, sort_keys=True, sizes={}).translate(_ESCAPED)


class _Single:
    __slots__ = ("_query",)

    def __init__(self, query: EmbeddedQuery) -> None:
        self._query = query

    def results(self, data: JSON, how: _How) -> list[JSON]:
        return _outputs(self._query, data, how)


class _Joined:
    __slots__ = ("_pieces",)

    def __init__(self, pieces: Sequence[str | EmbeddedQuery]) -> None:
        self._pieces = pieces

    def text(self, data: JSON, how: _How) -> str:
        return joined(
            piece if isinstance(piece, str) else as_text(_only(_outputs(piece, data, how), piece))
            for piece in self._pieces
        )


class _Broken:
    """A text that cannot be read: an error of the run, since a state may catch it."""

    __slots__ = ("_message",)

    def __init__(self, message: str) -> None:
        self._message = message

    def fault(self) -> ExpressionFailed:
        return jq_fault(self._message)


class _Literal:
    """A value that does not depend on the data."""

    __slots__ = ("value",)

    def __init__(self, value: JSON) -> None:
        self.value = value


_Part: TypeAlias = "_Single | _Joined | _Broken | _Literal | dict[str, _Part] | list[_Part]"


def _compiled(value: JSON) -> _Part:
    if isinstance(value, str):
        return _compiled_text(value)
    if isinstance(value, dict):
        return {key: _compiled(value[key]) for key in value}
    if isinstance(value, list):
        return [_compiled(item) for item in value]
    return _Literal(value)


@lru_cache(maxsize=4096)
def _compiled_text(text: str) -> _Part:
    try:
        pieces = split(text)
    except BadExpression as error:
        return _Broken(f"{error.message}: {_shown(text)}")
    if all(isinstance(piece, str) for piece in pieces):
        return _Literal(text)
    only = pieces[0]
    return _Single(only) if len(pieces) == 1 and isinstance(only, EmbeddedQuery) else _Joined(pieces)


def _filled(part: _Part, data: JSON, how: _How) -> JSON:
    match part:
        case dict():
            # Sorted, so that the first failure is the same wherever the definition was read.
            filled = {key: _filled(part[key], data, how) for key in sorted(part)}
            return {key: filled[key] for key in part}
        case list():
            return [_filled(item, data, how) for item in part]
        case _Single():
            return _only(part.results(data, how))
        case _Joined():
            return part.text(data, how)
        case _Broken():
            raise part.fault()
        case _Literal():
            return part.value


def _only(results: list[JSON], query: EmbeddedQuery | None = None) -> JSON:
    if len(results) > 1:
        where = f": {query}" if query else ""
        raise jq_fault(f"the query has {len(results)} results, and can have one here{where}")
    return results[0]


def _outputs(query: EmbeddedQuery, data: JSON, how: _How) -> list[JSON]:
    """Return the outputs of *query*. Raises ExpressionFailed if there are none."""
    try:
        program = _program(query)
    except EngineMissing as error:
        # Whether the engine is installed depends on the machine, and must not decide the course of a run.
        raise FatalFault(f"{error.message}: {query}", name=NOT_INSTALLED) from None
    except BadExpression as error:
        raise jq_fault(f"{error.message}: {query}") from None
    try:
        outcome = program(data, {"__now": how.now})
    except ExpressionFailed as fault:
        raise jq_fault(f"{fault.message.partition(': ${')[0]}: {query}") from None
    if outcome is NOTHING:
        raise jq_fault(f"the query has no result: {query}")
    results = list(outcome) if isinstance(outcome, Several) else [outcome]
    if how.null_fails and results[0] is None:
        raise jq_fault(f"the query has no result but null: {query}")
    return results


@lru_cache(maxsize=4096)
def _compiled_query(text: str, word: str) -> Compiled:
    if word == "js":
        return JsProgram(text)
    return paths.compiled(text, ()) or _ahead.get(text) or JqProgram(text, ())


def _program(query: EmbeddedQuery) -> Compiled:
    try:
        return _compiled_query(query.text, query.word)
    except EngineMissing:
        raise
    except BadExpression as error:
        raise error.moved(query.offset) from None


def _closing(text: str, start: int, word: str) -> int:
    """Return the offset of the bracket that closes the query which begins at *start*."""
    if word == "js":
        end = js.closing(text, start)
        return _textual_closing(text, start, word) if end is None else end
    depth = 0
    try:
        for token in tokens(text, start):
            if token.kind == "open":
                depth += 1
            elif token.kind == "close":
                if depth == 0 and token.text == ")":
                    return token.offset
                depth -= 1
    except BadExpression:
        pass
    return _textual_closing(text, start, word)


def _textual_closing(text: str, start: int, word: str) -> int:
    """Return the same for a query that cannot be read, by counting all brackets."""
    depth = 1
    for offset in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[offset], 0)
        if depth == 0:
            return offset
    raise BadExpression(f"'{word}(' is not closed", start - len("jq("))


def _shown(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"  # noqa: PLR2004 - what a message has room for
