"""Which times does an interval name, and a schedule as a whole?"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.calendars.compiling import compile_schedule, parse_interval
from swf_temporal.base.calendars.moments import IntervalSpec, InvalidTime, Range, ScheduleSpec, ranges_of
from swf_temporal.base.calendars.previewing import distance, preview

BEGINNING = "2000-01-01T00:00:00"
NEW_YEAR = "2026-01-01T00:00:00"

Case = tuple[dict[str, str], str, list[str]]

MORE: dict[str, Case] = {
    "from a start": ({"interval": "R/2020-03-20T13:00:00Z/PT2H"}, BEGINNING,
                     ["2020-03-20 13:00", "2020-03-20 15:00", "2020-03-20 17:00"]),
    "from nowhere": ({"interval": "R/PT2H"}, "2026-01-01T00:30:00", ["2026-01-01 02:00", "2026-01-01 04:00"]),
    "from nowhere, in half an hour's zone": ({"interval": "R/PT2H", "timezone": "Asia/Kolkata"}, NEW_YEAR,
                                             ["2026-01-01 00:30", "2026-01-01 02:30"]),
    "a duration alone": ({"interval": "PT15M"}, NEW_YEAR, ["2026-01-01 00:15", "2026-01-01 00:30"]),
    "small letters and a comma": ({"interval": "r/pt0,5h"}, NEW_YEAR, ["2026-01-01 00:30", "2026-01-01 01:00"]),
    "a part of a second": ({"interval": "R/2026-01-01T00:00:00.5Z/PT10S"}, BEGINNING,
                           ["2026-01-01 00:00:01", "2026-01-01 00:00:11"]),
    "days by the calendar": ({"interval": "R/P1D", "timezone": "Europe/Berlin"}, "2026-03-28T12:00:00",
                             ["2026-03-28 23:00", "2026-03-29 22:00"]),
    "days by the clock": ({"interval": "R/2026-03-28T00:00:00/PT24H", "timezone": "Europe/Berlin"},
                          "2026-03-28T12:00:00", ["2026-03-28 23:00", "2026-03-29 23:00"]),
    "weeks begin on Mondays": ({"interval": "R/P1W", "timezone": "Australia/Sydney"}, NEW_YEAR,
                               ["2026-01-04 13:00", "2026-01-11 13:00"]),
    "weeks after the T": ({"interval": "R/PT7D"}, NEW_YEAR, ["2026-01-05 00:00", "2026-01-12 00:00"]),
    "two weeks": ({"interval": "R/P2W"}, NEW_YEAR, ["2026-01-12 00:00", "2026-01-26 00:00"]),
    "months": ({"interval": "R/P1M"}, NEW_YEAR, ["2026-02-01 00:00", "2026-03-01 00:00"]),
    "quarters": ({"interval": "R/P3M"}, NEW_YEAR, ["2026-04-01 00:00", "2026-07-01 00:00"]),
    "years": ({"interval": "R/P1Y"}, NEW_YEAR, ["2027-01-01 00:00", "2028-01-01 00:00"]),
    "months of different lengths": ({"interval": "R/2026-01-31T10:00:00/P1M", "timezone": "Europe/Paris"}, BEGINNING,
                                    ["2026-01-31 09:00", "2026-02-28 09:00", "2026-03-31 08:00", "2026-04-30 08:00"]),
    "leap years": ({"interval": "R/2024-02-29T00:00:00Z/P1Y"}, BEGINNING,
                   ["2024-02-29 00:00", "2025-02-28 00:00", "2026-02-28 00:00", "2027-02-28 00:00",
                    "2028-02-29 00:00"]),
    "every fourth year": ({"interval": "R/2024-02-29T00:00:00Z/P4Y"}, BEGINNING,
                          ["2024-02-29 00:00", "2028-02-29 00:00", "2032-02-29 00:00"]),
    "every fifth month": ({"interval": "R/2026-01-31T00:00:00Z/P5M"}, BEGINNING,
                          ["2026-01-31 00:00", "2026-06-30 00:00", "2026-11-30 00:00", "2027-04-30 00:00"]),
    "noon by the clocks": ({"cron": "0 12 * * *", "timezone": "Europe/Berlin"}, "2026-03-28T00:00:00",
                           ["2026-03-28 11:00", "2026-03-29 10:00"]),
    "a time that clocks skip": ({"cron": "30 2 * * *", "timezone": "Europe/Berlin"}, "2026-03-28T00:00:00",
                                ["2026-03-28 01:30", "2026-03-30 00:30"]),
    "a time that clocks show twice, in the east": ({"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
                                                   "2026-10-24T12:00:00", ["2026-10-25 01:30", "2026-10-26 01:30"]),
    "several times that clocks show twice, in the east": ({"cron": "0/30 2 * * *", "timezone": "Europe/Berlin"},
                                                          "2026-10-24T12:00:00",
                                                          ["2026-10-25 01:00", "2026-10-25 02:30", "2026-10-26 01:00"]),
    "a time that clocks show twice, in the west": ({"cron": "30 1 * * *", "timezone": "America/New_York"},
                                                   "2026-10-31T12:00:00",
                                                   ["2026-11-01 05:30", "2026-11-01 06:30", "2026-11-02 06:30"]),
    "every hour, whatever clocks do": ({"cron": "0/30 * * * *", "timezone": "Europe/Berlin"}, "2026-10-25T00:00:00",
                                       ["2026-10-25 00:30", "2026-10-25 01:00", "2026-10-25 01:30",
                                        "2026-10-25 02:00"]),
    "every hour in half an hour's zone": ({"cron": "0 * * * *", "timezone": "Asia/Kolkata"}, NEW_YEAR,
                                          ["2026-01-01 00:30", "2026-01-01 01:30"]),
}  # fmt: skip

ALL: dict[str, Case] = {
    "until an end": ({"interval": "R/PT2H/2020-05-11T15:30:00Z"}, "2020-05-11T10:00:00",
                     ["2020-05-11 11:30", "2020-05-11 13:30"]),
    "so often from a start": ({"interval": "R3/2026-01-01T00:00:00Z/P1D"}, BEGINNING,
                              ["2026-01-01 00:00", "2026-01-02 00:00", "2026-01-03 00:00"]),
    "so often until an end": ({"interval": "R2/P1M/2026-05-31T00:00:00Z"}, BEGINNING,
                              ["2026-03-31 00:00", "2026-04-30 00:00"]),
    "so often from nowhere": ({"interval": "R2/PT1H"}, NEW_YEAR, ["2026-01-01 01:00", "2026-01-01 02:00"]),
    "one interval, by its ends": ({"interval": "2020-03-20T09:00:00Z/2020-03-20T15:00:00Z"}, BEGINNING,
                                  ["2020-03-20 09:00"]),
    "one interval, by start and length": ({"interval": "2030-01-01T09:00:00/PT6H", "timezone": "Asia/Tokyo"}, BEGINNING,
                                          ["2030-01-01 00:00"]),
    "one interval, by length and end": ({"interval": "PT6H/2030-01-01T09:00:00Z"}, BEGINNING, ["2030-01-01 03:00"]),
    "one interval that is over": ({"interval": "2020-03-20T09:00:00Z/2020-03-20T15:00:00Z"}, NEW_YEAR, []),
    "beyond what an engine knows": ({"interval": "R/9999-12-31T23:59:59/P1W"}, NEW_YEAR, []),
    "cron in an interval": ({"interval": "2026-01-10T12:00:00Z/P2D", "cron": "0 12 * * *"}, BEGINNING,
                            ["2026-01-10 12:00", "2026-01-11 12:00"]),
    "cron until the end of an interval": ({"interval": "P1D/2026-01-02", "cron": "0 0/12 * * *",
                                           "timezone": "Europe/Berlin"}, BEGINNING,
                                          ["2025-12-31 23:00", "2026-01-01 11:00"]),
    "cron until it is no longer valid": ({"cron": "0 * * * *", "valid_until": "2026-01-01T03:00:00Z"}, NEW_YEAR,
                                         ["2026-01-01 01:00", "2026-01-01 02:00"]),
    "the official end": ({"cron": "0 15,30,45 * ? * *", "valid_until": "2021-11-05T08:15:30-05:00"},
                         "2021-11-05T12:30:00", ["2021-11-05 12:45", "2021-11-05 13:15"]),
    "an end by the clocks of a zone": ({"cron": "0 0 0/6 * * ?", "valid_until": "2026-01-01T12:00:00",
                                        "timezone": "America/New_York"}, NEW_YEAR,
                                       ["2026-01-01 05:00", "2026-01-01 11:00"]),
}  # fmt: skip


@pytest.mark.parametrize(("schedule", "after", "expected"), MORE.values(), ids=MORE)
def test_next(schedule: dict[str, str], after: str, expected: list[str]) -> None:
    assert _times(schedule, after, len(expected)) == expected


@pytest.mark.parametrize(("schedule", "after", "expected"), ALL.values(), ids=ALL)
def test_all(schedule: dict[str, str], after: str, expected: list[str]) -> None:
    assert _times(schedule, after, 9) == expected


def _times(schedule: dict[str, str], after: str, count: int) -> list[str]:
    times = preview(compile_schedule(**schedule), datetime.fromisoformat(after).replace(tzinfo=UTC), count)
    return [time.strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00") for time in times]


WRONG: dict[str, tuple[dict[str, str], int, str]] = {
    "words": ({"interval": "every hour"}, 0, "the interval 'every hour' is not an ISO 8601 interval"),
    "nothing": ({"interval": ""}, 0, "the interval '' is not an ISO 8601 interval"),
    "R alone": ({"interval": "R"}, 0, "the interval 'R' is not an ISO 8601 interval"),
    "two lengths": ({"interval": "R/PT1H/PT2H"}, 0, "the interval 'R/PT1H/PT2H' is not"),
    "one time": ({"interval": "2030-01-01T00:00:00Z"}, 0, "is not an ISO 8601 interval"),
    "by both ends": ({"interval": "R/2030-01-01/2030-01-02"}, 0, "repeats from a start to an end"),
    "three parts": ({"interval": "R/2030-01-01/PT1H/2031-01-01"}, 0, "is not an ISO 8601 interval"),
    "no times": ({"interval": "R0/PT1H"}, 0, "the interval 'R0/PT1H' repeats no time at all"),
    "no such day": ({"interval": "R/2030-02-30/P1D"}, 2, "'2030-02-30' is not an ISO 8601 date and time"),
    "no duration": ({"interval": "R/2030-01-01/P1H"}, 13, "'P1H' is not an ISO 8601 duration"),
    "an empty duration": ({"interval": "R/P"}, 2, "'P' is not an ISO 8601 duration"),
    "no length": ({"interval": "R/PT0S"}, 2, "'PT0S' has no length: the shortest is a second"),
    "milliseconds": ({"interval": "R/PT0.5S"}, 2, "'PT0.5S' is not a whole number of months or of seconds"),
    "half a month": ({"interval": "R/P0.5M"}, 2, "'P0.5M' is not a whole number"),
    "a very long time": ({"interval": "R/P101Y"}, 2, "'P101Y' is more than a hundred years"),
    "too many times": ({"interval": "R9999/2030-01-01/P1Y"}, 0, "times that lie before the year 1, or after 9999"),
    "the end of time": ({"interval": "R/9999-12-31T23:59:59-10:00/P1D"}, 0, "after 9999"),
    "a mixture": ({"interval": "R/P1M1D"}, 2, "'P1M1D' mixes months with days or hours"),
    "backwards": ({"interval": "2030-01-02/2030-01-01"}, 0, "the interval ends at 2030-01-01T00:00:00+00:00, before"),
    "both": ({"interval": "R/PT1H", "cron": "@daily"}, 0, "has an interval that repeats and a cron expression"),
    "neither": ({}, 0, "the schedule has neither an interval nor a cron expression"),
    "no zone": ({"interval": "R/PT1H", "timezone": "Mars/Base"}, 0, "the timezone 'Mars/Base' is not known"),
    "a path": ({"interval": "R/PT1H", "timezone": "/etc/passwd"}, 0, "the timezone '/etc/passwd' is not known"),
    "no end": ({"cron": "@daily", "valid_until": "later"}, 0, "'later' is not an ISO 8601 date and time"),
}


@pytest.mark.parametrize(("schedule", "offset", "message"), WRONG.values(), ids=WRONG)
def test_wrong(schedule: dict[str, str], offset: int, message: str) -> None:
    with pytest.raises(InvalidTime) as refused:
        compile_schedule(**schedule)
    assert message in refused.value.message
    assert refused.value.offset == offset


@given(
    interval=st.text(alphabet="RrPpTtDHMSWY0123456789/.:-+Z ", max_size=40),
    cron=st.text(alphabet="0123456789*?/-,#LWlwMONJAN@ \t²", max_size=40),
)
def test_anything(interval: str, cron: str) -> None:
    for schedule in ({"interval": interval}, {"cron": cron}, {"interval": f"R{interval}/2030-01-01/P1D"}):
        with suppress(InvalidTime):
            assert len(preview(compile_schedule(**schedule), datetime(2026, 1, 1, tzinfo=UTC), 3)) <= 3


def test_period() -> None:
    """A length by the clock becomes a period, with what is left of its start as the phase."""
    assert compile_schedule(interval="R/2020-03-20T13:00:05Z/PT2H") == ScheduleSpec(
        intervals=(IntervalSpec(timedelta(hours=2), timedelta(hours=1, seconds=5)),),
        start_at=datetime(2020, 3, 20, 13, 0, 5, tzinfo=UTC),
    )


def test_limit() -> None:
    """A number of times without a start or an end is a limit; with one of them it gives the other."""
    assert compile_schedule(interval="R5/PT1H").limit == 5
    bounded = compile_schedule(interval="R5/2026-01-01/PT1H")
    assert (bounded.limit, bounded.end_at) == (None, datetime(2026, 1, 1, 4, tzinfo=UTC))
    assert parse_interval("R/PT1H").count is None


@pytest.mark.parametrize(("schedule", "expected"), [
    ({"interval": "R/PT10S"}, timedelta(minutes=1)),
    ({"cron": "* * * * *"}, timedelta(minutes=1)),
    ({"cron": "0,10 * * * *"}, timedelta(minutes=10)),
    ({"interval": "R/2090-01-01/PT8H"}, timedelta(hours=8)),
    ({"cron": "@monthly"}, timedelta(days=1)),
    ({"interval": "2030-01-01/P1D"}, timedelta(days=1)),
])  # fmt: skip
def test_distance(schedule: dict[str, str], expected: timedelta) -> None:
    """A missed start is made up for until the next one, but for a minute at least and a day at most."""
    assert distance(compile_schedule(**schedule)) == expected


@pytest.mark.parametrize(("values", "expected"), [
    ([], ()),
    ([5], (Range(5, 5),)),
    ([1, 2], (Range(1, 2),)),
    ([1, 2, 3], (Range(1, 3),)),
    ([0, 20, 40], (Range(0, 40, 20),)),
    ([1, 5, 6], (Range(1, 1), Range(5, 6))),
    ([1, 2, 3, 10, 20, 30], (Range(1, 3), Range(10, 30, 10))),
])  # fmt: skip
def test_ranges(values: list[int], expected: tuple[Range, ...]) -> None:
    assert ranges_of(values) == expected
    assert sorted(number for one in ranges_of(values) for number in one) == values
