"""Tasks: a list with filters and pages, a page of each, and completing one by its form."""

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from starlette.responses import Response
from temporalio.service import RPCError

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.forms import ADD, RAW, Awaited, Filled, filled, forms_of, in_words, refilled
from swf_temporal.http.console.pages import segment
from swf_temporal.http.console.visits import Visit, redirect
from swf_temporal.http.gateway.instances import TenantInstance, definitions_for, instance_of
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations.tasks import NoSuchTaskError, TaskFilter, complete_task, find_task, list_tasks
from swf_temporal.settings.http import Operation

_AT_ONCE: Final = 50
"""The number of instances whose tasks are on a page."""
_WAITING: Final = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}


async def show_tasks(visit: Visit) -> Response:
    """List the tasks of running instances, by the filters in the URL."""
    query = {name: visit.query(name) for name in ("definition", "role", "assignee", "waiting", "after")}
    if query["waiting"] and query["waiting"] not in _WAITING:
        raise Refused(422, "bad-filter", f"waiting is {query['waiting']!r}", f"it must be one of {', '.join(_WAITING)}")
    wanted = TaskFilter(
        definitions_for(visit.asked, query["definition"] or None),
        query["role"] or None,
        query["assignee"] or None,
        _WAITING.get(query["waiting"], timedelta()),
    )
    bad_page = Refused(422, "bad-page", "the link to this page is not one of this list", "begin with the first page")
    try:
        after = urlsafe_b64decode(query["after"].encode()) or None
    except ValueError:
        raise bad_page from None
    try:
        found = await list_tasks(visit.asked.client, wanted, limit=_AT_ONCE, after=after)
    except RPCError:
        if after is None:
            raise
        raise bad_page from None
    return visit.page(
        "tasks.html",
        tasks=found.tasks,
        silent=found.silent,
        query=query,
        known=visit.asked.known(),
        next=urlsafe_b64encode(found.next).decode() if found.next else "",
        is_sent=visit.query("done") == "sent",
    )


async def show_task(visit: Visit) -> Response:
    """Show a task, with its form."""
    found = await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    try:
        task = await find_task(visit.asked.client, found.instance.id, visit.query("event") or None)
    except NoSuchTaskError as error:
        return _shown(visit, found, refusal=refusal_of(error))
    return _shown(visit, found, (await asyncio.to_thread(forms_of, [task]))[0])


async def send(visit: Visit) -> Response:
    """Send an instance the event that it waits for, with the data of the form."""
    given = await visit.form()
    found = await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    client, instance_id, event = visit.asked.client, found.instance.id, given.get("event", "")
    try:
        task = await find_task(client, instance_id, event)
    except UsageError as error:
        return _shown(visit, found, refusal=refusal_of(error), given=given)
    if ADD in given:
        return _shown(visit, found, refilled(Awaited(task, ()), given, Filled({}, {})))
    got = await asyncio.to_thread(filled, task.data_schema, given)
    wrong = {**got.unfit, **got.errors}
    if wrong:
        refusal = Refused(422, "bad-form", in_words(wrong, got.unplaced))
    else:
        try:
            await complete_task(client, instance_id, event, got.data)
        except UsageError as error:
            refusal = refusal_of(error)
        else:
            may_read = visit.may(Operation.READ)
            return redirect(f"/console/instances/{segment(instance_id)}?done=sent" if may_read else _SENT)
    return _shown(visit, found, refilled(Awaited(task, ()), given, got), refusal, given)


_SENT: Final = "/console/tasks?done=sent"


def _shown(
    visit: Visit,
    found: TenantInstance,
    awaited: Awaited | None = None,
    refusal: Refused | None = None,
    given: Mapping[str, str] | None = None,
) -> Response:
    """Show a task; if it is none any more, what was entered for it."""
    entered = {name.removeprefix("/"): text for name, text in (given or {}).items() if name[:1] == "/" or name == RAW}
    return visit.page(
        "task.html",
        refusal.status if refusal else 200,
        instance_id=found.instance.id,
        definition=found.definition,
        awaited=awaited,
        refusal=refusal,
        entered={} if awaited else {name: text for name, text in entered.items() if text},
    )
