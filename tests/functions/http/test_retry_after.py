"""When a service wants to be asked again."""

from datetime import UTC, datetime

import pytest

from swf_temporal.functions.http.answers import seconds_to_wait
from swf_temporal.runtime.retrying import MAX_DELAY

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(("headers", "seconds"), [
    ({}, None),
    ({"retry-after": "17"}, 17),
    ({"retry-after": " 0 "}, 0),
    ({"retry-after": "9" * 400}, MAX_DELAY),
    ({"retry-after": "Sat, 31 Jan 2026 12:01:00 GMT"}, 60),
    ({"retry-after": "Sat, 31 Jan 2026 13:01:00 +0100"}, 60),
    ({"retry-after": "Sat, 31 Jan 2026 11:00:00 GMT"}, 0),
    ({"retry-after": "Sat, 31 Jan 2026 12:01:00 GMT", "date": "Sat, 31 Jan 2026 12:00:30 GMT"}, 30),
    ({"retry-after": "Sat, 31 Jan 2026 12:01:00 GMT", "date": "today"}, 60),
    ({"retry-after": "-1"}, None),
    ({"retry-after": "1.5"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "Sat, 99 Jan 2026 12:01:00 GMT"}, None),
    ({"retry-after": "\u0667"}, None),
])  # fmt: skip
def test_seconds_and_dates(headers: dict[str, str], seconds: float | None) -> None:
    """No number is more than a history can hold: a call whose failure cannot be recorded would be made for ever."""
    assert seconds_to_wait(headers, NOW) == seconds
