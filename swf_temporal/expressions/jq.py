"""Expressions that only jq can evaluate.

The expression runs inside a program that removes everything that would make its result depend on more than the data:
the clock becomes the workflow's, the environment is empty, and files, further input and ways to end the
program are refused. Variables are passed in the input, so an expression is compiled once, whatever their values.
A result leaves jq as JSON text, since jq's Python package rounds large integers and drops the `.0` of `1.0`.

Bounds. Parts of a pipe that each traverse their input take as long as the longest of them. If something is evaluated
for each output of something else (an operator, `if`, several outputs as an index or as the argument of a function), or
uses a variable, a part may traverse data again for each element of another part, wherever they are in the expression.
The output of a part in which a path occurs several times may be that many times as large. Everything that is not listed
here is unbounded: `range`, `recurse`, `reduce`, definitions, regular expressions.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from math import prod
from typing import Final, NamedTuple

from swf_temporal.base.accounting import current_account
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, ExpressionLimitExceeded
from swf_temporal.base.strict_json import NotJSON, read_clamped, read_written
from swf_temporal.expressions.compiled import ANY, NOTHING, BadExpression, EvaluationOutcome, Several, Variables
from swf_temporal.expressions.guarding.deferring import MAX_EXPONENT, MAX_WORK, UNBOUNDED, Bound, Joint, ask
from swf_temporal.expressions.guarding.guard import guard, written
from swf_temporal.expressions.guarding.jq_process import FAILED, NOT_COMPILED
from swf_temporal.expressions.lexing import ASSIGNING, Token, tokens


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ONCE: Final = _names(
    "if then elif else end and or not as try catch true false null empty error select has in length type values "
    "utf8bytelength keys keys_unsorted nulls booleans numbers strings arrays objects iterables scalars tostring "
    "tonumber toarray ascii_downcase ascii_upcase ltrimstr rtrimstr startswith endswith trim ltrim rtrim explode "
    "implode tojson fromjson add any all min max sort unique reverse first last getpath now todate fromdate date "
    "dateadd datesub mktime gmtime todateiso8601 fromdateiso8601 strftime floor ceil round trunc sqrt fabs abs log "
    "log2 log10 exp exp2 exp10 pow pow10 infinite nan isinfinite isnan isnormal isvalid significand"
)
"""Keywords, and the functions that traverse their input once."""
_AGAIN: Final = _names("any all")
"""The functions of these that evaluate their argument, if they have one, for each element."""
_FOR_EACH: Final = _names(
    "map map_values to_entries from_entries with_entries flatten join sort_by group_by min_by max_by unique_by del"
)
"""The functions that evaluate something for each element."""
_FOR_EACH_OTHER: Final = _names("contains inside index rindex indices IN transpose paths leaf_paths tostream")
"""The functions that do something for each pair of elements."""
_COLLECTING: Final = _FOR_EACH | _AGAIN | {"add", "first", "last", "["}
"""The functions and brackets that collect all outputs inside them into one."""
_COMBINING: Final = _names("+ - * / % == != < <= > >= and or if")
"""The operators that evaluate one of their parts for each output of another."""
_BEFORE_VALUES: Final = _names("if then elif else and or try catch")
"""Keywords after which `[]` is an empty array, and `-` a sign."""
_WRITING: Final = frozenset({"tojson", "tostring", "explode"})
_GROWTH: Final = 3
"""The factor by which a text can grow if it is written in another way."""
_SLOW: Final = 4
"""The factor by which `map_values` takes longer than `map`."""
_NONE: Final = Token("", "", 0)


class _NotBounded(Exception):  # noqa: N818 - what is found
    """The words do not bound the work."""


def jq_bound(words: Sequence[Token]) -> Bound:
    reading = _Reading(words)
    try:
        for at in range(len(words)):
            reading.read(at)
        return reading.bound()
    except _NotBounded:
        return UNBOUNDED


class _Reading:
    """The facts about the part of an expression that has been read."""

    def __init__(self, words: Sequence[Token]) -> None:
        self._words = words
        self._exponents = [0]
        """The exponents of the parts of the outermost pipe."""
        self._again = 0
        """The number of arguments of `any` and `all` that may traverse other data for each element."""
        self._least = 1
        self._factor = 1
        self._is_combined = False
        """Whether something may be evaluated for each output of something else."""
        self._opened: list[str] = []
        """The brackets around the present word; those of arguments are represented by the function's name."""
        self._begin_part()

    def _begin_part(self) -> None:
        self._uses: Counter[str] = Counter()
        """The number of occurrences of each path in this part of a pipe."""
        self._elements, self._alternatives = 1, 1

    def bound(self) -> Bound:
        self._end_part()
        exponent = max(self._least, prod(max(1, one) for one in self._exponents))
        if self._is_combined and self._loops:
            exponent = max(exponent, self._loops + 1)
        if exponent > MAX_EXPONENT:
            raise _NotBounded
        return Bound(exponent, self._factor)

    @property
    def _loops(self) -> int:
        return sum(self._exponents) + self._again

    def read(self, at: int) -> None:
        """Read the word *at* that index. Raises _NotBounded."""
        word, last, following = self._words[at], self._word(at - 1), self._word(at + 1)
        kind, text = word.kind, word.text
        if kind == "open":
            self._open(text, last, following)
        elif kind == "close":
            self._opened.pop()
        elif kind in ("field", "variable"):
            self._is_combined |= kind == "variable" and self._loops > 0
            self._uses[text] += 1
        elif kind == "format":
            self._grow(_GROWTH)
        elif kind == "name":
            self._name(at, last, following)
        elif kind == "operator":
            self._operator(at, last, following)

    def _word(self, at: int) -> Token:
        return self._words[at] if 0 <= at < len(self._words) else _NONE

    def _open(self, text: str, last: Token, following: Token) -> None:
        is_index = text == "[" and _is_value(last)
        if is_index and following.text == "]":
            self._exponents[-1] += 1
            around = next((one for one in reversed(self._opened) if one != "("), "[")
            self._is_combined |= around not in _COLLECTING
        is_call = text == "(" and last.kind == "name"
        self._opened.append("index" if is_index else last.text if is_call else text)

    def _name(self, at: int, last: Token, following: Token) -> None:
        text = self._words[at].text
        if self._innermost == "{" and last.text in ("{", ","):  # a key, which is a path, too, where it stands alone
            self._uses[f".{text}"] += following.text != ":"
            return
        if text in _FOR_EACH:
            # The separator may be as long as the elements.
            self._exponents[-1] += 2 if text == "join" and not self._is_text(at + 2) else 1
        elif text in _FOR_EACH_OTHER:
            self._exponents[-1] += 2
        elif text not in _ONCE:
            raise _NotBounded
        self._again += text in _AGAIN and following.text == "("
        self._is_combined |= text in _COMBINING
        if text in _WRITING:
            self._grow(_GROWTH)
        if text == "map_values":
            self._grow(_SLOW)

    def _operator(self, at: int, last: Token, following: Token) -> None:
        text = self._words[at].text
        self._is_combined |= text in _COMBINING and not self._is_constant(at + 1)
        if text == "|":
            self._end_part()
            if not self._opened:
                self._exponents.append(0)
        elif text == ",":
            self._comma()
        elif text == ".":
            self._uses[text] += 1
        elif text == "..":
            self._exponents[-1] += 2
        elif text in ("-", "-="):
            self._subtract(text, last, following)
        elif text in ("*", "*="):
            self._multiply(at, last, following)
        elif text == "?//":
            raise _NotBounded
        if text in ASSIGNING:
            self._assign()

    def _multiply(self, at: int, last: Token, following: Token) -> None:
        """Read a product, which may repeat a text: its growth is known only for a number that stands alone."""
        is_alone = self._word(at - 2).text not in ("*", "/", "%")
        self._grow(_number(following) or (_number(last) if is_alone else None))

    def _subtract(self, text: str, last: Token, following: Token) -> None:
        """Read a difference: each element of an array is searched for in the other array."""
        if text == "-=" or (_is_value(last) and following.kind != "number"):
            self._exponents[-1] += text == "-"
            self._least = 2

    @property
    def _innermost(self) -> str:
        return self._opened[-1] if self._opened else ""

    def _comma(self) -> None:
        if self._innermost == "[":
            self._elements += 1
        elif self._innermost != "{":
            self._alternatives *= 2

    def _assign(self) -> None:
        if any(word.text == "getpath" or self._may_be_far(at) for at, word in enumerate(self._words)):
            raise _NotBounded  # an array is filled up to the index
        self._exponents[-1] += 1

    def _may_be_far(self, at: int) -> bool:
        """Return whether the word *at* that index opens anything but `[]` or a name in brackets."""
        if self._words[at].text != "[" or self._word(at + 1).text == "]":
            return False
        return not (self._is_text(at + 1) and "]" in (self._word(at + 3).text, self._word(at + 4).text))

    def _is_constant(self, at: int) -> bool:
        word = self._word(at)
        return word.kind == "number" or word.text in ("true", "false", "null") or self._is_text(at)

    def _is_text(self, at: int) -> bool:
        """Return whether a literal text is *at* that index."""
        if self._word(at).kind != "quote":
            return False
        return self._word(at + 1).kind == "quote" or (
            self._word(at + 1).kind == "text" and self._word(at + 2).kind == "quote"
        )

    def _end_part(self) -> None:
        uses = self._uses.pop(".", 0) + max(self._uses.values(), default=0)
        self._grow(max(1, uses) * self._elements * self._alternatives)
        self._begin_part()

    def _grow(self, times: int | None) -> None:
        if times is None:
            raise _NotBounded
        self._factor *= times
        if self._factor > MAX_WORK:
            raise _NotBounded


def _is_value(word: Token) -> bool:
    if word.kind == "name":
        return word.text not in _BEFORE_VALUES
    return word.kind in ("field", "close", "variable", "quote", "number") or word.text in (".", "?", "..")


def _number(word: Token) -> int | None:
    return max(1, int(min(float(word.text), MAX_WORK + 1))) if word.kind == "number" else None


_REFUSED = 'error("not allowed in a workflow expression")'
_REFUSED_NAMES: Final = frozenset({"input", "inputs", "modulemeta", "halt", "halt_error"})
"""The functions that end the program, or read more than its input."""
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
_MAX_TOGETHER: Final = 64
"""Expressions in one program: finding one of them takes longer the more there are."""
_MAX_COMPILED: Final = 1 << 16
"""The number of programs whose compilation is cached: more than a definition has, so reading it can be interrupted."""
_compiled: dict[bytes, str | None] = {}
"""jq's error about a program, if any, by the program's digest."""
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
    """An expression whose compilation exceeds the limits of an evaluation."""


class _Source(NamedTuple):
    """An expression, and what its program needs to know of it."""

    text: str
    words: Sequence[Token]
    names: Sequence[str]
    """The declared variables that it names."""
    given: Sequence[str]
    """The names whose values its program takes: the variables, and the time if it asks for it."""
    former: str
    """Definitions of the former builtins that it calls."""

    @property
    def binds_names(self) -> bool:
        """Whether a variable that it names may be one of its own."""
        return bool(self.names) and any(word.text in _BINDING_WORDS for word in self.words)

    @property
    def has_place(self) -> bool:
        """Whether it depends on where in a program it stands: by the number of its line, or what ends a comment."""
        return "#" in self.text or any(word.text == "$__loc__" for word in self.words)


def _read(text: str, declared: Collection[str]) -> _Source:
    words = _words(text)
    names = sorted({word.text[1:] for word in words if word.kind == "variable"}.intersection(declared))
    given = (*names, _NOW) if any(word.text == "now" for word in words) else tuple(names)
    former = " ".join(meaning for name, (_, meaning) in _FORMER.items() if any(w.text == name for w in words))
    return _Source(text, words, names, given, former)


class JqProgram:
    """A jq expression that compiles, and the variables it reads."""

    __slots__ = ("_given", "_joint", "_program", "_text", "bound", "mentions")

    constant = False
    kinds = ANY

    def __init__(self, text: str, declared: Collection[str], *, result: str = ".") -> None:
        source = _read(text, declared)
        self._hold(source, result, None)
        complaint = _compile(self._program)
        if complaint is not None:
            raise _bad_expression(complaint, text)
        _refuse_calls(source.words)
        if source.binds_names:
            # Those that it binds itself may have no value where it stands.
            names = [name for name in source.names if self._is_free(name, source, result)]
            given = [name for name in source.given if name == _NOW or name in names]
            self._hold(source._replace(names=names, given=given), result, None)

    def _hold(self, source: _Source, result: str, joint: Joint | None) -> None:
        self._text = source.text
        self.bound = jq_bound(source.words)
        """How long it can take on how much data."""
        self._given = source.given
        self._program = _program(source.text, source.given, result, source.former)
        self._joint = joint
        self.mentions = frozenset(source.names)

    @classmethod
    def together(cls, texts: Iterable[str], declared: Collection[str]) -> "dict[str, JqProgram]":
        """Compile expressions several in a program, for a fraction of the time; leave out those for which that fails.

        jq reads its own library, which is most of the work, once for each program.
        """
        sources = []
        for text in dict.fromkeys(texts):
            with suppress(BadExpression):
                source = _read(text, declared)
                _refuse_calls(source.words)
                if not source.has_place and not source.binds_names:
                    sources.append(source)
        made = {}
        for start in range(0, len(sources), _MAX_TOGETHER):
            group = sources[start : start + _MAX_TOGETHER]
            program = _joint_program(group)
            if len(group) == 1 or not _compiles(program):
                continue
            for index, source in enumerate(group):
                one = made[source.text] = cls.__new__(cls)
                one._hold(source, ".", Joint(program, index))  # noqa: SLF001 - one of its own
        return made

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
            answer = ask(self._program, text, self.bound, joint=self._joint)
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
        """Return the fault of this expression, with the reason."""
        return ExpressionFailed(f"{why}: {shown(self._text)}", retryable=False)

    def _is_free(self, name: str, source: _Source, result: str) -> bool:
        # A name that the expression binds itself is not missed when it is not given.
        others = tuple(given for given in source.given if given != name)
        return _compile(_program(source.text, others, result, source.former)) is not None


def shown(text: str) -> str:
    stripped = text.strip()
    return f"${{ {stripped if len(stripped) <= _MAX_SHOWN else stripped[:_MAX_SHOWN] + '…'} }}"


@cache
def builtins() -> frozenset[tuple[str, int]]:
    """Return the functions that every expression can call, each with its name and its number of arguments."""
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
        # Names like these are reserved for us; jq itself has only $__loc__.
        if word.kind == "variable" and word.text.startswith("$__") and word.text != "$__loc__":
            raise BadExpression(f"{word.text} is not defined", word.offset)
    return words


def _refuse_calls(words: Sequence[Token]) -> None:
    """Raise BadExpression if *words*, which compile, call a function that is not allowed.

    If they define functions, a name may be one of those: then a forbidden call fails when it is made.
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
    return f"{{}} as $ENV | {_NEUTRALISED} {_evaluated(text, given, result, former)}"


def _joint_program(sources: Sequence[_Source]) -> str:
    """Return the program that evaluates one of *sources*: that at the index which its input ends with."""
    cases = " elif ".join(
        f"$__which == {index} then {_evaluated(source.text, source.given, '.', source.former)}"
        for index, source in enumerate(sources)
    )
    return f".[2] as $__which | {{}} as $ENV | {_NEUTRALISED} if {cases} else empty end"


def _evaluated(text: str, given: Collection[str], result: str, former: str) -> str:
    """Return what yields the outputs of an expression, as JSON texts."""
    # On separate lines, a comment at the expression's end harms nothing, and columns in messages are right.
    bound = f".[1] as {{{','.join(f'${name}' for name in given)}}} | " if given else ""
    now = f"def now: ${_NOW}; " if _NOW in given else ""
    inner = f"(\n{text}\n)"
    return f"({bound}.[0] | {former}{now}{result.replace('.', inner, 1)} | tojson)"


def _compile(program: str) -> str | None:
    """Return jq's error about a program, or None."""
    key = blake2b(program.encode(errors="surrogatepass"), digest_size=16).digest()
    try:
        return _compiled[key]
    except KeyError:
        complaint = _complaint(program)
    if len(_compiled) >= _MAX_COMPILED:
        _compiled.clear()
    _compiled[key] = complaint
    return complaint


def _compiles(program: str) -> bool:
    try:
        return _complaint(program) is None
    except TooLargeToCompile:  # by one of its expressions, or all of them together
        return False


def _complaint(program: str) -> str | None:
    try:
        answer = guard().run(program, None)
    except ExpressionLimitExceeded:
        # Raised, so that it is not cached: on a very busy machine another attempt may succeed.
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
