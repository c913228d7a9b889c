"""Pausing, resuming, cancelling and terminating instances: one, or all that a list filter finds."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from temporalio.service import RPCError

from swf_temporal.base.client_errors import InstanceEndedError, ServerUnavailableError
from swf_temporal.base.errors import UsageError
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import refuse_ended
from swf_temporal.operations.listing import PAUSED, RUNNING, filter_of, listed
from swf_temporal.temporal.client_errors import has_ended, not_there
from swf_temporal.temporal.pausing import pause, resume

_AT_ONCE = 10
"""The number of concurrent requests."""
_MAX_INSTANCES = 1_000_000
"""A limit on the instances that one command changes."""


@dataclass(frozen=True, slots=True)
class Change:
    """A request to instances; *made* is the past tense, for reports."""

    verb: str
    made: str
    make: Callable[[Client, str, str | None], Awaitable[None]]
    status: str | None = None
    """The only status of an instance on which the request has an effect; None for any."""
    if_paused: str = ""
    """Text added to *made* for an instance that is paused."""

    async def of_one(self, client: Client, workflow_id: str, reason: str | None) -> str:
        """Send the request to one instance; return a report. Raises UsageError if that is not possible."""
        is_paused = await refuse_ended(client, workflow_id) == PAUSED
        await self.make(client, workflow_id, reason)
        return f"{self.made} {workflow_id}{self.if_paused if is_paused else ''}"

    async def find(self, client: Client, query: str) -> list[dict[str, Any]]:
        """Return the instances that the list filter *query* finds and on which this has an effect, by their ids."""
        open_ones = f"({query}) AND CloseTime IS NULL"
        found, _ = await listed(client, filter_of(self.status, None, open_ones, only_instances=True), _MAX_INSTANCES)
        rows: dict[str, dict[str, Any]] = {}
        for row in found:  # lists are a moment behind: they may have the latest run of an id, and the one before
            rows.setdefault(row["id"], row)
        return list(rows.values())


@dataclass(slots=True)
class Outcome:
    """The result of changing many instances."""

    changed: int = 0
    ended_ids: set[str] = field(default_factory=set)
    """Instances that had ended meanwhile, such as sub-workflows of others."""
    failures: dict[str, UsageError] = field(default_factory=dict)
    """Why instances were not changed, by their ids."""

    @property
    def ended(self) -> int:
        """The number that had ended meanwhile."""
        return len(self.ended_ids)


async def change_all(
    client: Client,
    change: Change,
    runs: Mapping[str, str],
    reason: str | None,
    outcome: Outcome,
    tell: Callable[[], None],
) -> None:
    """Send the request to the instances in *runs* (run ids by workflow id), some at a time, as `for_each` does.

    An instance started meanwhile under one of these ids was not found, and is left alone: the one found has ended.
    """

    async def ask(workflow_id: str) -> None:
        await change_run(client, change, workflow_id, runs[workflow_id], reason)

    await for_each(runs, ask, outcome, tell)


async def change_run(client: Client, change: Change, workflow_id: str, run: str, reason: str | None) -> None:
    """Send the request to an instance, if its latest run is *run* or continues it. Raises InstanceEndedError if not."""
    if not await _goes_on(client, workflow_id, run):
        raise has_ended(workflow_id)
    await change.make(client, workflow_id, reason)


async def _goes_on(client: Client, workflow_id: str, run: str) -> bool:
    """Return whether the latest run of an id is *run*, or a continuation of it."""
    try:
        now = await client.temporal.get_workflow_handle(workflow_id).describe()
        if now.run_id == run:
            return True
        then = await client.temporal.get_workflow_handle(workflow_id, run_id=run).describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    first, latest = (one.raw_description.workflow_execution_info.first_run_id for one in (then, now))
    return first == latest


async def for_each(
    ids: Iterable[str], do: Callable[[str], Awaitable[None]], outcome: Outcome, tell: Callable[[], None]
) -> None:
    """Call *do* for each instance, some at a time; add the results to *outcome*, and call *tell* after each.

    An error of one does not stop the rest. Raises ServerUnavailableError if the server does not answer at all.
    """
    left = iter(ids)

    async def work() -> None:
        for workflow_id in left:
            try:
                await do(workflow_id)
                outcome.changed += 1
            except InstanceEndedError:
                outcome.ended_ids.add(workflow_id)
            except ServerUnavailableError:
                raise
            except UsageError as error:
                outcome.failures[workflow_id] = error
            tell()

    workers = [asyncio.ensure_future(work()) for _ in range(_AT_ONCE)]
    try:
        await asyncio.gather(*workers)
    finally:
        for one in workers:
            one.cancel()
        await asyncio.wait(workers)


async def _cancel(client: Client, workflow_id: str, reason: str | None) -> None:
    await client.instance(workflow_id).cancel(reason)


async def _terminate(client: Client, workflow_id: str, reason: str | None) -> None:
    await client.instance(workflow_id).terminate(reason)


async def _pause(client: Client, workflow_id: str, reason: str | None) -> None:
    await pause(client.temporal, workflow_id, reason)


async def _resume(client: Client, workflow_id: str, reason: str | None) -> None:
    await resume(client.temporal, workflow_id, reason)


PAUSE = Change("pause", "paused", _pause, RUNNING)
RESUME = Change("resume", "resumed", _resume, PAUSED)
CANCEL = Change(
    "cancel",
    "requested cancellation of",
    _cancel,
    if_paused="; it is paused, and is cancelled once it is resumed",
)
TERMINATE = Change("terminate", "terminated", _terminate)
