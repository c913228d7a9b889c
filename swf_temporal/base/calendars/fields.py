"""The numbers that one field of a cron expression names."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from swf_temporal.base.calendars.moments import InvalidTime

_ENTRY = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d{1,9}))?", re.ASCII)
_DIGITS = 9
"""Longer numbers are not even read."""

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True)
class Field:
    """The values of a field: *size* numbers from *low* on, wrapping around from the last to the first."""

    name: str
    low: int
    size: int
    names: Mapping[str, int] = field(default_factory=dict)
    highest: int = -1
    """The highest number that may be written, where it is another name of the first."""
    goes_round: bool = True

    @property
    def high(self) -> int:
        return self.low + self.size - 1


SECOND = Field("second", 0, 60)
MINUTE = Field("minute", 0, 60)
HOUR = Field("hour", 0, 24)
DAY_OF_MONTH = Field("day of the month", 1, 31)
MONTH = Field("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, 1)})
YEAR = Field("year", 1970, 130, goes_round=False)
UNIX_WEEKDAY = Field("day of the week", 0, 7, {name: number for number, name in enumerate(_WEEKDAYS)}, highest=7)
"""Sunday is 0, and 7 too."""
QUARTZ_WEEKDAY = Field("day of the week", 1, 7, {name: number for number, name in enumerate(_WEEKDAYS, 1)})
"""Sunday is 1."""


def entries(of: Field, text: str, offset: int) -> Iterator[tuple[str, int]]:
    """Yield the entries of a field's list, each with where it starts. Raises Unreadable if one is empty."""
    for entry in text.split(","):
        if not entry:
            raise InvalidTime(f"an entry is missing in the list {text!r} of the {of.name}", offset)
        yield entry, offset
        offset += len(entry) + 1


def numbers(of: Field, text: str, offset: int) -> frozenset[int]:
    """Return the numbers that a list such as `0/15`, `MON-FRI` or `1,10-20/5` names."""
    found: set[int] = set()
    for entry, at in entries(of, text, offset):
        found |= numbers_of_entry(of, entry, at)
    return frozenset(found)


def numbers_of_entry(of: Field, text: str, offset: int) -> frozenset[int]:
    """Return the numbers that one entry of a list names. Raises Unreadable, naming what may stand there."""
    match = _ENTRY.fullmatch(text)
    if match is None or (match["first"] == "*" and match["last"]):
        raise InvalidTime(f"{text!r} is not a valid {of.name}: {_allowed(of)}", offset)
    step = _step(of, match["step"], offset + match.start("step"))
    if match["first"] == "*":
        start, end = of.low, of.high
    else:
        start = number(of, match["first"], offset)
        end = start
        if match["last"]:
            end = number(of, match["last"], offset + match.start("last"))
        elif match["step"]:
            start, end = _round(of, start), of.high
    if end < start:
        if not of.goes_round:
            raise InvalidTime(f"the range {text!r} runs backwards", offset)
        end += of.size
    return frozenset(_round(of, value) for value in range(start, end + 1, step))


def number(of: Field, text: str, offset: int) -> int:
    """Return the number that *text* writes, in figures or as a name in any case. Raises Unreadable."""
    if text.isdecimal() and len(text) <= _DIGITS:
        value = int(text)
        if not of.low <= value <= max(of.high, of.highest):
            raise InvalidTime(f"{text} is not a valid {of.name}: {_allowed(of)}", offset)
        return value
    if text.upper() not in of.names:
        raise InvalidTime(f"{text!r} is not a valid {of.name}: {_allowed(of)}", offset)
    return of.names[text.upper()]


def _step(of: Field, text: str | None, offset: int) -> int:
    if text is None:
        return 1
    step = int(text)
    if not 1 <= step <= of.size:
        raise InvalidTime(f"{text} is not a step: in the {of.name} a step goes from 1 to {of.size}", offset)
    return step


def _round(of: Field, value: int) -> int:
    return of.low + (value - of.low) % of.size


def _allowed(of: Field) -> str:
    text = f"it goes from {of.low} to {max(of.high, of.highest)}"
    if of is QUARTZ_WEEKDAY:
        return f"{text}, Sunday being 1 where there are six or seven fields"
    return f"{text}, or {next(iter(of.names))} and so on" if of.names else text
