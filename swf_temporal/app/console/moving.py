"""What moves on the page of an instance: a stream of the parts that have changed, and the pictures of its course."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response, StreamingResponse
from temporalio.service import RPCError

from swf_temporal.app.asgi_server import STOPPING
from swf_temporal.app.client import refusals_as_usage_errors
from swf_temporal.app.console.instances import live_of
from swf_temporal.app.console.pages import HEADERS, html_of, macros, segment
from swf_temporal.app.console.visits import Visit
from swf_temporal.app.gateway.instances import TenantInstance, instance_of
from swf_temporal.app.gateway.requests import PATIENCE
from swf_temporal.app.pictures import runs_of_instance
from swf_temporal.drawing.model import Picture
from swf_temporal.drawing.svg import svg_of
from swf_temporal.drawing.timeline import Timeline
from swf_temporal.errors import SwfError, UsageError
from swf_temporal.settings.http import Operation
from swf_temporal.strict_json import write_json

_EVERY: Final = 1.0
"""Seconds between two looks at an instance."""
_AT_LEAST: Final = 5
"""After how many looks it is asked anew though its history is as long as before: an attempt may have failed."""
_LOOKS: Final = 300
"""How many looks a stream has. After that the browser asks again, and shows its key again."""


async def stream(visit: Visit) -> Response:
    """Answer with what changes on the page of an instance, as server-sent events, until it has ended."""
    visit.refuse(Operation.READ)
    found = await _instance(visit)
    headers = HEADERS | {"X-Accel-Buffering": "no"}
    return StreamingResponse(_changes(visit, found), media_type="text/event-stream", headers=headers)


async def _changes(visit: Visit, found: TenantInstance) -> AsyncIterator[str]:
    shown: dict[str, str] = {}
    length = -1
    stopping: asyncio.Event = visit.asked.request.scope[STOPPING]
    for look in range(_LOOKS):
        try:
            with refusals_as_usage_errors():
                async with asyncio.timeout(PATIENCE):
                    now = (await found.instance.handle.describe()).history_length
                    if now != length or look % _AT_LEAST == 0:
                        length = now
                        values = await live_of(visit, found)
                        parts = _parts(visit, found, values)
                        changed = {id_: part for id_, part in parts.items() if shown.get(id_) != part}
                        shown = parts
                        if changed:
                            yield f"event: live\ndata: {write_json(changed)}\n\n"
                        if not values["is_open"]:
                            yield "event: end\ndata:\n\n"
                            return
        except (SwfError, RPCError, TimeoutError):
            return  # the browser asks again, and is told then
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _EVERY)
            return


def _parts(visit: Visit, found: TenantInstance, values: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that may change, by their ids."""
    made, path = macros("live.html"), f"/console/instances/{segment(found.instance.id)}"
    csrf, may = visit.session.csrf, visit.values["may"]
    parts = {
        "live-head": made.head(values["facts"], values["is_open"]),
        "live-waiting": made.waiting(values["awaited"], csrf, may["tasks"]),
        "live-values": made.values(values["data"], values["output"], values["facts"], values["is_open"]),
        "live-trace": made.entries(values["trace"], values["cut"], values["facts"]),
    }
    if may["end"] or may["rerun"]:
        parts["live-actions"] = html_of("actions.html", csrf=csrf, path=path, may=may, **values)
    return {id_: str(part) for id_, part in parts.items()}


async def pictures(visit: Visit) -> Response:
    """Show what an instance has done on its definition, and when."""
    visit.refuse(Operation.READ)
    found = await _instance(visit)
    drawn, why = list[Markup](), ""
    try:
        for number, run in enumerate(await runs_of_instance(visit.asked.client, found.instance.id)):
            shown: list[Picture | Timeline] = [run.picture, *([run.timeline] if run.timeline is not None else [])]
            drawn += [
                Markup(await asyncio.to_thread(svg_of, one, is_styled=False, ids=f"c{number}{place}-"))  # noqa: S704 - it escapes all texts
                for place, one in enumerate(shown)
            ]
    except UsageError as error:
        why = str(error)
    return visit.page("pictures.html", instance_id=found.instance.id, drawn=drawn, why=why)


async def _instance(visit: Visit) -> TenantInstance:
    return await instance_of(visit.asked, visit.asked.path_id(), 1.0)
