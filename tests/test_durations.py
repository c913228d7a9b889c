"""Reading ISO 8601 durations."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.durations import is_misplaced, parse_duration


@pytest.mark.parametrize(("text", "length"), [
    ("PT15M", timedelta(minutes=15)), ("P1DT12H", timedelta(days=1, hours=12)), ("PT0.5S", timedelta(milliseconds=500)),
    ("PT0,5S", timedelta(milliseconds=500)), ("P2W", timedelta(weeks=2)), ("P1M", timedelta(days=30)),
    ("P1Y", timedelta(days=365)), ("PT1M", timedelta(minutes=1)), ("PT7D", timedelta(days=7)),
    ("PT2W", timedelta(weeks=2)), ("-PT5S", timedelta(seconds=-5)), ("+PT5S", timedelta(seconds=5)),
    (" PT5S ", timedelta(seconds=5)), ("PT0S", timedelta()), ("P9999Y", timedelta(days=5_000 * 365)),
    ("-P9999Y", timedelta(days=-5_000 * 365)),
])  # fmt: skip
def test_reads(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "10s", "5", "PT5", "P5S", "PTS", "PT1H30", "pt5s", "PT5S PT5S", "P-1D"]
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        parse_duration(text)


@given(st.integers(0, 400), st.integers(0, 30), st.integers(0, 70), st.integers(0, 70))
def test_adds_its_parts(days: int, hours: int, minutes: int, seconds: int) -> None:
    text = f"P{days}DT{hours}H{minutes}M{seconds}S"
    assert parse_duration(text) == timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


@pytest.mark.parametrize(("text", "misplaced"), [("PT7D", True), ("PT2W", True), ("P7D", False), ("nonsense", False)])
def test_knows_what_is_misplaced(text: str, misplaced: bool) -> None:  # noqa: FBT001 - a parameter of the table
    assert is_misplaced(text) is misplaced
