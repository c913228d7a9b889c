"""How long an expression of jq can take, told from its words.

Parts of a pipe that each go through their input take as long as the longest of them, unless a variable lets one go
through something again for each element of another. What stands in several places of a part may come out as many times
as large. Whatever is not known here is not bounded: `range`, `recurse`, `reduce`, definitions, regular expressions.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Final

from swf_temporal.expressions.lexing import Token
from swf_temporal.guarding.bounds import MAX_EXPONENT, MAX_WORK, UNBOUNDED, Bound


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
_FOR_EACH: Final = _names(
    "map map_values to_entries from_entries with_entries flatten join sort_by group_by min_by max_by unique_by del"
)
"""Those that do something for each element."""
_FOR_EACH_OTHER: Final = _names("contains inside index rindex indices IN transpose paths leaf_paths tostream walk")
"""Those that do something for each element and each other."""
_ASSIGNING: Final = frozenset({"=", "|=", "+=", "-=", "*=", "/=", "%=", "//="})
_WRITING: Final = frozenset({"tojson", "tostring", "explode"})
_GROWTH: Final = 3
"""How many times as long a text can become that is written in another way."""
_NONE: Final = Token("", "", 0)


class _NotBounded(Exception):  # noqa: N818 - what is found
    """The words do not bound the work."""


def jq_bound(words: Sequence[Token]) -> Bound:
    reading = _Reading(words)
    try:
        for last, word, following in zip([_NONE, *words], words, [*words[1:], _NONE], strict=False):
            reading.read(last, word, following)
        return reading.bound()
    except _NotBounded:
        return UNBOUNDED


class _Reading:
    """What is known of an expression as far as it is read."""

    def __init__(self, words: Sequence[Token]) -> None:
        self._words = words
        self._exponents = [0]
        """Of each part of the outermost pipe."""
        self._factor = 1
        self._has_variables = False
        self._opened: list[str] = []
        self._begin_part()

    def _begin_part(self) -> None:
        self._uses: Counter[str] = Counter()
        """How often each path begins in this part of a pipe."""
        self._elements, self._alternatives = 1, 1

    def bound(self) -> Bound:
        self._end_part()
        together = sum(self._exponents) if self._has_variables else prod(max(1, one) for one in self._exponents)
        exponent = max(1, together)
        if exponent > MAX_EXPONENT:
            raise _NotBounded
        return Bound(exponent, self._factor)

    def read(self, last: Token, word: Token, following: Token) -> None:
        """Take note of *word*, which stands between two others. Raises _NotBounded."""
        kind, text = word.kind, word.text
        if kind == "open":
            self._exponents[-1] += text == "[" and following.text == "]" and _is_value(last)
            self._opened.append(text)
        elif kind == "close":
            self._opened = self._opened[:-1]
        elif kind in ("field", "variable"):
            self._has_variables |= kind == "variable"
            self._uses[text] += 1
        elif kind == "format":
            self._grow(_GROWTH)
        elif kind == "name":
            self._name(last, text, following)
        elif kind == "operator":
            self._operator(last, text, following)

    def _name(self, last: Token, text: str, following: Token) -> None:
        if self._innermost == "{" and last.text in ("{", ","):  # a key, which is a path, too, where it stands alone
            self._uses[f".{text}"] += following.text != ":"
            return
        if text in _FOR_EACH or text in _FOR_EACH_OTHER:
            self._exponents[-1] += 1 if text in _FOR_EACH else 2
        elif text not in _ONCE:
            raise _NotBounded
        self._has_variables |= text == "as"
        if text in _WRITING:
            self._grow(_GROWTH)

    def _operator(self, last: Token, text: str, following: Token) -> None:
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
        elif text == "-":  # of arrays: each element is looked for in the other
            self._exponents[-1] += _is_value(last) and following.kind != "number"
        elif text == "*":  # of a text: it is repeated
            self._grow(_number(following) or _number(last))
        elif text in _ASSIGNING:
            self._assign()
        elif text == "?//":
            raise _NotBounded

    @property
    def _innermost(self) -> str:
        return self._opened[-1] if self._opened else ""

    def _comma(self) -> None:
        if self._innermost == "[":
            self._elements += 1
        elif self._innermost != "{":
            self._alternatives *= 2

    def _assign(self) -> None:
        if any(one.text == "[" and other.kind != "quote" and other.text != "]" for one, other in pairwise(self._words)):
            raise _NotBounded  # an array is filled up to the index
        self._exponents[-1] += 1

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
    return word.kind in ("field", "close", "variable", "quote", "number") or word.text in (".", "?", "..", "end")


def _number(word: Token) -> int | None:
    return max(1, int(min(float(word.text), MAX_WORK + 1))) if word.kind == "number" else None
