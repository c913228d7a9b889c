"""Retrying, or running again from a state, all instances that a list filter finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from swf_temporal.base.errors import UsageError
from swf_temporal.operations.changing import Outcome, for_each
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import described
from swf_temporal.operations.listing import filter_of, listed
from swf_temporal.operations.rerunning import Plan, Rerun
from swf_temporal.temporal.client_errors import refusals_as_usage_errors

MAX_INSTANCES: Final = 10_000
"""The maximum number of instances planned at once: their plans are held in memory until they are begun."""


@dataclass(frozen=True, slots=True)
class Found:
    """The instances that a list filter has found, and their plans."""

    runs: dict[str, set[str]]
    """The runs found, by the ids of instances."""
    planned: Outcome = field(default_factory=Outcome)
    """The result of planning; its failures say why instances cannot continue."""
    reruns: dict[str, Rerun] = field(default_factory=dict)
    earlier: set[str] = field(default_factory=set)
    """The instances of which an earlier run was found, but not the latest."""

    async def plan(self, client: Client, plan: Plan, tell: Callable[[], None]) -> Sequence[Rerun]:
        """Return the plan for each instance, in the order in which they were found; call *tell* after each."""

        async def one(workflow_id: str) -> None:
            with refusals_as_usage_errors():
                if (await described(client, workflow_id))["runId"] in self.runs[workflow_id]:
                    self.reruns[workflow_id] = await plan(client, workflow_id)
                else:
                    self.earlier.add(workflow_id)

        await for_each(self.runs, one, self.planned, tell)
        return [self.reruns[one] for one in self.runs if one in self.reruns]

    async def begin(self, client: Client, outcome: Outcome, tell: Callable[[], None], *, drop_events: bool) -> None:
        """Carry out the plans; add the results to *outcome*, and call *tell* after each."""

        async def one(workflow_id: str) -> None:
            with refusals_as_usage_errors():
                await self.reruns[workflow_id].begin(client, drop_events=drop_events)

        await for_each(list(self.reruns), one, outcome, tell)


async def find(client: Client, query: str, statuses: Sequence[str] = ()) -> Found:
    """Return the instances that the list filter *query* finds, with one of these *statuses* or any.

    Raises UsageError if there are more than can be planned.
    """
    wanted = f"({query})"
    if statuses:
        wanted += f" AND ({' OR '.join(filter_of(status, None) for status in statuses)})"
    rows, more = await listed(client, filter_of(None, None, wanted, only_instances=True), MAX_INSTANCES)
    if more:
        hint = "narrow the filter, for example by StartTime"
        raise UsageError(f"the filter finds {len(rows) + more:,} runs, and {MAX_INSTANCES:,} is the most", hint)
    runs: dict[str, set[str]] = {}
    for row in rows:
        runs.setdefault(row["id"], set()).add(row["runId"])
    return Found(runs)
