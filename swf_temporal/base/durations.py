"""Reads ISO 8601 durations.

Invalid forms of official examples are accepted: `PT7D` and `PT2W` are read as days and weeks.
Years and months have no fixed length; as durations they are 365 and 30 days.
"""

import re
from datetime import timedelta
from functools import lru_cache
from typing import Final

_DURATION = re.compile(
    r"(?P<sign>[+-])?P"
    r"(?:(?P<years>\d+(?:[.,]\d+)?)Y)?(?:(?P<months>\d+(?:[.,]\d+)?)M)?"
    r"(?:(?P<weeks>\d+(?:[.,]\d+)?)W)?(?:(?P<days>\d+(?:[.,]\d+)?)D)?"
    r"(?:T(?:(?P<tweeks>\d+(?:[.,]\d+)?)W)?(?:(?P<tdays>\d+(?:[.,]\d+)?)D)?"
    r"(?:(?P<hours>\d+(?:[.,]\d+)?)H)?(?:(?P<minutes>\d+(?:[.,]\d+)?)M)?(?:(?P<seconds>\d+(?:[.,]\d+)?)S)?)?"
)
_DAYS = {"years": 365, "months": 30, "weeks": 7, "tweeks": 7, "days": 1, "tdays": 1}


_MAX_DURATION = f"{timedelta.max.days:,} days"

MAX_LENGTH: Final = timedelta(days=5_000 * 365)
"""The limit to which longer durations are cut: the calendar, and what a server accepts, ends before the year 10,000."""


class TooLongError(ValueError):
    """A duration that is too long to calculate with."""


@lru_cache(maxsize=4096)
def parse_duration(text: str) -> timedelta:
    """Return the length of an ISO 8601 duration such as `PT15M` or `P1DT12H`, up to 5,000 years.

    Raises ValueError for anything else, a bare `P` included, and TooLongError for what is longer than a timedelta.
    """
    is_negative, written = duration_parts(text)
    parts = {unit: float(number) for unit, number in written.items()}
    days = sum(parts.pop(unit, 0.0) * length for unit, length in _DAYS.items())
    try:
        length = timedelta(days=days, **parts)
    except OverflowError:
        raise TooLongError(f"the duration {text!r} is longer than {_MAX_DURATION}") from None
    return -min(length, MAX_LENGTH) if is_negative else min(length, MAX_LENGTH)


LENGTHS = "it is a number of seconds above zero, or a duration such as PT30S"


def parse_length(text: str) -> timedelta | None:
    """Return the positive duration in *text*, in seconds or in ISO 8601, or None."""
    try:
        length = parse_duration(text) if text.upper().startswith("P") else timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        return None
    return length if length > timedelta() else None


def duration_parts(text: str) -> tuple[bool, dict[str, str]]:
    """Return whether a duration is negative, and its numbers, with decimal points, by their units.

    Days and weeks after the `T` are `tdays` and `tweeks`. Raises ValueError as `parse_duration` does.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an ISO 8601 duration such as PT15M")
    numbers = {unit: number.replace(",", ".") for unit, number in match.groupdict().items() if number}
    sign = numbers.pop("sign", "+")
    if not numbers:
        raise ValueError(f"{text!r} is not an ISO 8601 duration: it names no length")
    return sign == "-", numbers


def is_misplaced(text: str) -> bool:
    """Return whether days or weeks follow the `T`, where ISO 8601 does not allow them."""
    try:
        return not {"tdays", "tweeks"}.isdisjoint(duration_parts(text)[1])
    except ValueError:
        return False


def what_is_wrong(error: ValueError) -> str:
    """Return the meaning of *error*, raised by `parse_duration`, as the end of a sentence about the duration."""
    return f"is longer than {_MAX_DURATION}" if isinstance(error, TooLongError) else "is not a duration in ISO 8601"


def format_duration(length: timedelta) -> str:
    """Return *length* for people: `1 d 2 h`, `90 s`, `250 ms`."""
    seconds = length.total_seconds()
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            parts.append(f"{int(seconds // size)} {unit}")
            seconds %= size
    if seconds:
        parts.append(f"{seconds:g} s")
    return " ".join(parts)
