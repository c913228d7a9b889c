"""The English grammar of messages: plurals, articles and lists."""

import re
from collections.abc import Sequence

_SOUNDS_LIKE_Y_OR_W = re.compile(r"eu|one|u(?:ni|se|uid)", re.IGNORECASE)
"""The beginnings of words that start with a vowel but sound like a consonant."""


def plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}s"


def counted(number: int, noun: str) -> str:
    """Return `no events`, `1 event` or `2,000 events`."""
    return f"{format(number, ',') if number else 'no'} {noun if number == 1 else plural(noun)}"


def with_article(noun: str) -> str:
    """Return `a set`, `an object`."""
    return f"an {noun}" if noun[:1] in "aeiouAEIO" and not _SOUNDS_LIKE_Y_OR_W.match(noun) else f"a {noun}"


def listed(words: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
