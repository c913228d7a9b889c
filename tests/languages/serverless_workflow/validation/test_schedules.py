"""A schedule says when."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "nothing": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {timezone: UTC}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:13 error the schedule has neither an interval nor a cron expression",
        ],
    ),
    "two things": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {interval: R/PT1H, cron: "0 * * * *"}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:14 error the schedule has an interval that repeats and a cron expression: it can have only one of them",
        ],
    ),
    "not an interval": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: every hour
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:13 error the interval 'every hour' is not an ISO 8601 interval | such as R/PT15M",
        ],
    ),
    "not a cron expression": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {cron: "* * *"}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:20 error the cron expression '* * *' does not have five to seven fields | such as 0 0/15 * * * ?",
        ],
    ),
    "not a timezone": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {cron: "* * * * *", timezone: Mars/Base}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:43 error the timezone 'Mars/Base' is not known | such as Europe/Berlin",
        ],
    ),
    "not a time": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {cron: {expression: "* * * * *", validUntil: later}}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:58 error 'later' is not an ISO 8601 date and time | such as 2030-12-31T23:59:59Z",
        ],
    ),
    "a number that the field does not have": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {cron: "0 15,75 * ? * *"}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:26 error 75 is no minute: it goes from 0 to 59",
        ],
    ),
    "a number in an expression without quotes": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule:
    cron:
      expression: 0 9 8 13 *
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "7:25 error 13 is no month: it goes from 1 to 12, or JAN and so on",
        ],
    ),
    "a day that never comes": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {cron: "0 0 30 2 *"}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:25 error the cron expression '0 0 30 2 *' names a day that never comes",
        ],
    ),
    "a length that no calendar can hold": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: R/P1MT1H
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:15 error 'P1MT1H' mixes months with days or hours, which no calendar can hold",
        ],
    ),
    "several things": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {interval: R/PT0S, timezone: Mars/Base}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:26 error 'PT0S' has no length: the shortest is a second",
            "5:42 error the timezone 'Mars/Base' is not known | such as Europe/Berlin",
        ],
    ),
    "an end that is a length": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {cron: {expression: "* * * * *", validUntil: PT10M}}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            (
                "5:58 warning validUntil 'PT10M' is a length of time and says no end: the schedule cannot be applied"
                " | such as 2030-12-31T23:59:59Z"
            ),
        ],
    ),
    "a window that ends before it starts": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {interval: 2030-01-02T00:00:00Z/2030-01-01T00:00:00Z, cron: "@daily"}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            "5:14 error the interval ends at 2030-01-01T00:00:00+00:00, before it starts",
        ],
    ),
    "a window for a cron expression": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {interval: 2030-01-01T00:00:00Z/P1M, cron: "@daily"}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
    "an interval": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: R/PT1H
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
    "an interval from a time": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: R5/2030-01-01T00:00:00Z/PT1H
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
    "a window": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: 2020-03-20T09:00:00Z/2020-03-20T15:00:00Z
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [
            (
                "5:13 warning the interval '2020-03-20T09:00:00Z/2020-03-20T15:00:00Z' does not repeat: "
                "one instance is started, at its start | one that repeats begins with R/, such as R/PT1H"
            ),
        ],
    ),
    "fields as Quartz has them": (
        """
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: {cron: "0 0/15 * * * ?", timezone: Europe/Berlin}
states:
- {name: Z, type: inject, data: {}, end: true}
""",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_schedules(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """A schedule says when."""
    assert found("schedule", text.lstrip()) == expected
