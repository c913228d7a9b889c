"""Which schedules may not start instances when their authors think?"""

import pytest

from swf_temporal.base.calendars.pitfalls import pitfall_of_days, pitfall_of_zone


@pytest.mark.parametrize(
    ("cron", "starred"),
    [
        ("0 0 */2 * 1", 4),
        ("0 0 0 1 * */3", 10),
        ("0 0 *,3 * 1", 4),
        ("0 0 */2 * *", None),
        ("0 0 1 * */1", None),
        ("0 0 1-31/2 * MON", None),
        ("@weekly", None),
    ],
)
def test_days(cron: str, starred: int | None) -> None:
    found = pitfall_of_days(cron)
    assert (None if found is None else found.offset) == starred


@pytest.mark.parametrize(
    ("interval", "timezone", "has_effect"),
    [
        ("R/PT1H", "Europe/Berlin", False),
        ("R/PT1H", "Asia/Kolkata", True),
        ("R/PT2H", "Europe/Berlin", True),
        ("R/P1D", "Europe/Berlin", True),
        ("R/2030-01-01T09:00:00Z/PT2H", "Europe/Berlin", False),
        ("R/2030-01-01T09:00:00/PT2H", "Europe/Berlin", True),
        ("2030-01-01T09:00:00Z/PT6H", "Europe/Berlin", False),
        ("2030-01-01T09:00:00/2030-01-01T08:30:00Z", "Europe/Berlin", True),
        ("R/PT1H", "Etc/UTC", True),
    ],
)
def test_zone(interval: str, timezone: str, *, has_effect: bool) -> None:
    """A timezone that is named and changes nothing is told; one that is UTC changes nothing on purpose."""
    assert (pitfall_of_zone(interval, timezone) is None) == has_effect
