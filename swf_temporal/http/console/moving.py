"""What moves on the page of an instance: a stream of the parts that have changed, and the pictures of its course."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response, StreamingResponse

from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import write_json
from swf_temporal.http.console.pages import HEADERS, html_of, macros, segment
from swf_temporal.http.console.visits import Visit
from swf_temporal.http.console.watching import WatchedInstance
from swf_temporal.http.gateway.instances import TenantInstance, instance_of
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.sdk.asgi_server import STOPPING
from swf_temporal.sdk.http_connections import UNDER_WAY
from swf_temporal.settings.http import Operation

_SECONDS: Final = 300.0
"""How long a stream lasts. After that the browser asks again, and shows its key again."""


async def stream(visit: Visit) -> Response:
    """Answer with what changes on the page of an instance, as server-sent events, until it has ended."""
    visit.refuse(Operation.READ)
    request = visit.asked.request.scope[UNDER_WAY]
    try:
        visit.watching.count(visit.asked.tenant, request)
    except Refused as refusal:
        return refusal.response()  # nobody looks at it: a page would cost more than the rest
    found = await _instance(visit)
    watched = visit.watching.watch(visit.asked.client, found, request)
    headers = HEADERS | {"X-Accel-Buffering": "no"}
    return StreamingResponse(_changes(visit, found, watched), media_type="text/event-stream", headers=headers)


async def _changes(visit: Visit, found: TenantInstance, watched: WatchedInstance) -> AsyncIterator[str]:
    shown: dict[str, str] = {}
    stopping: asyncio.Event = visit.asked.request.scope[STOPPING]
    async for look in watched.looks(stopping, _SECONDS):
        parts = look.parts | {id_: write_json(part) for id_, part in _own_parts(visit, found, look.values).items()}
        changed = [f"{write_json(id_)}:{part}" for id_, part in parts.items() if shown.get(id_) != part]
        shown = parts
        if changed:
            yield f"event: live\ndata: {{{','.join(changed)}}}\n\n"
        if not look.values["is_open"]:
            yield "event: end\ndata:\n\n"


def _own_parts(visit: Visit, found: TenantInstance, values: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that differ by who sees it, by their ids."""
    path, csrf, may = f"/console/instances/{segment(found.instance.id)}", visit.session.csrf, visit.values["may"]
    awaited = values["awaited"] if may["tasks"] else []
    parts = {"live-waiting": str(macros("live.html").waiting(awaited, csrf, may["tasks"]))}
    if may["end"] or may["rerun"]:
        parts["live-actions"] = html_of("actions.html", csrf=csrf, path=path, may=may, **values)
    return parts


async def pictures(visit: Visit) -> Response:
    """Show what an instance has done on its definition, and when."""
    visit.refuse(Operation.READ)
    found = await _instance(visit)
    drawn, why = list[str](), ""
    try:
        drawn = await visit.drawing.pictures_of(visit.asked.client, found.instance.id)
    except UsageError as error:
        why = str(error)
    drawn = [Markup(one) for one in drawn]  # noqa: S704 - it escapes all texts
    return visit.page("pictures.html", instance_id=found.instance.id, drawn=drawn, why=why)


async def _instance(visit: Visit) -> TenantInstance:
    return await instance_of(visit.asked, visit.asked.path_id(), 1.0)
