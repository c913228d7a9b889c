"""Expressions that only jq can evaluate.

The expression runs inside a program that takes away what would make its result depend on more than the data:
the clock becomes the workflow's, the environment is empty, and files, further input and ways to end the
program are refused. Variables travel in the input, so an expression is compiled once, whatever their values.
A result leaves jq as JSON text, since jq's Python package rounds large integers and drops the `.0` of `1.0`.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from hashlib import blake2b
from typing import Final

from swf_temporal.base.accounting import current_account
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, ExpressionLimitExceeded
from swf_temporal.base.strict_json import NotJSON, read_clamped, read_written
from swf_temporal.expressions.compiled import NOTHING, BadExpression, EvaluationOutcome, Several, Variables
from swf_temporal.expressions.guarding.deferring import ask
from swf_temporal.expressions.guarding.guard import guard, written
from swf_temporal.expressions.guarding.jq_process import FAILED, NOT_COMPILED
from swf_temporal.expressions.jq_bounds import jq_bound
from swf_temporal.expressions.kinds import ANY
from swf_temporal.expressions.lexing import Token, tokens

_REFUSED = 'error("not allowed in a workflow expression")'
_REFUSED_NAMES: Final = frozenset({"input", "inputs", "modulemeta", "halt", "halt_error"})
"""What ends the program, or reads more than its input."""
_NEUTRALISED = " ".join(
    [
        "def env: {}; def get_search_list: []; def input_line_number: 0; def input_filename: null;",
        "def localtime: gmtime; def strflocaltime(f): strftime(f);",
        "def debug: .; def debug(m): .; def stderr: .;",
        *(f"def {name}: {_REFUSED};" for name in sorted(_REFUSED_NAMES)),
        f"def halt_error(c): {_REFUSED};",
    ]
)
_FORMER = {
    "date": ("date/0", "def date: todate;"),
    "dateadd": ("dateadd/2", "def dateadd(u; n): . + n;"),
    "datesub": ("datesub/2", "def datesub(u; n): . - n;"),
    "isvalid": ("isvalid/1", "def isvalid(f): try (f | true) catch false;"),
    "leaf_paths": ("leaf_paths/0", "def leaf_paths: paths(scalars);"),
    "pow10": ("pow10/0", "def pow10: pow(10; .);"),
    "recurse_down": ("recurse_down/0", "def recurse_down: recurse;"),
}
"""Builtins that jq 1.6, the jq of the specification, has and later ones lack: signature and definition."""
_NOW = "__now"
_BINDING_WORDS = frozenset({"as", "def", "label"})
_COMPLAINT = re.compile(r"jq: error: (?P<what>.*?)(?: at <top-level>, line (?P<line>\d+), column (?P<column>\d+))?:?$")
_MAX_COMPILED: Final = 1 << 16
"""Programs that are known to compile or not: more than one definition has, so that reading it can be interrupted."""
_compiled: dict[bytes, str | None] = {}
"""jq's complaint, if any, about a program, by its digest."""
_SYMBOL = re.compile(r"[A-Z_]{4,}")
_SYMBOLS = {
    "INVALID_CHARACTER": "character",
    "IDENT": "name",
    "FIELD": "field",
    "LITERAL": "number",
    "BINDING": "variable",
    "QQSTRING_START": "string",
    "FORMAT": "format",
}
_MAX_SHOWN = 200


class TooLargeToCompile(BadExpression):
    """An expression that takes more to compile than an evaluation may take."""


class JqProgram:
    """A jq expression that compiles, and the variables it reads."""

    __slots__ = ("_former", "_given", "_program", "_text", "bound", "mentions")

    constant = False
    kinds = ANY

    def __init__(self, text: str, declared: Collection[str], *, result: str = ".") -> None:
        words = _words(text)
        names = sorted({word.text[1:] for word in words if word.kind == "variable"}.intersection(declared))
        self._text = text
        self.bound = jq_bound(words)
        """How long it can take on how much data."""
        self._given = (*names, _NOW) if any(word.text == "now" for word in words) else tuple(names)
        self._former = " ".join(meaning for name, (_, meaning) in _FORMER.items() if any(w.text == name for w in words))
        self._program = _program(text, self._given, result, self._former)
        complaint = _compile(self._program)
        if complaint is not None:
            raise _bad_expression(complaint, text)
        _refuse_calls(words)
        if any(word.text in _BINDING_WORDS for word in words):
            names = [name for name in names if self._is_free(name, result)]
        self.mentions = frozenset(names)

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the output of the expression: NOTHING, a value, or an array of several values."""
        outputs = self.outputs(data, variables)
        if len(outputs) == 1:
            return outputs[0]
        return Several(outputs) if outputs else NOTHING

    def outputs(self, data: JSON, variables: Variables) -> list[JSON]:
        try:
            given = {name: variables[name] for name in self._given}
        except KeyError as missing:
            name = missing.args[0]
            what = "the workflow's time" if name == _NOW else f"${name}"
            raise self.failed(f"{what} has no value here") from None
        try:
            text = self._written(data, given)
            answer = ask(self._program, text, self.bound)
        except ExpressionLimitExceeded as limit:
            raise ExpressionLimitExceeded(f"{limit.message}: {shown(self._text)}", retryable=False) from None
        current_account().charge_helper(len(text), len(answer.text))
        if answer.status == FAILED:
            raise self.failed(answer.text)
        try:
            return [read_clamped(line) for line in answer.text.split("\n") if line]
        except NotJSON as error:
            raise self.failed(f"the result cannot be read as JSON ({error})") from None

    def _written(self, data: JSON, given: Variables) -> str:
        try:
            return written([data, given])
        except (NotJSON, TypeError) as error:
            raise self.failed(f"the data cannot be written as JSON ({error})") from None

    def failed(self, why: str) -> ExpressionFailed:
        """Return the fault that says why this expression failed."""
        return ExpressionFailed(f"{why}: {shown(self._text)}", retryable=False)

    def _is_free(self, name: str, result: str) -> bool:
        # A name that the expression binds itself is not missed when it is not given.
        others = tuple(given for given in self._given if given != name)
        return _compile(_program(self._text, others, result, self._former)) is not None


def shown(text: str) -> str:
    stripped = text.strip()
    return f"${{ {stripped if len(stripped) <= _MAX_SHOWN else stripped[:_MAX_SHOWN] + '…'} }}"


@cache
def builtins() -> frozenset[tuple[str, int]]:
    """Return the functions that every expression can call: the name of each, and how many arguments it has."""
    answer = guard().run("builtins | tojson", "null")
    names = [*read_written(answer.text), *(signature for signature, _ in _FORMER.values())]
    return frozenset((name, int(arity)) for name, _, arity in (signature.partition("/") for signature in names))


def _words(text: str) -> list[Token]:
    if "\0" in text:
        raise BadExpression("an expression cannot hold the character U+0000", text.index("\0"))
    words = list(tokens(text))
    if not words:
        raise BadExpression("the expression is empty", 0)
    for word in words:
        # Names like these are ours; of jq's own there is only $__loc__.
        if word.kind == "variable" and word.text.startswith("$__") and word.text != "$__loc__":
            raise BadExpression(f"{word.text} is not defined", word.offset)
    return words


def _refuse_calls(words: Sequence[Token]) -> None:
    """Raise BadExpression where *words*, which compile, call what an expression may not.

    Where they define functions of their own, a name may be one of these: such a call fails when it is made.
    """
    if any(word.text == "def" for word in words):
        return
    brackets: list[str] = []
    before = ""
    for word in words:
        is_key = brackets[-1:] == ["{"] and before in {"{", ","}
        if word.kind == "name" and word.text in _REFUSED_NAMES and not is_key:
            raise BadExpression(f"'{word.text}' is not allowed in a workflow expression", word.offset)
        if word.kind == "open":
            brackets.append(word.text)
        elif word.kind == "close":
            brackets.pop()
        before = word.text


def _program(text: str, given: Collection[str], result: str, former: str) -> str:
    # On lines of its own a comment at the expression's end harms nothing, and columns in messages are right.
    bound = f".[1] as {{{','.join(f'${name}' for name in given)}}} | " if given else ""
    now = f"def now: ${_NOW}; " if _NOW in given else ""
    inner = f"(\n{text}\n)"
    return f"{bound}{{}} as $ENV | .[0] | {_NEUTRALISED} {former}{now}{result.replace('.', inner, 1)} | tojson"


def _compile(program: str) -> str | None:
    """Return jq's complaint about a program, or None."""
    key = blake2b(program.encode(errors="surrogatepass"), digest_size=16).digest()
    try:
        return _compiled[key]
    except KeyError:
        complaint = _complaint(program)
    if len(_compiled) >= _MAX_COMPILED:
        _compiled.clear()
    _compiled[key] = complaint
    return complaint


def _complaint(program: str) -> str | None:
    try:
        answer = guard().run(program, None)
    except ExpressionLimitExceeded:
        # Raised, so that it is not remembered: on a machine that is very busy another attempt may get through.
        raise TooLargeToCompile("the expression is too large to compile") from None
    except UnicodeEncodeError:
        return "jq: error: the expression holds half of a surrogate pair"
    return answer.text.partition("\n")[0] if answer.status == NOT_COMPILED else None


def _bad_expression(complaint: str, text: str) -> BadExpression:
    match = _COMPLAINT.match(complaint)
    if match is None:
        return BadExpression(complaint)
    what = _SYMBOL.sub(lambda symbol: _SYMBOLS.get(symbol[0], symbol[0]), match["what"].partition(", expecting")[0])
    if match["line"] is None:
        return BadExpression(what)
    lines = text.split("\n")
    row, column = int(match["line"]) - 2, int(match["column"]) - 1
    if row >= len(lines):
        return BadExpression(re.sub(r"unexpected '\)'", "unexpected end of the expression", what), len(text))
    before = len(lines[row].encode()[:column].decode(errors="ignore"))
    return BadExpression(what, sum(len(line) + 1 for line in lines[:row]) + before)
