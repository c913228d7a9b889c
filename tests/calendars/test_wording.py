"""Are the words for a schedule what a person would say?"""

import pytest

from swf_temporal.base.calendars.wording import schedule_words


@pytest.mark.parametrize(
    ("expression", "words"),
    [
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
    ],
)
def test_cron(expression: str, words: str) -> None:
    """A cron expression is told by times of day, days and months."""
    told = schedule_words(cron=expression)
    assert sorted(told.removesuffix(" (UTC)").split("; and ")) == sorted(words.split("; and "))


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ("R/PT15M", "every 15 min (UTC)"),
        ("R/P1M", "every 1 month (UTC)"),
        ("R5/2031-01-01T00:00:00Z/P1D", "every 1 d, 5 times, from 2031-01-01T00:00:00+00:00 (UTC)"),
        ("2031-01-01T00:00:00Z/PT1H", "once, at the start of the time from 2031-01-01T00:00:00+00:00 for 1 h (UTC)"),
    ],
)
def test_intervals(interval: str, words: str) -> None:
    """An interval is told by its length, how often it comes, and its bounds."""
    assert schedule_words(interval=interval) == words
