"""The times at which a definition is to be started by its schedule."""

from swf_temporal.calendars.compiling import compile_schedule
from swf_temporal.calendars.moments import Unreadable
from swf_temporal.calendars.specs import ScheduleSpec
from swf_temporal.errors import UsageError
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow


def spec_of(workflow: Workflow) -> ScheduleSpec:
    """Return when *workflow* is to be started. Raises UsageError if it does not say, or cannot be understood."""
    schedule = workflow.start.schedule
    if schedule is None:
        raise UsageError(f"the definition {workflow.id!r} has no schedule", "it is written under start: schedule:")
    cron = schedule.cron
    try:
        return compile_schedule(
            interval=schedule.interval,
            cron=None if cron is None else cron.expression,
            valid_until=None if cron is None else cron.valid_until,
            timezone=schedule.timezone,
        )
    except Unreadable as error:
        raise UsageError(f"the schedule of {workflow.id!r}: {error.message}", error.hint) from None
