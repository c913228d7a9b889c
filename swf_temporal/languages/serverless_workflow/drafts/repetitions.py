"""Repeating intervals, by which drafts say how often, and after how long, something is done again: `R5/PT15M`."""

import re

_REPEATING = re.compile(r"[Rr](?P<times>\d{0,9})/(?P<interval>.*)", re.DOTALL)


def repetition_of(text: str | None, alone: int | None = 0) -> tuple[str | None, int | None]:
    """Return the duration in *text*, and how often it is repeated: None for `R/`, and *alone* for a duration alone."""
    match = None if text is None else _REPEATING.fullmatch(text.strip())
    if match is None:
        return text, alone
    return match["interval"].strip(), int(match["times"]) if match["times"] else None
