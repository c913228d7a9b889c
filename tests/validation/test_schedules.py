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
            "5:32 error the schedule has an interval and a cron expression: it can have only one of them",
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
            "5:58 error validUntil 'later' is not a time in ISO 8601 | such as 2030-12-31T23:59:59Z",
        ],
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
        [],
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
