"""Cron expressions: what they mean, what is told of them, and where they mislead."""

from datetime import UTC, datetime

import pytest

from swf_temporal.base.calendars.compiling import compile_schedule
from swf_temporal.base.calendars.cron import parse_cron
from swf_temporal.base.calendars.moments import CalendarSpec, InvalidTime, Range
from swf_temporal.base.calendars.previewing import preview
from swf_temporal.base.calendars.wording import pitfall_of_days, pitfall_of_zone, schedule_words

NEW_YEAR = "2026-01-01T00:00:00"

TIMES: dict[str, tuple[str, list[str]]] = {
    # five fields
    "* * * * *": (NEW_YEAR, ["2026-01-01 00:01", "2026-01-01 00:02"]),
    "0 * * * *": (NEW_YEAR, ["2026-01-01 01:00", "2026-01-01 02:00"]),
    "0 */2 * * *": (NEW_YEAR, ["2026-01-01 02:00", "2026-01-01 04:00"]),
    "0 9 8 * *": (NEW_YEAR, ["2026-01-08 09:00", "2026-02-08 09:00", "2026-03-08 09:00"]),
    "10/20 * * * *": (NEW_YEAR, ["2026-01-01 00:10", "2026-01-01 00:30", "2026-01-01 00:50", "2026-01-01 01:10"]),
    "0 0 * * 0": (NEW_YEAR, ["2026-01-04 00:00", "2026-01-11 00:00"]),
    "0 0 * * 7": (NEW_YEAR, ["2026-01-04 00:00", "2026-01-11 00:00"]),
    "0 0 * * 1": (NEW_YEAR, ["2026-01-05 00:00", "2026-01-12 00:00"]),
    "0 0 * * 5-7": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-03 00:00", "2026-01-04 00:00", "2026-01-09 00:00"]),
    "0 0 * * fri-Mon": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-03 00:00", "2026-01-04 00:00", "2026-01-05 00:00"]),
    "0 0 * * FRI-MON/2": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-04 00:00", "2026-01-09 00:00"]),
    "0 22-1 * * *": (NEW_YEAR, ["2026-01-01 01:00", "2026-01-01 22:00", "2026-01-01 23:00", "2026-01-02 00:00"]),
    "0 0 1 NOV-FEB *": (NEW_YEAR, ["2026-02-01 00:00", "2026-11-01 00:00", "2026-12-01 00:00", "2027-01-01 00:00"]),
    "0 0 30-2 * *": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-30 00:00", "2026-01-31 00:00", "2026-02-01 00:00"]),
    "0 0 13 * FRI": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-09 00:00", "2026-01-13 00:00", "2026-01-16 00:00"]),
    "0 0 ? * MON": (NEW_YEAR, ["2026-01-05 00:00", "2026-01-12 00:00"]),
    "0 0 29 2 *": (NEW_YEAR, ["2028-02-29 00:00", "2032-02-29 00:00"]),
    "0 0 31 * *": (NEW_YEAR, ["2026-01-31 00:00", "2026-03-31 00:00", "2026-05-31 00:00", "2026-07-31 00:00"]),
    # six and seven fields
    "0 0/15 * * * ?": (NEW_YEAR, ["2026-01-01 00:15", "2026-01-01 00:30", "2026-01-01 00:45", "2026-01-01 01:00"]),
    "0 15,30,45 * ? * *": (NEW_YEAR, ["2026-01-01 00:15", "2026-01-01 00:30", "2026-01-01 00:45", "2026-01-01 01:15"]),
    "*/20 * * * * *": (NEW_YEAR, ["2026-01-01 00:00:20", "2026-01-01 00:00:40", "2026-01-01 00:01"]),
    "10-30/10 0 0 * * ?": (
        NEW_YEAR,
        ["2026-01-01 00:00:10", "2026-01-01 00:00:20", "2026-01-01 00:00:30", "2026-01-02 00:00:10"],
    ),
    "0 0 0 ? * 1": (NEW_YEAR, ["2026-01-04 00:00", "2026-01-11 00:00"]),
    "0 0 0 ? * 2-6": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-05 00:00"]),
    "0 0 0 1 1 ? 2030-2031": (NEW_YEAR, ["2030-01-01 00:00", "2031-01-01 00:00"]),
    "0 0 0 1 1 ? 2030/40": (NEW_YEAR, ["2030-01-01 00:00", "2070-01-01 00:00"]),
    "0 0 0 1 1 ? *": (NEW_YEAR, ["2027-01-01 00:00", "2028-01-01 00:00"]),
    # the last day
    "0 0 0 L * ?": (NEW_YEAR, ["2026-01-31 00:00", "2026-02-28 00:00", "2026-03-31 00:00", "2026-04-30 00:00"]),
    "0 0 0 L 2 ?": (NEW_YEAR, ["2026-02-28 00:00", "2027-02-28 00:00", "2028-02-29 00:00", "2029-02-28 00:00"]),
    "0 0 0 L-3 * ?": (NEW_YEAR, ["2026-01-28 00:00", "2026-02-25 00:00", "2026-03-28 00:00", "2026-04-27 00:00"]),
    "0 0 0 L-30 * ?": (NEW_YEAR, ["2026-03-01 00:00", "2026-05-01 00:00"]),
    "0 0 0 1,L * ?": (NEW_YEAR, ["2026-01-31 00:00", "2026-02-01 00:00", "2026-02-28 00:00", "2026-03-01 00:00"]),
    "0 0 0 LW * ?": (
        NEW_YEAR,
        ["2026-01-30 00:00", "2026-02-27 00:00", "2026-03-31 00:00", "2026-04-30 00:00", "2026-05-29 00:00"],
    ),
    # the nearest workday
    "0 0 0 15W 1-4,8 ?": (
        NEW_YEAR,
        ["2026-01-15 00:00", "2026-02-16 00:00", "2026-03-16 00:00", "2026-04-15 00:00", "2026-08-14 00:00"],
    ),
    "0 0 0 1W 2,4,8 ?": (NEW_YEAR, ["2026-02-02 00:00", "2026-04-01 00:00", "2026-08-03 00:00"]),
    "0 0 0 31W * ?": (
        NEW_YEAR,
        ["2026-01-30 00:00", "2026-03-31 00:00", "2026-05-29 00:00", "2026-07-31 00:00", "2026-08-31 00:00"],
    ),
    "0 0 0 28w 2 ?": (NEW_YEAR, ["2026-02-27 00:00", "2027-02-26 00:00", "2028-02-28 00:00"]),
    # weekdays of the month
    "0 0 0 ? * 6L": (NEW_YEAR, ["2026-01-30 00:00", "2026-02-27 00:00", "2026-03-27 00:00", "2026-04-24 00:00"]),
    "0 0 * * friL": (NEW_YEAR, ["2026-01-30 00:00", "2026-02-27 00:00", "2026-03-27 00:00", "2026-04-24 00:00"]),
    "0 0 * * 5L": (NEW_YEAR, ["2026-01-30 00:00", "2026-02-27 00:00", "2026-03-27 00:00", "2026-04-24 00:00"]),
    "0 0 0 ? * L": (NEW_YEAR, ["2026-01-03 00:00", "2026-01-10 00:00"]),
    "0 0 0 ? * 6#3": (NEW_YEAR, ["2026-01-16 00:00", "2026-02-20 00:00", "2026-03-20 00:00"]),
    "0 0 * * MON#5": (NEW_YEAR, ["2026-03-30 00:00", "2026-06-29 00:00", "2026-08-31 00:00"]),
    "0 0 * * MON#1,FRI#3": (NEW_YEAR, ["2026-01-05 00:00", "2026-01-16 00:00", "2026-02-02 00:00", "2026-02-20 00:00"]),
    # names for whole expressions
    "@hourly": (NEW_YEAR, ["2026-01-01 01:00", "2026-01-01 02:00"]),
    "@daily": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-03 00:00"]),
    "@Midnight": (NEW_YEAR, ["2026-01-02 00:00", "2026-01-03 00:00"]),
    "@weekly": (NEW_YEAR, ["2026-01-04 00:00", "2026-01-11 00:00"]),
    "@monthly": (NEW_YEAR, ["2026-02-01 00:00", "2026-03-01 00:00"]),
    "@yearly": (NEW_YEAR, ["2027-01-01 00:00", "2028-01-01 00:00"]),
    "@annually": (NEW_YEAR, ["2027-01-01 00:00", "2028-01-01 00:00"]),
    # the end of what an engine knows
    "0 0 1 1 *": ("2099-06-01T00:00:00", ["2100-01-01 00:00"]),
}


@pytest.mark.parametrize(("cron", "after", "expected"), [(cron, *rest) for cron, rest in TIMES.items()], ids=TIMES)
def test_times(cron: str, after: str, expected: list[str]) -> None:
    count = len(expected) + (1 if cron.endswith(("2031", "/40")) or "2099" in after else 0)
    times = preview(compile_schedule(cron=cron), datetime.fromisoformat(after).replace(tzinfo=UTC), count)
    assert times == [datetime.fromisoformat(time).replace(tzinfo=UTC) for time in expected]


WRONG: dict[str, tuple[int, str]] = {
    "* * *": (0, "the cron expression '* * *' does not have five to seven fields"),
    "": (0, "the cron expression '' does not have five to seven fields"),
    "@often": (0, "'@often' is not one of @yearly"),
    "60 * * * *": (0, "60 is not a valid minute: it goes from 0 to 59"),
    "0 0,24 * * *": (4, "24 is not a valid hour: it goes from 0 to 23"),
    "0 0 0 * *": (4, "0 is not a valid day of the month: it goes from 1 to 31"),
    "0 0 1-32 * *": (6, "32 is not a valid day of the month"),
    "0 0 1 Juno *": (6, "'Juno' is not a valid month: it goes from 1 to 12, or JAN and so on"),
    "0 0 * * 8": (8, "8 is not a valid day of the week: it goes from 0 to 7, or SUN and so on"),
    "0 0 0 ? * 0": (
        10,
        "0 is not a valid day of the week: it goes from 1 to 7, Sunday being 1 where there are six or seven",
    ),
    "*/90 * * * *": (2, "90 is not a step: in the minute a step goes from 1 to 60"),
    "*/0 * * * *": (2, "0 is not a step"),
    "1,,2 * * * *": (2, "an entry is missing in the list '1,,2' of the minute"),
    "1-2-3 * * * *": (0, "'1-2-3' is not a valid minute"),
    "*-5 * * * *": (0, "'*-5' is not a valid minute"),
    "? * * * *": (0, "'?' is not a valid minute"),
    "-5 * * * *": (0, "'-5' is not a valid minute"),
    "²  * * * *": (0, "'²' is not a valid minute"),
    "0 0 0 L-31 * ?": (6, "no month has a day 31 days before its last"),
    "0 0 0 32W * ?": (6, "32 is not a valid day of the month"),
    "0 0 0 ? * 6#6": (12, "6 is not a week of a month: it goes from 1 to 5"),
    "0 0 0 ? * 9#1": (10, "9 is not a valid day of the week"),
    "0 0 0 ? * XL": (10, "'X' is not a valid day of the week"),
    "0 0 0 1 1 ? 2031-2030": (12, "the range '2031-2030' runs backwards"),
    "0 0 0 1 1 ? 2500": (12, "2500 is not a valid year: it goes from 1970 to 2099"),
    "0 0 0 1 1 ? 1999": (6, "the cron expression '0 0 0 1 1 ? 1999' names a day that never comes"),
    "0 0 30 2 *": (4, "the cron expression '0 0 30 2 *' names a day that never comes"),
    "0 0 0 29 2 ? 2027": (6, "names a day that never comes"),
}


@pytest.mark.parametrize(("cron", "offset", "message"), [(cron, *rest) for cron, rest in WRONG.items()], ids=WRONG)
def test_wrong(cron: str, offset: int, message: str) -> None:
    with pytest.raises(InvalidTime) as refused:
        parse_cron(cron)
    assert message in refused.value.message
    assert refused.value.offset == offset


def test_compiled() -> None:
    """Fields become few ranges, and days of months of different lengths become calendars with years."""
    every = {"month": (Range(1, 12),), "year": (), "day_of_week": (Range(0, 6),)}
    at_nine = {"second": (Range(0, 0),), "minute": (Range(0, 45, 15),), "hour": (Range(9, 9), Range(11, 11))}
    assert parse_cron("0/15 9,11 * * *") == (CalendarSpec(**at_nine, day_of_month=(Range(1, 31),), **every),)
    assert [(one.day_of_month, one.month, one.year) for one in parse_cron("0 0 0 L * ?")] == [
        ((Range(31, 31),), (Range(1, 7, 2), Range(8, 12, 2)), ()),
        ((Range(30, 30),), (Range(4, 4), Range(6, 6), Range(9, 9), Range(11, 11)), ()),
        ((Range(29, 29),), (Range(2, 2),), (Range(2000, 2096, 4),)),
        ((Range(28, 28),), (Range(2, 2),), (Range(2001, 2099, 2), Range(2002, 2098, 4), Range(2100, 2100))),
    ]


@pytest.mark.parametrize(("cron", "starred"), [
    ("0 0 */2 * 1", 4), ("0 0 0 1 * */3", 10), ("0 0 *,3 * 1", 4), ("0 0 */2 * *", None), ("0 0 1 * */1", None),
    ("0 0 1-31/2 * MON", None), ("@weekly", None),
])  # fmt: skip
def test_days(cron: str, starred: int | None) -> None:
    found = pitfall_of_days(cron)
    assert (None if found is None else found.offset) == starred


@pytest.mark.parametrize(("interval", "timezone", "has_effect"), [
    ("R/PT1H", "Europe/Berlin", False),
    ("R/PT1H", "Asia/Kolkata", True),
    ("R/PT2H", "Europe/Berlin", True),
    ("R/P1D", "Europe/Berlin", True),
    ("R/2030-01-01T09:00:00Z/PT2H", "Europe/Berlin", False),
    ("R/2030-01-01T09:00:00/PT2H", "Europe/Berlin", True),
    ("2030-01-01T09:00:00Z/PT6H", "Europe/Berlin", False),
    ("2030-01-01T09:00:00/2030-01-01T08:30:00Z", "Europe/Berlin", True),
    ("R/PT1H", "Etc/UTC", True),
])  # fmt: skip
def test_zone(interval: str, timezone: str, *, has_effect: bool) -> None:
    """A timezone that is named and changes nothing is told; one that is UTC changes nothing on purpose."""
    assert (pitfall_of_zone(interval, timezone) is None) == has_effect


@pytest.mark.parametrize(("expression", "words"), [
    ("0 9 * * *", "at 09:00"),
    ("30 8,17 * * 1-5", "at 08:30, 17:30 on Monday to Friday"),
    ("0 0 * * 0,6", "at 00:00 on Saturday, Sunday"),
    ("*/15 * * * *", "every 15 minutes"),
    ("* * * * *", "every minute"),
    ("5 * * * *", "at minute 5 of every hour"),
    ("0/20 9-17 * * *", "every 20 minutes of hours 9 to 17"),
    ("0 */2 * * *", "at minute 0 of every 2 hours"),
    ("0 0 1,15 1-3 *", "at 00:00 on days 1, 15 of the month in January to March"),
    ("30 4 1 * 5", "at 04:30 on Friday; and at 04:30 on day 1 of the month"),
    ("*/10 * * * * ?", "at second 0, 10, 20, 30, 40, 50 of minute 0 to 59 of hour 0 to 23"),
    ("0 0 12 1 1 ? 2031", "at 12:00 on day 1 of the month in January in 2031"),
])  # fmt: skip
def test_cron(expression: str, words: str) -> None:
    told = schedule_words(cron=expression)
    assert sorted(told.removesuffix(" (UTC)").split("; and ")) == sorted(words.split("; and "))


@pytest.mark.parametrize(("interval", "words"), [
    ("R/PT15M", "every 15 min (UTC)"),
    ("R/P1M", "every 1 month (UTC)"),
    ("R5/2031-01-01T00:00:00Z/P1D", "every 1 d, 5 times, from 2031-01-01T00:00:00+00:00 (UTC)"),
    ("2031-01-01T00:00:00Z/PT1H", "once, at the start of the time from 2031-01-01T00:00:00+00:00 for 1 h (UTC)"),
])  # fmt: skip
def test_intervals(interval: str, words: str) -> None:
    assert schedule_words(interval=interval) == words
