"""Rule: the times of a schedule are valid (sections "Schedule Definition" and "Cron Definition")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Schedule
from swf_temporal.languages.serverless_workflow.validation.context import Context


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each schedule that is empty, or whose times cannot be read."""
    for schedule, _ in context.nodes.each(Schedule):
        from swf_temporal.languages.serverless_workflow.validation.schedules import (  # noqa: PLC0415 - few have one
            check_schedule,
        )

        yield from check_schedule(context, schedule)
