"""Globs, as Direktiv compares error codes and attributes of events with them.

`*` stands for any characters and `?` for one; `[abc]`, `[a-z]` and `[!abc]` for one of a set, or none of it; `{a,b}`
for one of several globs. A backslash takes the special meaning from the character after it. A bracket that is not
closed stands for itself. The work is at most the length of the glob times that of the text, whatever both are.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

_Step: TypeAlias = Callable[[str, frozenset[int]], frozenset[int]]
"""Returns where a part of a glob ends in a text, if it begins at any of some places."""

_MAX_DEPTH: Final = 20
"""Braces within braces that are alternatives; those below stand for themselves."""


def is_glob_of(pattern: str, text: str) -> bool:
    """Return whether the glob *pattern* matches the whole of *text*."""
    return len(text) in _compiled(pattern)(text, frozenset({0}))


@lru_cache(maxsize=1024)
def _compiled(pattern: str, depth: int = 0) -> _Step:
    steps: list[_Step] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        end = _closing(pattern, at) if character in "[{" else None
        if character == "*":
            steps.append(_any)
        elif character == "?":
            steps.append(_one(lambda _: True))
        elif character == "[" and end is not None:
            steps.append(_one(_in_set(pattern[at + 1 : end])))
        elif character == "{" and end is not None and depth < _MAX_DEPTH:
            steps.append(_either([_compiled(one, depth + 1) for one in _alternatives(pattern[at + 1 : end])]))
        else:
            if character == "\\" and at + 1 < len(pattern):
                at += 1
            steps.append(_one(pattern[at].__eq__))
            end = None
        at = (at if end is None else end) + 1
    return _in_order(steps)


def _any(text: str, places: frozenset[int]) -> frozenset[int]:
    return frozenset(range(min(places), len(text) + 1)) if places else places


def _one(fits: Callable[[str], bool]) -> _Step:
    return lambda text, places: frozenset(at + 1 for at in places if at < len(text) and fits(text[at]))


def _either(steps: list[_Step]) -> _Step:
    return lambda text, places: frozenset().union(*(step(text, places) for step in steps))


def _in_order(steps: list[_Step]) -> _Step:
    def step(text: str, places: frozenset[int]) -> frozenset[int]:
        for one in steps:
            places = one(text, places)
        return places

    return step


def _in_set(inside: str) -> Callable[[str], bool]:
    is_negated = inside[0] in "!^"
    members = inside[is_negated:]
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(members):
        is_range = at + 2 < len(members) and members[at + 1] == "-"
        ranges.append((members[at], members[at + 2] if is_range else members[at]))
        at += 3 if is_range else 1
    return lambda character: is_negated != any(first <= character <= last for first, last in ranges)


def _closing(pattern: str, start: int) -> int | None:
    """Return where the bracket at *start* is closed; a set has at least one member."""
    if pattern[start] == "[":
        first = start + (2 if pattern[start + 1 : start + 2] in ("!", "^") else 1)
        end = pattern.find("]", first + 1)
        return None if end < 0 else end
    depth, at = 0, start
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        depth += {"{": 1, "}": -1}.get(pattern[at], 0) if at < len(pattern) else 0
        if depth == 0:
            return at
        at += 1
    return None


def _alternatives(inside: str) -> list[str]:
    """Return the globs that commas separate, outside of inner braces."""
    found, depth, begin, at = [], 0, 0, 0
    while at < len(inside):
        if inside[at] == "\\":
            at += 1
        elif inside[at] == "," and depth == 0:
            found.append(inside[begin:at])
            begin = at + 1
        else:
            depth += {"{": 1, "}": -1}.get(inside[at], 0)
        at += 1
    return [*found, inside[begin:]]
