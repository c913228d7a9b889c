"""Suggestions for misspelled words."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from swf_temporal.base.grammar import listed

NEVER_ENTERED: Final = "lead to it with a transition, or remove it"
NEVER_USED: Final = "refer to it, or remove it"

_MAX_NAMES: Final = 12
"""The maximum number of possible words in a message."""


def nearest(word: str, choices: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the one of *choices* that was probably meant: equal but for case, or else the most similar to *word*."""
    choices = sorted(choices)
    folded = {choice.casefold(): choice for choice in choices}
    if word.casefold() in folded:
        return folded[word.casefold()]
    return next(iter(get_close_matches(word, choices, 1, likeness)), None)


def did_you_mean(word: str, choices: Iterable[str]) -> str | None:
    """Return `did you mean …?` with the one of *choices* that is most similar to *word*, or None."""
    meant = nearest(word, choices)
    return None if meant is None else f"did you mean {meant!r}?"


def meant_or_known(word: str, choices: Iterable[str], without_any: str | None = None) -> str | None:
    """Return `did you mean …?` as `did_you_mean` does, or else the known words; *without_any* if there are none."""
    known = sorted(choices)
    return did_you_mean(word, known) or (known_ones(known) if known else without_any)


def known_ones(choices: Iterable[str]) -> str:
    """List *choices*, at least one, in words."""
    known = sorted(choices)
    shown = [*known[:_MAX_NAMES], f"{len(known) - _MAX_NAMES} more"] if len(known) > _MAX_NAMES + 1 else known
    return f"there {'is' if len(shown) == 1 else 'are'} {listed(shown)}"


def suggestion(word: str, choices: Iterable[str]) -> str:
    """Return the end of a message that names *word*: `; did you mean 'x'?`, or nothing if no choice is similar."""
    question = did_you_mean(word, choices)
    return "" if question is None else f"; {question}"
