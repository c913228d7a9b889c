"""Following an instance: the entries of its trace as they come, from one run to the next, until it ends."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.errors import UsageError
from swf_temporal.operations.instances import execution_of, view_of
from swf_temporal.temporal.statuses import is_closed, is_paused

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client
    from swf_temporal.operations.instance_history import RunHistory

_INTERVAL = 0.3
"""Seconds between two queries of an instance's trace."""


async def follow(client: "Client", workflow_id: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the entries of an instance's trace: those of its latest run so far, and then each, until it ends.

    Raises InstanceNotFoundError if there is no such instance.
    """
    run_id: str | None = None
    last: dict[str, Any] | None = None
    was_paused = False
    while True:
        found = await execution_of(client, workflow_id)
        if run_id not in (None, found.run_id):
            traces, goes_on = await _up_to(client, workflow_id, str(run_id), found.run_id)
            for trace in traces:
                for entry in news(trace, last):
                    yield entry
                last = None
            if not goes_on:
                return
        run_id = found.run_id
        if not (was_paused and is_paused(found)):  # its history would be read again
            seen = (await view_of(client, found)).trace
            for entry in [] if isinstance(seen, UsageError) else news(seen, last):
                last = entry
                yield entry
        if is_closed(found) and found.status is not WorkflowExecutionStatus.CONTINUED_AS_NEW:
            return
        was_paused = is_paused(found)
        await asyncio.sleep(_INTERVAL)


async def _up_to(
    client: "Client", workflow_id: str, since: str, latest: str
) -> tuple[list[list[dict[str, Any]]], bool]:
    """Return the traces of the runs from *since* to the one before the *latest*, and whether that belongs to them.

    It does not if another instance has the id by now.
    """
    # Heavy, and for instances of several runs alone.
    from swf_temporal.operations.instance_history import history_of_run, runs_back  # noqa: PLC0415 - as said
    from swf_temporal.operations.instances import facts_by_history  # noqa: PLC0415 - as said

    found: list[RunHistory] = []
    goes_on = False
    async for run in runs_back(client, workflow_id, latest):
        if run.run_id != latest:
            found.insert(0, run)
        elif run.start.original_execution_run_id != latest:  # a reset repeats what was
            return [], True
        if run.run_id == since:
            goes_on = True
            break
    if not goes_on:
        found = list((await history_of_run(client, workflow_id, since)).runs)
    replayed = [await run.replayed(client.temporal.data_converter) for run in found]
    return [facts_by_history(one, with_trace=True)["trace"] for one in replayed], goes_on


def news(trace: list[dict[str, Any]], last: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the entries after *last*. A run that continues as new begins its trace again.

    If a worker has replayed the run, the first entries may have other times than before: an entry after a local
    activity then has the time of the workflow task, which is earlier.
    """
    if last is None or last in trace:
        start = 0 if last is None else len(trace) - trace[::-1].index(last)
        return trace[start:]
    if not trace or datetime.fromisoformat(trace[0]["at"]) > datetime.fromisoformat(last["at"]):
        return trace
    same = [{**entry, "at": last["at"]} == last for entry in trace]
    return trace[len(trace) - same[::-1].index(True) :] if any(same) else trace
