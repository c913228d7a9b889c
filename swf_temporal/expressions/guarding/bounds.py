"""Bounds of the time that an evaluation takes, told from its text and the size of its data before it is made.

Work is counted in steps of an engine, of which a helper makes some millions in a second. `MAX_WORK` of them take less
than a tenth of its limit, so that what is bounded never meets a limit on any machine that can serve at all. A bound is
never too low and often too high: what takes little time all the same is evaluated elsewhere, and that costs some
milliseconds.
"""

import re
from typing import Final, NamedTuple

MAX_WORK: Final = 1 << 16
"""Steps of what is evaluated where the run goes on."""
_ELEMENT: Final = 4
"""Characters of JSON that one element takes at least, most often."""
_IN_PYTHON: Final = 10
"""How many times as long a step takes of an engine that is written in Python."""
MAX_EXPONENT: Final = 8
"""The highest exponent of a bound."""


class Bound(NamedTuple):
    """The work of an evaluation: at most *factor* times the elements of its data to the power of *exponent*."""

    exponent: int = 1
    factor: int = 1

    def holds(self, size: int) -> bool:
        """Tell whether the work is little on data of *size* characters."""
        return self.factor * int(max(1, size // _ELEMENT) ** self.exponent) <= MAX_WORK


UNBOUNDED: Final = Bound(0, MAX_WORK + 1)
"""That of an evaluation whose text and data do not bound its work."""

_GENERATED = re.compile(r"\b(?:match|search)\s*\(|\.\.|\?")
_SCHEMA_LOOPS = re.compile(r'"(?:pattern|patternProperties|\$ref|\$dynamicRef|\$recursiveRef|uniqueItems|format)":')
_SCHEMA_AGAIN = re.compile(r'"(?:allOf|anyOf|oneOf|not|if|contains|unevaluated\w+|additionalProperties)":')
_QUANTIFIED_GROUP = re.compile(r"\)\s*[*+?{]|\\[1-9gk]|\(\?(?![:=!]|<[=!])")
_QUANTIFIER = re.compile(r"(?<!\\)(?:[*+]|\{\d*,?\d*\})")
_STEPS: Final = 256
"""Characters that are compared with a pattern in the time of a step."""
_SEGMENTS: Final = 256
"""Characters of a path whose segments take as long as a step."""
_CHOICE = re.compile(r"(?<!\\)[|?]")


def jsonpath_bound(path: str) -> Bound:
    """Return the bound of a JSONPath: one that only goes down goes through its data once, for each of its selectors.

    Several selectors in one segment may find the same, each of which the next segment goes down from.
    """
    found = _GENERATED.findall(path)
    if any("(" in one for one in found):
        return UNBOUNDED
    repeated = 2 ** min(path.count(","), 20)
    return Bound(max(1, min(len(found), MAX_EXPONENT)), _IN_PYTHON * repeated * (1 + len(path) // _SEGMENTS))


def schema_bound(schema: str) -> Bound:
    """Return the bound of comparing data with a JSON Schema, which is given as it is written.

    Without patterns and references each part of it is compared with each part of the data once at most.
    """
    if _SCHEMA_LOOPS.search(schema) is not None:
        return UNBOUNDED
    return Bound(1, _IN_PYTHON * (1 + len(_SCHEMA_AGAIN.findall(schema))))


def pattern_bound(pattern: str, text: str) -> Bound:
    """Return the bound of looking for a regular expression in *text*, for data of no size.

    Each repetition can begin at every character, and go on to every other; one within another ends everywhere, too.
    """
    size = len(text)
    if size <= 1:
        return Bound(0)
    if _QUANTIFIED_GROUP.search(pattern) is not None:
        return Bound(0, 2 ** min(size, 20) * len(pattern))
    repetitions, choices = len(_QUANTIFIER.findall(pattern)), len(_CHOICE.findall(pattern))
    work = size ** min(repetitions + 1, MAX_EXPONENT) * 2 ** min(choices, 20) * len(pattern)
    return Bound(0, max(1, work // _STEPS))
