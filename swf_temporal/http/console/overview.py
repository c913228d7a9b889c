"""The overview: how many instances started, failed and wait over time, and by definition; and schedules."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar

from starlette.responses import Response
from temporalio.service import RPCError

from swf_temporal.http.console.lists import ListFilter, of_definitions
from swf_temporal.http.console.visits import Visit
from swf_temporal.operations import schedules
from swf_temporal.operations.listing import Conditions, count_by_status, count_of
from swf_temporal.temporal.search_attributes import SINCE, WAITS_FOR, NotRegisteredError
from swf_temporal.temporal.statuses import OPEN

_AT_ONCE: Final = 8
"""The number of concurrent requests to the server."""
_MAX_DEFINITIONS: Final = 20
_MAX_SCHEDULES: Final = 50
_BARS: Final = 12
_PERIODS: Final = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_WAITING: Final = f"{OPEN} AND {WAITS_FOR.name} IS NOT NULL"

T = TypeVar("T")


class Bar(NamedTuple):
    """The number of instances in a part of a period."""

    since: datetime
    before: datetime
    number: int
    link: str
    """The address of their list; empty where no list shows them."""


@dataclass(frozen=True, slots=True)
class Chart:
    name: str
    number: int
    """The sum of its bars, and what happened earlier where that counts."""
    link: str
    bars: Sequence[Bar]

    @property
    def most(self) -> int:
        return max([one.number for one in self.bars], default=0)


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    id: str
    started: int
    counts: dict[str, int]
    """The numbers of instances by status: of those that have not ended, and of those that ended in the period."""


class _Counting:
    """Counts instances of a tenant, some requests at a time."""

    def __init__(self, visit: Visit) -> None:
        self._client = visit.asked.client
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def number(self, wanted: ListFilter, *more: str) -> int:
        async with self._room:
            return await count_of(self._client, wanted.text(*more)) if wanted.definitions else 0

    async def by_status(self, wanted: ListFilter, *more: str) -> dict[str, int]:
        async with self._room:
            return await count_by_status(self._client, wanted.text(*more)) if wanted.definitions else {}


async def show_overview(visit: Visit) -> Response:
    """Show what happened in a period, by default a day, to the instances that the person may see."""
    period = visit.query("period") if visit.query("period") in _PERIODS else "day"
    # The second that is not over counts, too: what has just failed is what somebody looks for.
    now, length = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1), _PERIODS[period]
    counting, everything = _Counting(visit), of_definitions(visit)
    known = visit.asked.known()
    charts, waiting, rows, planned = await _all(
        _all(*(_chart(counting, everything, what, now, length) for what in ("started", "failed"))),
        _waiting(counting, everything, now, length),
        _all(*(_row(counting, of_definitions(visit, one), one, now - length) for one in known[:_MAX_DEFINITIONS])),
        _schedules(visit, known),
    )
    return visit.page(
        "overview.html",
        period=period,
        periods=list(_PERIODS),
        charts=[*charts, *([] if waiting is None else [waiting])],
        has_attributes=waiting is not None,
        rows=rows,
        more=max(0, len(known) - _MAX_DEFINITIONS),
        schedules=planned,
        since=now - length,
    )


async def _all(*work: Awaitable[Any]) -> list[Any]:
    return list(await asyncio.gather(*work))


def _parts(now: datetime, length: timedelta) -> list[tuple[datetime, datetime]]:
    size = length / _BARS
    return [(now - length + n * size, now - length + (n + 1) * size) for n in range(_BARS)]


async def _chart(counting: _Counting, everything: ListFilter, what: str, now: datetime, length: timedelta) -> Chart:
    """Return how many instances started, or failed, in each part of the period."""

    async def bar(since: datetime, before: datetime) -> Bar:
        wanted = _in_period(everything, what, since, before)
        return Bar(since, before, await counting.number(wanted), wanted.address())

    bars = await _all(*(bar(*part) for part in _parts(now, length)))
    whole = _in_period(everything, what, now - length, None)
    return Chart(what, sum(one.number for one in bars), whole.address(), bars)


def _in_period(everything: ListFilter, what: str, since: datetime, before: datetime | None) -> ListFilter:
    if what == "started":
        given, conditions = {}, Conditions(started_since=since, started_before=before)
    else:
        given, conditions = {"status": what}, Conditions(ended_since=since, ended_before=before)
    field = "started" if what == "started" else "ended"
    given |= {field: since.isoformat(), f"{field}Before": "" if before is None else before.isoformat()}
    return ListFilter(given, everything.definitions, conditions)


async def _waiting(counting: _Counting, everything: ListFilter, now: datetime, length: timedelta) -> Chart | None:
    """Return how many instances wait for events, by since when; None without search attributes."""

    async def bar(since: datetime, before: datetime) -> Bar:
        when = f"{SINCE.name} >= '{since.isoformat()}' AND {SINCE.name} < '{before.isoformat()}'"
        return Bar(since, before, await counting.number(everything, _WAITING, when), "")

    try:
        number = await counting.number(everything, _WAITING)
        bars = await _all(*(bar(*part) for part in _parts(now, length)))
    except NotRegisteredError:
        return None
    return Chart("waiting", number, ListFilter({"status": "running"}, (), Conditions()).address(), bars)


async def _row(counting: _Counting, wanted: ListFilter, definition: str, since: datetime) -> DefinitionRow:
    moment = f"'{since.isoformat()}'"
    started = counting.number(wanted, f"StartTime >= {moment}")
    counts = counting.by_status(wanted, f"({OPEN} OR CloseTime >= {moment})")
    number, found = await _all(started, counts)
    return DefinitionRow(definition, number, found)


async def _schedules(visit: Visit, known: Sequence[str]) -> list[dict[str, Any]] | None:
    """Return the schedules of the tenant's definitions; None if the server does not list them."""
    try:
        found = await schedules.listed(visit.asked.client)
    except RPCError:
        return None
    return [one for one in found if one["definition"] in known][:_MAX_SCHEDULES]
