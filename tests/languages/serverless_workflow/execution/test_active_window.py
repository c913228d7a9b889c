"""The interval in which a start is active."""

from datetime import UTC, datetime

import pytest

from swf_temporal.languages.serverless_workflow.execution.active_window import BadWindow, is_active, window_of


@pytest.mark.parametrize(
    ("interval", "moment", "active"),
    [
        (None, "2020-03-20T13:00:00", True),
        ("2020-03-20T13:00:00Z/2021-05-11T15:30:00Z", "2020-03-20T12:59:59", False),
        ("2020-03-20T13:00:00Z/2021-05-11T15:30:00Z", "2020-03-20T13:00:00", True),
        ("2020-03-20T13:00:00Z/2021-05-11T15:30:00Z", "2021-05-11T15:30:00", False),
        ("2020-03-20T13:00:00+02:00/PT1H", "2020-03-20T11:30:00", True),
        ("2020-03-20T13:00:00/PT1H", "2020-03-20T13:30:00", True),
        ("2020-03-20T13:00:00Z/PT1H", "2020-03-20T14:00:00", False),
        ("P1Y2M10DT2H30M/2020-05-11T15:30:00Z", "2020-05-11T15:29:59", True),
        ("P1Y2M10DT2H30M/2020-05-11T15:30:00Z", "2020-05-11T15:30:00", False),
        ("P1Y2M10DT2H30M", "1970-01-01T00:00:00", True),
        ("2020-03-20T13:00:00Z/P9999Y", "2999-01-01T00:00:00", True),
    ],
)
def test_is_active(interval: str | None, moment: str, *, active: bool) -> None:
    """A start is active from the begin of its interval on, and no more at its end."""
    assert is_active(interval, datetime.fromisoformat(moment).replace(tzinfo=UTC)) is active


@pytest.mark.parametrize(
    ("interval", "why"),
    [
        ("", "is not a start and an end"),
        ("tomorrow", "cannot be read|is not a start"),
        ("R/PT1H", "cannot be read"),
        ("PT1H/PT2H", "is not a start and an end"),
        ("2020-03-20T13:00:00Z", "is not a start and an end"),
        ("2020-03-20T13:00:00Z/2020-03-20T12:00:00Z", "ends before it starts"),
        ("a/b/c", "is not a start and an end"),
        ("P1X/2020-03-20T12:00:00Z", "cannot be read"),
    ],
)
def test_what_is_no_window(interval: str, why: str) -> None:
    with pytest.raises(BadWindow, match=why):
        window_of(interval)
