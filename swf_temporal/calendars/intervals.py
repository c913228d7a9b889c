"""Reads the text of an interval (section "Schedule Definition").

`R/<start>/<duration>`, `R/<duration>/<end>` and `R/<duration>` repeat; the specification has no more than these.
`R5/…`, which ISO 8601 has, repeats five times. Without an `R` there is one interval, from a start to an end, either of
which may be given by a duration; but a duration alone can only be meant to repeat.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from swf_temporal.calendars.lengths import Length, parse_length
from swf_temporal.calendars.unreadable import Unreadable
from swf_temporal.calendars.zones import parse_time

_REPEATS = re.compile(r"R(?P<count>\d{0,9})", re.IGNORECASE | re.ASCII)
_TWO = 2
_HINT = "such as R/PT15M"


@dataclass(frozen=True, slots=True)
class Interval:
    """Two of start, length and end, or just a length. *count* is how often it repeats, if not for ever."""

    repeats: bool
    start: datetime | None = None
    length: Length | None = None
    end: datetime | None = None
    count: int | None = None


def parse_interval(text: str) -> Interval:
    """Return what the interval *text* says. Raises Unreadable if it says nothing."""
    parts = _parts(text)
    repetition = _REPEATS.fullmatch(parts[0][0])
    count = None
    if repetition is not None:
        del parts[0]
        count = int(repetition["count"]) if repetition["count"] else None
        if count == 0:
            raise Unreadable(f"the interval {text!r} repeats no time at all", 0, _HINT)
    if not 1 <= len(parts) <= _TWO:
        raise _unreadable(text)
    is_length = [part[:1].upper() == "P" for part, _ in parts]
    if is_length == [True]:
        return Interval(repeats=True, length=parse_length(*parts[0]), count=count)
    if is_length == [True, False]:
        start, length, end = None, parse_length(*parts[0]), _time(text, *parts[1])
    elif is_length == [False, True]:
        start, length, end = _time(text, *parts[0]), parse_length(*parts[1]), None
    elif is_length == [False, False] and repetition is None:
        start, length, end = _time(text, *parts[0]), None, _time(text, *parts[1])
    else:
        raise _unreadable(text)
    return Interval(repetition is not None, start, length, end, count)


def _parts(text: str) -> list[tuple[str, int]]:
    """Return what stands between the slashes, each with where it starts."""
    return [(match[0].strip(), match.start()) for match in re.finditer(r"[^/]+", text)] or [("", 0)]


def _time(whole: str, text: str, offset: int) -> datetime:
    try:
        return parse_time(text, offset)
    except Unreadable:
        if text[:1].isdecimal():
            raise
        raise _unreadable(whole) from None


def _unreadable(text: str) -> Unreadable:
    return Unreadable(f"the interval {text!r} is not an ISO 8601 interval", 0, _HINT)
