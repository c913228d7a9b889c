"""Do we read cron expressions as croniter does, where both know the same?

Left out is what the two read differently on purpose: the numbers of weekdays in six fields, ranges such as `JAN-JAN`,
and `W` beyond the 28th. Of `#` and `W` beside the other field for days croniter makes both, not either.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from croniter import CroniterError, croniter
from hypothesis import assume, given
from hypothesis import strategies as st

from swf_temporal.base.calendars.compiling import compile_schedule
from swf_temporal.base.calendars.cron import DAY_OF_MONTH, UNIX_WEEKDAY, Field, numbers
from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.calendars.previewing import preview

_MONTHS = ("JAN", "feb", "Mar", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "mon", "Tue", "WED", "THU", "FRI", "SAT")


def _entries(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    pairs = st.tuples(number, number).filter(lambda pair: pair[0] < pair[1])
    steps = st.integers(2, max(2, (high - low) // 2))
    return st.one_of(
        number.map(str),
        pairs.map(lambda pair: f"{pair[0]}-{pair[1]}"),
        steps.map(lambda step: f"*/{step}"),
        st.tuples(st.integers(low, high - 2), steps).map(lambda of: f"{of[0]}/{of[1]}"),
        st.tuples(pairs, steps).map(lambda of: f"{of[0][0]}-{of[0][1]}/{of[1]}"),
    )


def _fields(low: int, high: int) -> st.SearchStrategy[str]:
    return st.one_of(st.just("*"), st.lists(_entries(low, high), min_size=1, max_size=3).map(",".join))


def _named(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    name = st.sampled_from(names)
    ranges = st.tuples(name, name).filter(lambda pair: pair[0] != pair[1]).map("-".join)
    return st.lists(st.one_of(name, ranges), min_size=1, max_size=2).map(",".join)


def _is_partial(field: Field, text: str) -> bool:
    return text in {"*", "?"} or len(numbers(field, text, 0)) < field.size


_MINUTES = _fields(0, 59)
_HOURS = _fields(0, 23)
_MONTH = st.one_of(_fields(1, 12), _named(_MONTHS))
_PLAIN_DAYS = st.tuples(
    _fields(1, 31).filter(lambda text: _is_partial(DAY_OF_MONTH, text)),
    st.one_of(_fields(0, 6), _named(_WEEKDAYS)).filter(lambda text: _is_partial(UNIX_WEEKDAY, text)),
)
_DAYS = st.one_of(
    _PLAIN_DAYS,
    st.tuples(st.sampled_from(("L", "1,L", "15,L")), st.just("*")),
    st.tuples(st.integers(1, 28).map(lambda day: f"{day}W"), st.just("?")),
    st.tuples(
        st.just("*"), st.tuples(st.sampled_from(_WEEKDAYS), st.integers(1, 5)).map(lambda of: f"{of[0]}#{of[1]}")
    ),
)
_NAMED_DAYS = st.tuples(_fields(1, 31), st.one_of(st.just("*"), _named(_WEEKDAYS))).filter(
    lambda pair: _is_partial(DAY_OF_MONTH, pair[0]) and _is_partial(UNIX_WEEKDAY, pair[1])
)
_AFTER = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)).map(lambda time: time.replace(tzinfo=UTC))  # noqa: DTZ001 - made aware here
_COUNT = 5


@given(minute=_MINUTES, hour=_HOURS, month=_MONTH, days=_DAYS, after=_AFTER)
def test_five_fields(minute: str, hour: str, month: str, days: tuple[str, str], after: datetime) -> None:
    ours, theirs = _times(f"{minute} {hour} {days[0]} {month} {days[1]}", after)
    assert ours == theirs


@given(second=_MINUTES, minute=_MINUTES, hour=_HOURS, month=_MONTH, days=_NAMED_DAYS, after=_AFTER)
def test_six_fields(second: str, minute: str, hour: str, month: str, days: tuple[str, str], after: datetime) -> None:
    ours, theirs = _times(f"{second} {minute} {hour} {days[0]} {month} {days[1]}", after)
    assert ours == theirs


@pytest.mark.parametrize(("text", "timezone", "after", "ours", "theirs"), [
    ("30 2 * * *", "Europe/Berlin", "2030-03-31", ["2030-04-01T02:30+02:00"], ["2030-03-31T03:00+02:00"]),
    ("30 2 * * *", "Europe/Berlin", "2030-10-27", ["2030-10-27T02:30+01:00", "2030-10-28T02:30+01:00"],
     ["2030-10-27T02:30+02:00", "2030-10-27T02:30+01:00"]),
    ("0 0 9 ? * 2", "UTC", "2030-01-01", ["2030-01-07T09:00+00:00"], ["2030-01-01T09:00+00:00"]),
    ("0 0 15W * MON", "UTC", "2030-01-01", ["2030-01-07T00:00+00:00"], ["2030-01-15T00:00+00:00"]),
    ("0 0 29 2 *", "UTC", "2097-01-01", [], ["2104-02-29T00:00+00:00"]),
])  # fmt: skip
def test_what_croniter_takes_otherwise(
    text: str, timezone: str, after: str, ours: list[str], theirs: list[str]
) -> None:
    zone = ZoneInfo(timezone)
    begin = datetime.fromisoformat(after).replace(tzinfo=zone)
    coming = preview(compile_schedule(cron=text, timezone=timezone), begin, max(len(ours), 1))
    assert [time.astimezone(zone).isoformat(timespec="minutes") for time in coming] == ours
    expression = croniter(text, begin, ret_type=datetime, second_at_beginning=True)
    assert [expression.get_next().isoformat(timespec="minutes") for _ in theirs] == theirs


@pytest.mark.parametrize("text", ["0 0 13 * FRI#3", "0 0 9 LW * ?", "0 0 9 L-2 * ?"])
def test_what_croniter_does_not_know(text: str) -> None:
    """Days that are read here, and that croniter refuses or never finds."""
    begin = datetime(2030, 1, 1, tzinfo=UTC)
    assert len(preview(compile_schedule(cron=text), begin, 2)) == 2
    with pytest.raises(CroniterError):
        croniter(text, begin, second_at_beginning=True).get_next()


def _times(text: str, after: datetime) -> tuple[list[datetime], list[datetime]]:
    """Return the next times of a cron expression, ours and those of croniter."""
    try:
        spec = compile_schedule(cron=text)
    except InvalidTime as error:
        assume("never comes" not in error.message)
        raise
    theirs = croniter(text, after, ret_type=datetime, second_at_beginning=True)
    return list(preview(spec, after, _COUNT)), [theirs.get_next() for _ in range(_COUNT)]
