"""Says which word was probably meant by one that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches


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


def suggestion(word: str, choices: Iterable[str]) -> str:
    """Return the end of a message that names *word*: `; did you mean 'x'?`, or nothing if none of *choices* is near."""
    question = did_you_mean(word, choices)
    return "" if question is None else f"; {question}"
