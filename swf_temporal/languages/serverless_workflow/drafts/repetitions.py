"""Repeating intervals, which drafts use for the number and delay of retries: `R5/PT15M`."""

import re

_REPEATING = re.compile(r"[Rr](?P<times>\d{0,9})/(?P<interval>.*)", re.DOTALL)


def repetition_of(text: str | None, alone: int | None = 0) -> tuple[str | None, int | None]:
    """Return the duration in *text* and the number of repetitions: None for `R/`, and *alone* for a plain duration."""
    match = None if text is None else _REPEATING.fullmatch(text.strip())
    if match is None:
        return text, alone
    return match["interval"].strip(), int(match["times"]) if match["times"] else None
