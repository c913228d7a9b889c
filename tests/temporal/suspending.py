"""Runs that continue as new early, so that tests need no history of thousands of events."""

from collections.abc import Sequence
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue

from swf_temporal.temporal.workflow import Interpreter

SUSPEND_AFTER = "suspend_after"
"""The field of a run's record that says after how many events of history it continues as new."""


@workflow.defn(dynamic=True, sandboxed=False)
class Suspending(Interpreter):
    """One execution of a definition that continues as new after as many events of history as its test says."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition."""
        return await super().run(args)

    def is_long(self) -> bool:
        """Tell whether there are as many events."""
        limit = self._pin.others.get(SUSPEND_AFTER)
        return super().is_long() or (isinstance(limit, int) and workflow.info().get_current_history_length() >= limit)


@workflow.defn(dynamic=True, sandboxed=False)
class SuspendingKnownOnly(Suspending):
    """The same of a definition that its worker serves."""

    only_known = True

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition."""
        return await super().run(args)
