"""The calendar times that a cron expression names (section "Cron Definition").

The specification cites crontab, with five fields, and shows Quartz, with six or seven, without saying so. The number
of fields decides: five begin with the minute and have Sunday as 0 or 7; six begin with the second and have Sunday as
1; seven end with the year.

A calendar can hold days of the month, days of the week, months and years, and a day is in it if all of them agree.
`L`, `W` and `#` are spelled out with these: the last day of the month is the 31st of seven months, the 30th of four,
and the 28th or 29th of February by the year; the weekday nearest to the 15th is the 15th if that is one, the 14th if
it is a Friday, the 16th if it is a Monday.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from swf_temporal.base.calendars.moments import (
    DAYS_OF_MONTH,
    DAYS_OF_WEEK,
    FIRST_YEAR,
    LAST_YEAR,
    MONTHS,
    CalendarSpec,
    InvalidTime,
    Ranges,
    ranges_of,
)
from swf_temporal.base.calendars.previewing import ever_comes

_ENTRY = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d{1,9}))?", re.ASCII)
_DIGITS = 9
"""The maximum number of digits that are read."""

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
    """The highest number that may be written, if it means the same as the first."""
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
"""Sunday is 0 or 7."""
QUARTZ_WEEKDAY = Field("day of the week", 1, 7, {name: number for number, name in enumerate(_WEEKDAYS, 1)})
"""Sunday is 1."""


def entries(of: Field, text: str, offset: int) -> Iterator[tuple[str, int]]:
    """Yield the entries of a field's list, each with its offset. Raises InvalidTime if one is empty."""
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
    """Return the numbers that one entry of a list names. Raises InvalidTime, with the allowed values."""
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
    """Return the number in *text*, in digits or as a name in any case. Raises InvalidTime."""
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


_LAST_DAY = re.compile(r"L(?:-(?P<before>\d{1,9}))?(?P<weekday>W)?", re.IGNORECASE | re.ASCII)
_NEAREST = re.compile(r"(?P<day>\d{1,9})W", re.IGNORECASE | re.ASCII)
_LAST_WEEKDAY = re.compile(r"(?P<day>\w+)L", re.IGNORECASE | re.ASCII)
_NTH = re.compile(r"(?P<day>\w+)#(?P<nth>\w+)", re.ASCII)

_MIN_DAYS, _WEEK = 28, 7
_WEEKS = frozenset("12345")
_WORKDAYS = frozenset({1, 2, 3, 4, 5})
_MONDAY, _FRIDAY, _SATURDAY = frozenset({1}), frozenset({5}), frozenset({6})

_LEAP = frozenset(range(FIRST_YEAR, LAST_YEAR, 4))
"""The leap years; 2100 is not one."""
_COMMON = frozenset(range(FIRST_YEAR, LAST_YEAR + 1)) - _LEAP


@dataclass(frozen=True, slots=True)
class Days:
    """The days for which all fields agree. No years means every year."""

    of_month: frozenset[int] = DAYS_OF_MONTH
    of_week: frozenset[int] = DAYS_OF_WEEK
    months: frozenset[int] = MONTHS
    years: frozenset[int] | None = None


MONTHS_BY_LENGTH: tuple[tuple[int, frozenset[int], frozenset[int] | None], ...] = (
    (31, frozenset({1, 3, 5, 7, 8, 10, 12}), None),
    (30, frozenset({4, 6, 9, 11}), None),
    (29, frozenset({2}), _LEAP),
    (28, frozenset({2}), _COMMON),
)
"""The months and years in which a month has a given number of days."""


def days_of(day_of_month: tuple[str, int], day_of_week: tuple[str, int], weekday: Field) -> tuple[Days, ...]:
    """Return the days that two fields name, each given with its offset; a day may match any element of the result.

    If both are restricted, a day needs to match only one of them, as in cron.
    """
    in_month, in_week = _in_month(*day_of_month), _in_week(*day_of_week, weekday)
    if in_month is None and in_week is None:
        return (Days(),)
    return (*(in_month or ()), *(in_week or ()))


def at_end_of_month(before: int = 0) -> list[Days]:
    """Return the days that are *before* days before the last of their month."""
    return _by_length(lambda last: [(last - before, DAYS_OF_WEEK)] if last > before else [])


def _in_month(text: str, offset: int) -> list[Days] | None:
    if is_unrestricted(text):
        return None
    found: list[Days] = []
    plain: frozenset[int] = frozenset()
    for entry, at in entries(DAY_OF_MONTH, text, offset):
        if match := _LAST_DAY.fullmatch(entry):
            found += _from_the_end(match, at)
        elif match := _NEAREST.fullmatch(entry):
            found += _by_length(_nearest(number(DAY_OF_MONTH, match["day"], at)))
        else:
            plain |= numbers_of_entry(DAY_OF_MONTH, entry, at)
    return [Days(of_month=plain), *found] if plain else found


def _in_week(text: str, offset: int, weekday: Field) -> list[Days] | None:
    if is_unrestricted(text):
        return None
    found: list[Days] = []
    plain: frozenset[int] = frozenset()
    for entry, at in entries(weekday, text, offset):
        if entry.upper() == "L":
            plain |= _SATURDAY
        elif match := _NTH.fullmatch(entry):
            nth = match["nth"]
            if nth not in _WEEKS:
                raise InvalidTime(f"{nth} is not a week of a month: it goes from 1 to 5", at + match.start("nth"))
            last = _WEEK * int(nth)
            of_week = _weekdays(weekday, frozenset({number(weekday, match["day"], at)}))
            found.append(Days(frozenset(range(last - _WEEK + 1, min(last, 31) + 1)), of_week))
        elif match := _LAST_WEEKDAY.fullmatch(entry):
            found += _last_weekday(_weekdays(weekday, frozenset({number(weekday, match["day"], at)})))
        else:
            plain |= _weekdays(weekday, numbers_of_entry(weekday, entry, at))
    return [Days(of_week=plain), *found] if plain else found


def is_unrestricted(text: str) -> bool:
    return text in {"*", "?", "*/1"}


def _weekdays(weekday: Field, written: frozenset[int]) -> frozenset[int]:
    """Return days of the week with the numbers of calendars: Sunday is 0."""
    return frozenset((value - weekday.names["SUN"]) % _WEEK for value in written)


def _from_the_end(match: re.Match[str], offset: int) -> list[Days]:
    before = int(match["before"] or 0)
    if before >= DAY_OF_MONTH.high:
        raise InvalidTime(f"no month has a day {before} days before its last", offset)
    if not match["weekday"]:
        return at_end_of_month(before)
    return _by_length(lambda last: _nearest(last - before)(last) if last > before else [])


Alternatives = list[tuple[int, frozenset[int]]]
"""Days of the month, each with the days of the week on which it counts."""


def _nearest(day: int) -> Callable[[int], Alternatives]:
    """Return a function for the workday nearest to *day* in a month of a given length, without leaving the month."""

    def alternatives(last: int) -> Alternatives:
        if day > last:
            return []
        from_saturday = (day - 1, _FRIDAY) if day > 1 else (day + 2, _MONDAY)
        from_sunday = (day + 1, _MONDAY) if day < last else (day - 2, _FRIDAY)
        return [(day, _WORKDAYS), from_saturday, from_sunday]

    return alternatives


def _last_weekday(of_week: frozenset[int]) -> list[Days]:
    return [
        Days(frozenset(range(last - _WEEK + 1, last + 1)), of_week, months, years)
        for last, months, years in MONTHS_BY_LENGTH
    ]


def _by_length(alternatives: Callable[[int], Alternatives]) -> list[Days]:
    """Return the days that *alternatives* gives for each length of a month; one record if they are all the same."""
    if all(alternatives(last) == alternatives(_MIN_DAYS) for last, _, _ in MONTHS_BY_LENGTH):
        return [Days(frozenset({day}), of_week) for day, of_week in alternatives(_MIN_DAYS)]
    return [
        Days(frozenset({day}), of_week, months, years)
        for last, months, years in MONTHS_BY_LENGTH
        for day, of_week in alternatives(last)
    ]


_UNIX, _QUARTZ, _QUARTZ_WITH_YEAR = 5, 6, 7
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_HINT = "such as 0 0/15 * * * ?"


def parse_cron(text: str) -> tuple[CalendarSpec, ...]:
    """Return calendars that together contain the times of the cron expression *text*.

    Raises InvalidTime if it is not valid, or names only days that never come.
    """
    weekday, fields = _fields(text)
    second, minute, hour, day_of_month, month, day_of_week, *year = fields
    at = ranges_of(numbers(SECOND, *second)), ranges_of(numbers(MINUTE, *minute)), ranges_of(numbers(HOUR, *hour))
    within = Days(months=numbers(MONTH, *month), years=_years(*year[0]) if year else None)
    days = days_of(day_of_month, day_of_week, weekday)
    calendars = tuple(spec for one in days if (spec := _calendar(at, one, within)) is not None)
    if not ever_comes(calendars):
        raise InvalidTime(f"the cron expression {text!r} names a day that never comes", day_of_month[1])
    return calendars


def days_of_cron(text: str) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the fields for the day of the month and for the day of the week, each with its offset in *text*."""
    _, fields = _fields(text)
    return fields[3], fields[5]


def _fields(text: str) -> tuple[Field, list[tuple[str, int]]]:
    """Return the field for days of the week in *text*, and its fields with their offsets, from seconds on."""
    fields = [(match[0], match.start()) for match in re.finditer(r"\S+", text)]
    if len(fields) == 1 and fields[0][0].startswith("@"):
        macro, offset = fields[0]
        if macro.lower() not in _MACROS:
            raise InvalidTime(f"{macro!r} is not one of {', '.join(_MACROS)}", offset, "such as @daily")
        return _fields(_MACROS[macro.lower()])
    if not _UNIX <= len(fields) <= _QUARTZ_WITH_YEAR:
        raise InvalidTime(f"the cron expression {text!r} does not have five to seven fields", 0, _HINT)
    if len(fields) == _UNIX:
        return UNIX_WEEKDAY, [("0", 0), *fields]
    return QUARTZ_WEEKDAY, fields


def _calendar(at: tuple[Ranges, Ranges, Ranges], days: Days, within: Days) -> CalendarSpec | None:
    months = days.months & within.months
    years = days.years if within.years is None else within.years & (days.years or within.years)
    if not months or years == frozenset():
        return None
    second, minute, hour = at
    return CalendarSpec(
        second=second,
        minute=minute,
        hour=hour,
        day_of_month=ranges_of(days.of_month),
        month=ranges_of(months),
        year=() if years is None else ranges_of(years),
        day_of_week=ranges_of(days.of_week),
    )


def _years(text: str, offset: int) -> frozenset[int] | None:
    if text in {"*", "?", "*/1"}:
        return None
    return numbers(YEAR, text, offset) & frozenset(range(FIRST_YEAR, LAST_YEAR + 1))
