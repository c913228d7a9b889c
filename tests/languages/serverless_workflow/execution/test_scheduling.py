"""When is a definition to be started by itself?"""

from typing import Any

import pytest

from swf_temporal.base.calendars.compiling import compile_schedule
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.serverless_workflow.definition import spec_of
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from tests.languages.serverless_workflow.models import load_model

CRON = "0 0 9 ? * MON-FRI"


def _starting(start: Any) -> Workflow:
    state = {"name": "Note", "type": "inject", "data": {"noted": True}, "end": True}
    return load_model({"id": "timed", "specVersion": "0.8", "start": start, "states": [state]})


@pytest.mark.parametrize(
    ("schedule", "texts"),
    [
        ("R/PT1H", {"interval": "R/PT1H"}),
        ({"cron": CRON}, {"cron": CRON}),
        ({"cron": {"expression": CRON, "validUntil": "2030-12-31"}, "timezone": "Europe/Berlin"},
         {"cron": CRON, "valid_until": "2030-12-31", "timezone": "Europe/Berlin"}),
        ({"interval": "2026-01-10T12:00:00Z/P2D", "cron": "0 12 * * *"},
         {"interval": "2026-01-10T12:00:00Z/P2D", "cron": "0 12 * * *"}),
    ],
)  # fmt: skip
def test_everything_that_is_written_counts(schedule: Any, texts: dict[str, str]) -> None:
    """Interval, cron expression, its end and the timezone are those of the definition."""
    assert spec_of(_starting({"stateName": "Note", "schedule": schedule})) == compile_schedule(**texts)


def test_without_schedule() -> None:
    """A definition that does not say when is the caller's mistake."""
    with pytest.raises(UsageError, match="the definition 'timed' has no schedule"):
        spec_of(_starting("Note"))


def test_end_that_is_a_length() -> None:
    """A schedule whose `validUntil` is a duration is refused: it would never end."""
    cron = {"expression": "@daily", "validUntil": "PT10M"}
    with pytest.raises(UsageError, match="the schedule of 'timed': 'PT10M' is not an ISO 8601 date and time"):
        spec_of(_starting({"stateName": "Note", "schedule": {"cron": cron}}))
