"""Repeating intervals, by which the draft says how often, and after how long, something is done again: `R5/PT15M`."""

import re

_REPEATING = re.compile(r"R(?P<times>\d*)/(?P<interval>.+)", re.DOTALL)


def repetition_of(text: str | None) -> tuple[str | None, int | None]:
    """Return the duration in *text*, and how often it is repeated; None where there is no limit.

    A duration alone says nothing of how often: that is never, if nothing else says so.
    """
    match = None if text is None else _REPEATING.fullmatch(text.strip())
    if match is None:
        return text, 0
    return match["interval"].strip(), int(match["times"]) if match["times"] else None
