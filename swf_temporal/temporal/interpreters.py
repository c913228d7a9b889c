"""The workflows of a worker: variants of the one that interprets definitions, and those beside it."""

from collections.abc import Sequence
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RawValue

from swf_temporal.temporal.delayed_events import DelayedEvent
from swf_temporal.temporal.event_mailboxes import EventMailbox
from swf_temporal.temporal.places import Places
from swf_temporal.temporal.variables import VariablesOfScope
from swf_temporal.temporal.workflow import Interpreter


@workflow.defn(dynamic=True, sandboxed=False)
class KnownOnly(Interpreter):
    """One execution of a definition that its worker serves."""

    only_known = True

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)


@workflow.defn(dynamic=True, sandboxed=False)
class AnsweringAll(Interpreter):
    """One execution of a definition in a scenario, which answers all functions, those too that name an activity."""

    runs_external_activities = False
    subscribes = False
    takes_places = False
    watches_runs = False

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)


OTHER_WORKFLOWS: Final = (VariablesOfScope, DelayedEvent, EventMailbox, Places)
"""The workflows of a worker beside the one that runs definitions."""
