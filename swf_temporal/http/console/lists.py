"""Lists of instances, which refresh themselves, and the overview: counts over time and by definition; schedules."""

import asyncio
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from starlette.responses import Response
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.pages import address, html_of
from swf_temporal.http.console.visits import Visit
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations import schedules
from swf_temporal.operations.listing import (
    STATUSES,
    Conditions,
    count_by_status,
    count_of,
    filter_of,
    length_of,
    moment_of,
    row_of,
)
from swf_temporal.settings.http import Operation
from swf_temporal.temporal.search_attributes import SINCE, WAITS_FOR, NotRegisteredError, why_unknown
from swf_temporal.temporal.statuses import OPEN

PATH: Final = "/console/instances"
_PAGE: Final = 50
_NAMES: Final = (
    *("definition", "status", "q", "state", "waits", "longer", "error", "started", "startedBefore"),
    *("ended", "endedBefore", "parent", "attribute", "value"),
)
"""The parameters that are filters; the first of them are in the form, the others in details of it."""
_SHOWN: Final = ("definition", "status", "q")
_ATTRIBUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,80}")


class Listing(NamedTuple):
    rows: list[dict[str, Any]]
    next: str
    """The parameter that leads to the next page; empty if there is none."""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """The filters that an address has. None of them reaches instances of other tenants."""

    given: Mapping[str, str]
    """The filters as a person has written them, by the names of the parameters."""
    definitions: tuple[str, ...]
    """The definitions whose instances are listed: the tenant's, or the chosen one if it is the tenant's."""
    conditions: Conditions
    others: tuple[str, ...] = ()
    """Further list filters."""

    def text(self, *more: str, status: str | None = None) -> str:
        """Return it as a list filter of Temporal, for instances that also match *more*, and have *status*."""
        parts = [f"WorkflowType IN ({', '.join(map(_quoted, self.definitions))})", *self.others, *more]
        chosen = status or self.given.get("status") or None
        return filter_of(chosen, None, " AND ".join(parts), conditions=self.conditions)

    def address(self, path: str = PATH, **changed: str) -> str:
        """Return the address of a page with these filters, except those that are *changed*."""
        return address(path, **{**self.given, **changed})


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def one_of(name: str, values: Sequence[str]) -> str:
    """Return the list filter for instances of which the field *name* has one of *values*."""
    return f"{name} IN ({', '.join(map(_quoted, values))})"


def filter_in(visit: Visit) -> ListFilter:
    """Return the filters in the address. Raises Refused for one that cannot be read."""
    given = {name: visit.query(name) for name in _NAMES}
    if given["status"] and given["status"] not in STATUSES:
        hint = f"it must be one of {', '.join(STATUSES)}"
        raise Refused(422, "bad-filter", f"status is {given['status']!r}", hint)
    if given["attribute"] and not _ATTRIBUTE.fullmatch(given["attribute"]):
        raise Refused(422, "bad-filter", f"{given['attribute']!r} is not the name of a search attribute")
    others = []
    if given["attribute"]:
        others.append(f"`{given['attribute']}` = {_quoted(given['value'])}")
    if given["parent"]:
        others.append(f"ParentWorkflowId = {_quoted(given['parent'])}")
    chosen = visit.asked.known(given["definition"] or None)
    try:
        zone = visit.query("zone")
        conditions = _conditions(given, _zone(zone))
        return ListFilter({**given, "zone": zone}, tuple(chosen), conditions, tuple(others))
    except UsageError as error:
        raise Refused(422, "bad-filter", error.message, error.hint) from None


def _conditions(given: Mapping[str, str], zone: tzinfo) -> Conditions:
    def moment(name: str) -> datetime | None:
        return moment_of(given[name], zone) if given[name] else None

    return Conditions(
        attributes={"state": given["state"] or None},
        error=given["error"] or None,
        waits_for=given["waits"] or None,
        longer_than=length_of(given["longer"]) if given["longer"] else None,
        started_since=moment("started"),
        started_before=moment("startedBefore"),
        ended_since=moment("ended"),
        ended_before=moment("endedBefore"),
        found_by=given["q"] or None,
    )


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (LookupError, ValueError, OSError):  # there is no such one, or it is no name
        return UTC


async def listing(visit: Visit, wanted: ListFilter, size: int = _PAGE, after: str = "") -> Listing:
    """Return the instances that *wanted* finds, in the order of `swf list`, *after* those of the page before."""
    if not wanted.definitions:
        return Listing([], "")
    try:
        token = urlsafe_b64decode(after.encode()) or None
    except ValueError:
        raise _bad_page() from None
    client = visit.asked.client
    found = client.temporal.list_workflows(wanted.text(), page_size=size, limit=size, next_page_token=token)
    try:
        rows = [row_of(one) async for one in found]
    except RPCError as error:
        if unknown := why_unknown(error, client.namespace):
            raise unknown from None
        if token is None:
            raise
        raise _bad_page() from None
    following = found.next_page_token if len(rows) == size else None
    return Listing(rows, urlsafe_b64encode(following).decode() if following else "")


def of_definitions(visit: Visit, definition: str | None = None) -> ListFilter:
    """Return the filter for the instances of the tenant's definitions, or of one of them."""
    return ListFilter({"definition": definition or ""}, tuple(visit.asked.known(definition)), Conditions())


def _bad_page() -> Refused:
    return Refused(422, "bad-page", "the link to this page is not one of this list", "begin with the first page")


async def counts_of(visit: Visit, wanted: ListFilter, *, of_any_status: bool = True) -> dict[str, int]:
    """Return the number of instances by status: of all, or of those alone that are *wanted*."""
    if not wanted.definitions:
        return {}
    text = (replace(wanted, given={**wanted.given, "status": ""}) if of_any_status else wanted).text()
    return await count_by_status(visit.asked.client, text)


async def list_instances(visit: Visit) -> Response:
    """List instances, by the filters in the address."""
    given = {name: visit.query(name) for name in _NAMES}
    refusal, part = None, ""
    try:
        part = await list_part(visit)
    except Exception as error:  # noqa: BLE001 - the server may refuse a person's filter
        refusal = refusal_of_filter(error)
    return visit.page(
        "instances.html",
        422 if refusal else 200,
        part=part,
        stream="" if refusal else address("/console/lists/stream", **given, **_paging(visit)),
        given=given,
        has_more=any(given[name] for name in _NAMES if name not in _SHOWN),
        known=visit.asked.known(),
        statuses=STATUSES,
        refusal=refusal,
    )


def _paging(visit: Visit) -> dict[str, str]:
    return {name: visit.query(name) for name in ("zone", "after")}


async def list_part(visit: Visit) -> str:
    """Return the part of the page that changes: the numbers and the table. Raises Refused."""
    wanted = filter_in(visit)
    try:
        found, counts = await listing(visit, wanted, after=visit.query("after")), await counts_of(visit, wanted)
    except NotRegisteredError:
        if not wanted.conditions.found_by:
            raise
        # Without search attributes, what is searched for can only be an id.
        wanted = replace(wanted, conditions=replace(wanted.conditions, only_ids=True))
        found, counts = await listing(visit, wanted, after=visit.query("after")), await counts_of(visit, wanted)
    status = wanted.given["status"]
    return html_of(
        "list.html",
        rows=found.rows,
        counts=counts,
        number=counts.get(status, 0) if status else sum(counts.values()),
        newest=wanted.address() if visit.query("after") else "",
        older=wanted.address(after=found.next) if found.next else "",
        wanted=wanted,
        may={str(one): visit.may(one) for one in Operation},
    )


def refusal_of_filter(error: Exception) -> Refused:
    """Return the refusal for an error of the server, which may not understand a filter."""
    if isinstance(error, RPCError) and error.status is RPCStatusCode.INVALID_ARGUMENT:
        return Refused(422, "bad-filter", f"the server does not understand the filter: {error.message}")
    return refusal_of(error)


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
