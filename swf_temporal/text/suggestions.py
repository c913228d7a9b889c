"""Says which word was probably meant by one that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from swf_temporal.base.grammar import listed

NEVER_ENTERED: Final = "lead to it with a transition, or remove it"
NEVER_USED: Final = "refer to it, or remove it"

_MAX_NAMES: Final = 12
"""How many words to choose from are told."""


def nearest(word: str, choices: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return which of *choices* was probably meant: the same but for case, or the most like *word*."""
    choices = sorted(choices)
    folded = {choice.casefold(): choice for choice in choices}
    if word.casefold() in folded:
        return folded[word.casefold()]
    return next(iter(get_close_matches(word, choices, 1, likeness)), None)


def did_you_mean(word: str, choices: Iterable[str]) -> str | None:
    """Return the question whether *word* was meant as the nearest of *choices*, or None if none is near."""
    meant = nearest(word, choices)
    return None if meant is None else f"did you mean {meant!r}?"


def meant_or_known(word: str, choices: Iterable[str], without_any: str | None = None) -> str | None:
    """Return the question whether *word* was meant as the nearest of *choices*, or else what there is to choose from.

    Where there is nothing to choose from, that is *without_any*.
    """
    known = sorted(choices)
    return did_you_mean(word, known) or (known_ones(known) if known else without_any)


def known_ones(choices: Iterable[str]) -> str:
    """Return what there is to choose from, in words: one at least."""
    known = sorted(choices)
    shown = [*known[:_MAX_NAMES], f"{len(known) - _MAX_NAMES} more"] if len(known) > _MAX_NAMES + 1 else known
    return f"there {'is' if len(shown) == 1 else 'are'} {listed(shown)}"


def suggestion(word: str, choices: Iterable[str]) -> str:
    """Return the end of a message that names *word*: `; did you mean 'x'?`, or nothing if none of *choices* is near."""
    question = did_you_mean(word, choices)
    return "" if question is None else f"; {question}"
