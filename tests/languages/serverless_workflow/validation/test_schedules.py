"""A schedule says when: variants that the scenarios of refusals leave out."""

from collections.abc import Callable

import pytest

DOCUMENT = """\
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: SCHEDULE
states:
- {name: Z, type: inject, data: {}, end: true}
"""


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        ("{cron: {expression: 0 9 8 13 *}}",
         ["5:39 error 13 is not a valid month: it goes from 1 to 12, or JAN and so on"]),
        ('{cron: "0 15,75 * ? * *"}', ["5:26 error 75 is not a valid minute: it goes from 0 to 59"]),
        ('{cron: "0 0 30 2 *"}', ["5:25 error the cron expression '0 0 30 2 *' names a day that never comes"]),
        ("R/P1MT1H", ["5:15 error 'P1MT1H' mixes months with days or hours, which no calendar can hold"]),
        ("{interval: R/PT0S, timezone: Mars/Base}",
         ["5:26 error 'PT0S' has no length: the shortest is a second",
          "5:42 error the timezone 'Mars/Base' is not known | such as Europe/Berlin"]),
        ('{cron: {expression: "* * * * *", validUntil: PT10M}}',
         [("5:58 warning validUntil 'PT10M' is a duration and not a point in time: "
           "the schedule cannot be applied | such as 2030-12-31T23:59:59Z")]),
    ],
)  # fmt: skip
def test_what_says_no_time(found: Callable[[str, str], list[str]], schedule: str, told: list[str]) -> None:
    assert found("schedule", DOCUMENT.replace("SCHEDULE", schedule)) == told


@pytest.mark.parametrize(
    "schedule",
    ['{interval: 2030-01-01T00:00:00Z/P1M, cron: "@daily"}', "R/PT1H", "R5/2030-01-01T00:00:00Z/PT1H",
     '{cron: "0 0/15 * * * ?", timezone: Europe/Berlin}'],
)  # fmt: skip
def test_what_says_times(found: Callable[[str, str], list[str]], schedule: str) -> None:
    """Intervals that repeat, windows of cron expressions, and fields as Quartz has them are fine."""
    assert found("schedule", DOCUMENT.replace("SCHEDULE", schedule)) == []
