"""How long an expression of jq can take, told from its words.

Parts of a pipe that each go through their input take as long as the longest of them. Where anything has one thing
evaluated for each output of another (an operator, `if`, several outputs as an index or as the argument of a function)
or goes on with a variable, one may go through something again for each element of another, wherever in the expression
they stand. What stands in several places of a part may come out as many times as large. Whatever is not known
here is not bounded: `range`, `recurse`, `reduce`, definitions, regular expressions.
"""

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Final

from swf_temporal.expressions.guarding.bounds import MAX_EXPONENT, MAX_WORK, UNBOUNDED, Bound
from swf_temporal.expressions.lexing import ASSIGNING, Token


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
"""Keywords, and the functions that go through what they are given once."""
_AGAIN: Final = _names("any all")
"""Those of them that do something for each element, if they are given what."""
_FOR_EACH: Final = _names(
    "map map_values to_entries from_entries with_entries flatten join sort_by group_by min_by max_by unique_by del"
)
"""Those that do something for each element."""
_FOR_EACH_OTHER: Final = _names("contains inside index rindex indices IN transpose paths leaf_paths tostream")
"""Those that do something for each element and each other."""
_COLLECTING: Final = _FOR_EACH | _AGAIN | {"add", "first", "last", "["}
"""What makes one of all outputs inside its brackets."""
_COMBINING: Final = _names("+ - * / % == != < <= > >= and or if")
"""What has one of its parts evaluated for each output of another."""
_BEFORE_VALUES: Final = _names("if then elif else and or try catch")
"""Keywords after which `[]` is an empty array, and `-` a sign."""
_WRITING: Final = frozenset({"tojson", "tostring", "explode"})
_GROWTH: Final = 3
"""How many times as long a text can become that is written in another way."""
_SLOW: Final = 4
"""How many times as long `map_values` takes as `map`."""
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
    """What is known of an expression as far as it is read."""

    def __init__(self, words: Sequence[Token]) -> None:
        self._words = words
        self._exponents = [0]
        """Of each part of the outermost pipe."""
        self._again = 0
        """How often `any` and `all` are given something that may go through other data for each element."""
        self._least = 1
        self._factor = 1
        self._is_combined = False
        """Whether something may be evaluated for each output of something else."""
        self._opened: list[str] = []
        """The brackets around what is read, those of arguments by their function's name."""
        self._begin_part()

    def _begin_part(self) -> None:
        self._uses: Counter[str] = Counter()
        """How often each path begins in this part of a pipe."""
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
        """Take note of the word *at* that index. Raises _NotBounded."""
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
            # What it puts between them may be as long as they are.
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
        """Take note of a product: a text is repeated. Only a number that stands alone tells how often."""
        is_alone = self._word(at - 2).text not in ("*", "/", "%")
        self._grow(_number(following) or (_number(last) if is_alone else None))

    def _subtract(self, text: str, last: Token, following: Token) -> None:
        """Take note of a difference: of arrays, each element of one is looked for in the other."""
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
        """Tell whether the word *at* that index opens anything but `[]` or a name in brackets."""
        if self._words[at].text != "[" or self._word(at + 1).text == "]":
            return False
        return not (self._is_text(at + 1) and "]" in (self._word(at + 3).text, self._word(at + 4).text))

    def _is_constant(self, at: int) -> bool:
        word = self._word(at)
        return word.kind == "number" or word.text in ("true", "false", "null") or self._is_text(at)

    def _is_text(self, at: int) -> bool:
        """Tell whether a text stands *at* that index that is written out."""
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
