"""Lists of instances: their statuses, the list filters that find them, and what a list shows of each."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from temporalio.client import WorkflowExecution
from temporalio.service import RPCError

from swf_temporal.base.data import JSON
from swf_temporal.base.durations import parse_length
from swf_temporal.base.errors import UsageError
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal.client_errors import refused_by_server
from swf_temporal.temporal.search_attributes import (
    BUSINESS_KEY,
    ERROR_CODE,
    ERROR_NAME,
    SINCE,
    WAITS_FOR,
    facts_in,
    filters_of,
    keyword,
    keyword_in_list,
    quoted,
    why_unknown,
)
from swf_temporal.temporal.statuses import OPEN

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Conditions on instances besides status and definition, all of which have to hold; None is no condition."""

    attributes: Mapping[str, str | None] = field(default_factory=dict)
    """The values of search attributes, by the names of `FACTS`."""
    error: str | None = None
    """The name or the code of the error with which it failed."""
    waits_for: str | None = None
    """The name of an event that it waits for."""
    longer_than: timedelta | None = None
    """The time that it has been in its state, or waited for its events, at least."""
    started_since: datetime | None = None
    started_before: datetime | None = None
    ended_since: datetime | None = None
    ended_before: datetime | None = None
    found_by: str | None = None
    """The beginning of its id or of its business key, or its error."""
    only_ids: bool = False
    """Whether `found_by` is the beginning of an id alone: where there are no search attributes."""

    def __bool__(self) -> bool:
        """Return whether there is a condition."""
        return self != Conditions(attributes=dict.fromkeys(self.attributes), only_ids=self.only_ids)

    def filters(self) -> list[str]:
        """Return them as list filters, of which all have to match."""
        found = filters_of(self.attributes)
        if self.error is not None:
            found.append(f"({' OR '.join(_has_error(self.error))})")
        if self.waits_for is not None:
            found.append(f"{WAITS_FOR.name} = {quoted(keyword_in_list(self.waits_for))}")
        if self.longer_than is not None:
            found.append(f"{SINCE.name} <= {_literal(datetime.now(UTC) - self.longer_than)}")
        if self.waits_for is not None or self.longer_than is not None:
            found.append(OPEN)  # what an instance waited for when it was terminated is kept
        for name, sign, moment in (
            ("StartTime", ">=", self.started_since),
            ("StartTime", "<", self.started_before),
            ("CloseTime", ">=", self.ended_since),
            ("CloseTime", "<", self.ended_before),
        ):
            if moment is not None:
                found.append(f"{name} {sign} {_literal(moment)}")
        if self.found_by is not None:
            found.append(f"({' OR '.join(self._finding(self.found_by))})")
        return found

    def _finding(self, text: str) -> list[str]:
        by_id = f"WorkflowId STARTS_WITH {quoted(text)}"
        if self.only_ids:
            return [by_id]
        return [by_id, f"{BUSINESS_KEY.name} STARTS_WITH {quoted(keyword(text))}", *_has_error(text)]


def _has_error(text: str) -> list[str]:
    return [f"{one.name} = {quoted(keyword(text))}" for one in (ERROR_NAME, ERROR_CODE)]


def _literal(moment: datetime) -> str:
    return f"'{moment.astimezone(UTC).isoformat(timespec='milliseconds')}'"


_LENGTH: Final = re.compile(r"(\d{1,6})\s*([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_TIME_OF_DAY: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def length_of(text: str) -> timedelta:
    """Return the duration that a person has written: `90m`, `2h`, `1d`, or one in ISO 8601. Raises UsageError."""
    short = _LENGTH.fullmatch(text.strip().lower())
    length = timedelta(**{_UNITS[short[2]]: int(short[1])}) if short else None
    if length is None and text.strip().upper().startswith("P"):
        length = parse_length(text.strip())
    if not length:
        raise UsageError(f"{text!r} is not a duration", "such as 90m, 2h, 1d or P1DT12H")
    return length


def moment_of(text: str, zone: tzinfo | None = None) -> datetime:
    """Return the time that a person in *zone* has written; without, this machine's.

    A duration means that long ago, and a time of day the last time that it was that. Raises UsageError.
    """
    text, now = text.strip(), datetime.now(UTC).astimezone(zone)
    try:
        if clock := _TIME_OF_DAY.fullmatch(text):
            hour, minute, second = (int(part or 0) for part in clock.groups())
            today = datetime.combine(now, time(hour, minute, second), zone).astimezone(UTC)
            return today if today <= now else today - timedelta(days=1)
        if text[:4].isdecimal() and text[4:5] == "-":
            found = datetime.fromisoformat(text)
            return (found if found.tzinfo is not None else found.replace(tzinfo=zone)).astimezone(UTC)
        return now - length_of(text)
    except (ValueError, OverflowError, UsageError):
        hint = "such as 2h (ago), 12:00, 2030-05-06 or 2030-05-06T12:00:00Z"
        raise UsageError(f"{text!r} is not a time", hint) from None


_ANY: Final = Conditions()


def filter_of(
    status: str | None,
    definition: str | None,
    query: str | None = None,
    *,
    conditions: Conditions = _ANY,
    only_instances: bool = False,
) -> str:
    """Return Temporal's list filter for instances that match all arguments.

    With *only_instances*, the product's internal workflows are left out; a *definition* excludes them anyway.
    """
    wanted = []
    if status is not None:
        wanted.append(f'ExecutionStatus = "{_NAMES[status]}"')
    if definition is not None:
        wanted.append(f"WorkflowType = {quoted(definition)}")
    elif only_instances:
        wanted += [f'WorkflowType != "{name}"' for name in sorted(WORKFLOW_TYPES)]
    wanted += conditions.filters()
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


async def count_of(client: "Client", wanted: str) -> int:
    """Return how many instances the list filter *wanted* finds."""
    try:
        return (await client.temporal.count_workflows(wanted)).count
    except RPCError as error:
        raise why_unknown(error, client.namespace) or error from None


async def count_by_status(client: "Client", wanted: str) -> dict[str, int]:
    """Return how many instances the list filter *wanted* finds of each status, by our names."""
    try:
        found = await client.temporal.count_workflows(f"{wanted} GROUP BY ExecutionStatus")
    except RPCError as error:
        raise why_unknown(error, client.namespace) or error from None
    names = {name: status for status, name in _NAMES.items()}
    return {names.get(str(one.group_values[0]), str(one.group_values[0])): one.count for one in found.groups}


def status_of(execution: WorkflowExecution) -> str | None:
    """Return our name for the status of an execution."""
    if execution.status is None:
        return None
    name = execution.status.name.replace("_", "")
    return _OURS.get(name, name.lower())


def time_text(moment: datetime | None) -> str | None:
    """Return a moment as text, in the form for both people and programs."""
    return None if moment is None else moment.isoformat(timespec="milliseconds")
