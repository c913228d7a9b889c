"""Lists of instances: their statuses, the list filters that find them, and what a list shows of each."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from temporalio.client import WorkflowExecution
from temporalio.service import RPCError

from swf_temporal.base.data import JSON
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal.client_errors import refused_by_server
from swf_temporal.temporal.search_attributes import facts_in, filters_of, quoted, why_unknown

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client

RUNNING, PAUSED = "running", "paused"

_NAMES = {
    "running": "Running",
    "paused": "Paused",
    "completed": "Completed",
    "failed": "Failed",
    "cancelled": "Canceled",
    "terminated": "Terminated",
    "timed-out": "TimedOut",
    "continued": "ContinuedAsNew",
}
"""Temporal's statuses, by our names."""
STATUSES = tuple(_NAMES)
"""The statuses that an instance may have."""
_OURS = {name.upper(): status for status, name in _NAMES.items()}


def is_open(status: str | None) -> bool:
    """Return whether an instance with that *status* has not ended: it runs, is paused, or has an unknown status."""
    return status is not None and (status in (RUNNING, PAUSED) or status not in _NAMES)


class Listed(NamedTuple):
    """Instances, running ones first and then the latest to end, and the number of those left out."""

    rows: list[dict[str, Any]]
    more: int


async def listed(client: "Client", wanted: str, limit: int) -> Listed:
    """Return at most *limit* of the instances that the list filter *wanted* finds."""
    try:
        rows = [row_of(execution) async for execution in client.temporal.list_workflows(wanted, limit=limit)]
    except RPCError as error:
        raise why_unknown(error, client.namespace) or error from None
    more = (await client.temporal.count_workflows(wanted)).count - limit if len(rows) == limit else 0
    return Listed(rows, max(more, 0))


async def instances(client: "Client", wanted: str, limit: int | None = None) -> AsyncIterator[dict[str, Any]]:
    """Yield what lists show of the instances that the list filter *wanted* finds, *limit* at most."""
    try:
        async for execution in client.temporal.list_workflows(wanted, limit=limit):
            yield row_of(execution)
    except RPCError as error:
        raise why_unknown(error, client.namespace) or refused_by_server(error, "the server refuses the list") from None


def filter_of(
    status: str | None,
    definition: str | None,
    query: str | None = None,
    *,
    attributes: Mapping[str, str | None] = MappingProxyType({}),
    only_instances: bool = False,
) -> str:
    """Return Temporal's list filter for instances that match all arguments.

    *attributes* are values by the names of `FACTS`. With *only_instances*, the product's internal workflows are left
    out; a *definition* excludes them anyway.
    """
    wanted = []
    if status is not None:
        wanted.append(f'ExecutionStatus = "{_NAMES[status]}"')
    if definition is not None:
        wanted.append(f"WorkflowType = {quoted(definition)}")
    elif only_instances:
        wanted += [f'WorkflowType != "{name}"' for name in sorted(WORKFLOW_TYPES)]
    wanted += filters_of(attributes)
    if query is not None:
        wanted.append(f"({query})" if wanted else query)
    return " AND ".join(wanted)


def row_of(execution: WorkflowExecution) -> dict[str, JSON]:
    """Return what lists show of an instance."""
    return {
        "id": execution.id,
        "runId": execution.run_id,
        "definition": execution.workflow_type,
        "status": status_of(execution),
        "started": time_text(execution.start_time),
        "ended": time_text(execution.close_time),
        **facts_in(execution.typed_search_attributes),
    }


def status_of(execution: WorkflowExecution) -> str | None:
    """Return our name for the status of an execution."""
    if execution.status is None:
        return None
    name = execution.status.name.replace("_", "")
    return _OURS.get(name, name.lower())


def time_text(moment: datetime | None) -> str | None:
    """Return a moment as text, in the form for both people and programs."""
    return None if moment is None else moment.isoformat(timespec="milliseconds")
