"""Runs that continue as new early, so that tests need no history of thousands of events."""

from collections.abc import Sequence
from typing import Any

from temporalio import workflow
from temporalio.worker import Interceptor

from swf_temporal.temporal.instance_part import Instance, OperatorOptions, OperatorOptionsInterceptor, Part
from swf_temporal.temporal.instance_parts import PARTS

SUSPEND_AFTER = "suspend_after"
"""The field of a run's record that says after how many events of history it continues as new."""


class Suspending(Part):
    """Lets an execution continue as new after as many events of history as its test says."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        limit, usual = instance.pin.others.get(SUSPEND_AFTER), instance.is_long
        if isinstance(limit, int):
            instance.is_long = lambda: usual() or workflow.info().get_current_history_length() >= limit


def suspending(**options: Any) -> OperatorOptions:
    """Return options of a worker on which instances continue as new as their tests say."""
    return OperatorOptions(parts=(*PARTS, Suspending), **options)


SUSPENDING: Sequence[Interceptor] = [OperatorOptionsInterceptor(suspending())]
"""What lets a replayer do so, too."""
