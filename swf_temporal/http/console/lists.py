"""Lists of instances: the filters in an address, the page with its counts, and how it refreshes itself."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from starlette.responses import Response
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.pages import address, html_of
from swf_temporal.http.console.visits import Visit
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations.listing import (
    STATUSES,
    Conditions,
    count_by_status,
    filter_of,
    length_of,
    moment_of,
    row_of,
)
from swf_temporal.settings.http import Operation
from swf_temporal.temporal.search_attributes import NotRegisteredError, why_unknown

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
