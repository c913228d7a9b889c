"""Durations and times that people write in filters."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.operations.listing import length_of, moment_of


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ("90m", timedelta(minutes=90)),
        (" 2 H ", timedelta(hours=2)),
        ("1d", timedelta(days=1)),
        ("2w", timedelta(weeks=2)),
        ("P1DT12H", timedelta(days=1, hours=12)),
    ],
)
def test_durations(written: str, length: timedelta) -> None:
    assert length_of(written) == length


@pytest.mark.parametrize("written", ["", "0h", "5", "1.5h", "soon", "P", "-PT1H", "9999999d"])
def test_no_durations(written: str) -> None:
    with pytest.raises(UsageError, match="is not a duration"):
        length_of(written)


def test_moments() -> None:
    """A time of day is the latest one there; a date and a time without a zone are meant there, too."""
    zone, now = ZoneInfo("Asia/Kolkata"), datetime.now(UTC)
    assert abs(moment_of("2h", zone) - (now - timedelta(hours=2))) < timedelta(minutes=1)
    for written, clock in (("00:00", (0, 0, 0)), ("23:59:59", (23, 59, 59)), ("9:30", (9, 30, 0))):
        found = moment_of(written, zone).astimezone(zone)
        assert (found.hour, found.minute, found.second) == clock
        assert timedelta(0) <= datetime.now(UTC) - found <= timedelta(days=1, minutes=1)
    assert moment_of("2030-05-06", zone) == datetime(2030, 5, 5, 18, 30, tzinfo=UTC)
    assert moment_of("2030-05-06T12:00", zone) == datetime(2030, 5, 6, 6, 30, tzinfo=UTC)
    assert moment_of("2030-05-06T12:00:00Z", zone) == datetime(2030, 5, 6, 12, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "noon", "25:00", "2030-13-01", "0001-01-01T00:00:00", "P9999Y", "12:00:99"])
def test_no_moments(written: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        moment_of(written, ZoneInfo("Asia/Kolkata"))
