"""The routes of the console, its login, and its error pages."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from swf_temporal.base.errors import UsageError
from swf_temporal.base.request_bodies import BodyTooLargeError, SlowBodyError, body_of
from swf_temporal.base.strict_json import write_json
from swf_temporal.http.console import actions, definitions, instances, lists, rerunning, steps, tasks
from swf_temporal.http.console.drawing import Drawing, Drawn
from swf_temporal.http.console.pages import HEADERS, FilledPage, address, html_of, macros, page, static
from swf_temporal.http.console.visits import MAX_KEY_BYTES, EndedSessions, Session, Show, Visit, redirect
from swf_temporal.http.console.watching import WatchedInstance, WatchedList, Watching
from swf_temporal.http.gateway.authentication import refuse_operation
from swf_temporal.http.gateway.instances import TenantInstance, instance_of
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.requests import PATIENCE, RequestContext, log_change
from swf_temporal.sdk.asgi_server import STOPPING
from swf_temporal.sdk.http_connections import UNDER_WAY
from swf_temporal.settings.http import GatewaySettings, Operation
from swf_temporal.temporal.client_errors import refusals_as_usage_errors

_SECONDS: Final = 300.0
"""The duration of a stream in seconds. Then the browser reconnects, and authenticates again."""


async def stream(visit: Visit) -> Response:
    """Stream the changes to an instance's page as server-sent events, until the instance has ended."""
    request = visit.asked.request.scope[UNDER_WAY]
    try:
        visit.watching.count(visit.asked.tenant, request)
    except Refused as refusal:
        return refusal.response()  # only a script reads it, not a person
    found = await _instance(visit)
    watched = visit.watching.watch(visit.asked.client, found, request)
    return _streamed(_changes(visit, watched))


def _streamed(changes: AsyncIterator[str]) -> Response:
    headers = HEADERS | {"X-Accel-Buffering": "no"}
    return StreamingResponse(changes, media_type="text/event-stream", headers=headers)


async def stream_list(visit: Visit) -> Response:
    """Stream the changes to a list of instances as server-sent events."""
    request = visit.asked.request.scope[UNDER_WAY]
    try:
        visit.watching.count(visit.asked.tenant, request)
        lists.filter_in(visit)
    except Refused as refusal:
        return refusal.response()  # only a script reads it, not a person
    return _streamed(_list_changes(visit, visit.watching.watch_list(visit, request)))


async def _list_changes(visit: Visit, watched: WatchedList) -> AsyncIterator[str]:
    stopping: asyncio.Event = visit.asked.request.scope[STOPPING]
    async for part in watched.snapshots(stopping, _SECONDS):
        yield f"event: live\ndata: {write_json({'list': part})}\n\n"


async def _changes(visit: Visit, watched: WatchedInstance) -> AsyncIterator[str]:
    shown: dict[str, str] = {}
    stopping: asyncio.Event = visit.asked.request.scope[STOPPING]
    async for snapshot in watched.snapshots(stopping, _SECONDS):
        parts = snapshot.parts | {id_: write_json(part) for id_, part in _own_parts(visit, snapshot.values).items()}
        changed = [f"{write_json(id_)}:{part}" for id_, part in parts.items() if shown.get(id_) != part]
        shown = parts
        if changed:
            yield f"event: live\ndata: {{{','.join(changed)}}}\n\n"
        if not snapshot.values["is_open"]:
            yield "event: end\ndata:\n\n"


def _own_parts(visit: Visit, values: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page that depend on the person, by their ids."""
    csrf, may = visit.session.csrf, visit.values["may"]
    awaited = values["awaited"] if may["tasks"] else []
    parts = {"live-waiting": str(macros("live.html").waiting(awaited, csrf, may["tasks"]))}
    if may["end"] or may["rerun"]:
        parts["live-actions"] = html_of("actions.html", csrf=csrf, may=may, **values)
    return parts


async def pictures(visit: Visit) -> Response:
    """Show the diagram of an instance's definition with what it has done, and its timeline."""
    found = await _instance(visit)
    seen, why = Drawn([]), ""
    try:
        seen = await visit.drawing.pictures_of(visit.asked, found.instance.id)
    except UsageError as error:
        why = str(error)
    drawn = [Markup(one) for one in seen.pictures]  # noqa: S704 - it escapes all texts
    entries, runs, instance_id = seen.entries, seen.runs, found.instance.id
    return visit.page("pictures.html", instance_id=instance_id, drawn=drawn, why=why, entries=entries, runs=runs)


async def _instance(visit: Visit) -> TenantInstance:
    return await instance_of(visit.asked, visit.asked.path_id(), 1.0)


_HOME: Final = "/console/overview"
_LOGIN: Final = "/console/login"
_UNAUTHENTICATED: Final = (401, 403)
_MAX_LOGIN_BYTES: Final = 12 * 1024
"""The maximum size of a login form in bytes: a key that fits in a cookie, escaped, and a path."""
_TOO_LONG: Final = f"The key has more than {MAX_KEY_BYTES} bytes, too many for a browser."

Asked = Callable[[Request, str], Awaitable[RequestContext]]
"""Returns the context of a request with this key. Raises Refused."""
RefusalOf = Callable[[Exception, Request], Refused]


class Page(NamedTuple):
    """A page: what shows it, or carries out its form, and the operation that this needs permission for."""

    show: Show
    permits: Operation
    has_own_room: bool = False
    """Whether it waits long for what has a limit of its own: a history that is followed, or news."""


_SHOWN_AT_ONCE: Final = 8


class Rooms:
    """The pages of one tenant that are made at the same time: a crowd of one waits for itself, and not others."""

    def __init__(self) -> None:
        self._showing = asyncio.Semaphore(_SHOWN_AT_ONCE)
        self._filling = asyncio.Lock()

    async def made(self, show: Callable[[], Awaitable[Response]], *, has_own_room: bool = False) -> Response:
        """Return the page that *show* returns, filled in."""
        with refusals_as_usage_errors():
            async with asyncio.timeout(PATIENCE), nullcontext() if has_own_room else self._showing:
                response = await show()
        if isinstance(response, FilledPage):
            async with self._filling:
                await response.fill()
        return response


PAGES: Final[dict[tuple[str, str], Page]] = {
    ("GET", "/console/overview"): Page(lists.show_overview, Operation.READ),
    ("GET", "/console/definitions"): Page(definitions.list_definitions, Operation.READ),
    ("GET", "/console/definitions/{id}"): Page(definitions.show_definition, Operation.READ),
    ("GET", "/console/definitions/{id}/source"): Page(definitions.show_source, Operation.READ),
    ("POST", "/console/definitions/{id}/start"): Page(definitions.start, Operation.START),
    ("GET", "/console/instances"): Page(lists.list_instances, Operation.READ),
    ("GET", "/console/lists/stream"): Page(stream_list, Operation.READ, has_own_room=True),
    ("GET", "/console/changes/retry"): Page(actions.show_change, Operation.RERUN),
    ("POST", "/console/changes/retry"): Page(actions.change, Operation.RERUN),
    ("GET", "/console/changes/{action}"): Page(actions.show_change, Operation.END),
    ("POST", "/console/changes/{action}"): Page(actions.change, Operation.END),
    ("GET", "/console/instances/{id}"): Page(instances.show_instance, Operation.READ),
    ("GET", "/console/instances/{id}/stream"): Page(stream, Operation.READ, has_own_room=True),
    ("GET", "/console/instances/{id}/pictures"): Page(pictures, Operation.READ, has_own_room=True),
    ("GET", "/console/instances/{id}/steps"): Page(steps.show_step, Operation.READ, has_own_room=True),
    ("GET", "/console/instances/{id}/trace"): Page(steps.show_trace, Operation.READ),
    ("GET", "/console/instances/{id}/retry"): Page(rerunning.show_retry, Operation.RERUN),
    ("POST", "/console/instances/{id}/retry"): Page(rerunning.retry, Operation.RERUN),
    ("GET", "/console/instances/{id}/rerun"): Page(rerunning.show_rerun, Operation.RERUN),
    ("POST", "/console/instances/{id}/rerun"): Page(rerunning.rerun, Operation.RERUN),
    ("GET", "/console/instances/{id}/{action}"): Page(actions.show_action, Operation.END),
    ("POST", "/console/instances/{id}/{action}"): Page(actions.act, Operation.END),
    ("GET", "/console/tasks"): Page(tasks.show_tasks, Operation.TASKS),
    ("GET", "/console/tasks/{id}"): Page(tasks.show_task, Operation.TASKS),
    ("POST", "/console/tasks/{id}"): Page(tasks.send, Operation.TASKS),
}
"""The pages for people who have logged in, by method and path."""


class Console:
    """Serves people pages, with the gateway's authentication and limits."""

    def __init__(
        self, asked: Asked, refuse_pages: Callable[[Request], None], refusal_of: RefusalOf, settings: GatewaySettings
    ) -> None:
        """Serve pages with the gateway's functions; without tenants in *settings* there is no login."""
        self._asked = asked
        self._refuse_pages = refuse_pages
        self._refusal_of = refusal_of
        self._is_open = settings.is_open
        self._watching = Watching(settings)
        self._drawing = Drawing()
        self._ended = EndedSessions()
        self._rooms: defaultdict[str, Rooms] = defaultdict(Rooms)
        """By tenant."""

    def routes(self) -> list[Route]:
        return [
            *(Route(path, self._guarded(self._home)) for path in ("/console", "/console/")),
            Route("/console/static/{name}", _static),
            Route(_LOGIN, self._guarded(self._show_login), methods=["GET"]),
            Route(_LOGIN, self._guarded(self._log_in), methods=["POST"]),
            Route("/console/logout", self._guarded(self._log_out), methods=["POST"]),
            *(
                Route(path, self._guarded(self._visited(method, one)), methods=[method])
                for (method, path), one in PAGES.items()
            ),
            Route("/console/{rest:path}", self._guarded(self._unknown)),
        ]

    def _guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                self._refuse_pages(request)
                return await answer(request)
            except ClientDisconnect:
                return Response(status_code=400)
            except Exception as error:  # noqa: BLE001 - every error is answered
                refusal = self._refusal_of(error, request)
            if refusal.status == _UNAUTHENTICATED[0]:
                return redirect(address(_LOGIN, next=request.url.path if request.method == "GET" else ""))
            _log.info("refused %s of the console: %s %s", request.method, refusal.status, refusal.code)
            response = page("refused.html", refusal.status, refusal=refusal, is_open=self._is_open)
            response.headers.update(refusal.headers)
            return response

        return endpoint

    def _visited(self, method: str, visited: Page) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            session, is_new = self._session_of(request), False
            if session is None:
                session, is_new = Session(), True
            visit = Visit(await self._asked(request, session.key), session, self._watching, self._drawing)
            if method == "GET":  # where the console is read-only, what forms change can still be seen
                refuse_operation(visit.asked.tenant, visited.permits)
            else:
                visit.refuse(visited.permits)
            rooms = self._rooms[visit.asked.tenant.name]
            response = await rooms.made(partial(visited.show, visit), has_own_room=visited.has_own_room)
            log_change(visit.asked, response)
            if is_new:  # there is no login
                session.keep(request, response)
            return response

        return answer

    async def _home(self, _: Request) -> Response:
        return redirect(_HOME)

    async def _unknown(self, request: Request) -> Response:
        raise Refused(404, "unknown-path", f"there is no {request.url.path}")

    async def _show_login(self, request: Request) -> Response:
        return redirect(_HOME) if self._is_open else _login(request.query_params.get("next", ""))

    async def _log_in(self, request: Request) -> Response:
        """Keep the given key in the session, if it is a tenant's."""
        try:
            body = await body_of(request, _MAX_LOGIN_BYTES)
        except BodyTooLargeError:
            return _closing(_login("", _TOO_LONG))
        except SlowBodyError as error:
            return _closing(PlainTextResponse(f"{error}\n", 408))
        fields = dict(parse_qsl(body.decode(errors="replace")))
        key, following = fields.get("key", "").strip(), fields.get("next", "")
        if len(key.encode()) > MAX_KEY_BYTES:
            return _login(following, _TOO_LONG)
        try:
            await self._asked(request, key)
        except Refused as refusal:
            if refusal.status not in _UNAUTHENTICATED:
                raise
            return _login(following, "This key is not valid.")
        response = redirect(_own(following))
        Session(key).keep(request, response)
        return response

    async def _log_out(self, request: Request) -> Response:
        session = self._session_of(request)
        response = redirect(_LOGIN)
        if session is not None:
            await Visit(await self._asked(request, session.key), session, self._watching, self._drawing).form()
            self._ended.end(session, response)
        return response

    def _session_of(self, request: Request) -> Session | None:
        session = Session.of(request)
        return None if session is None or session in self._ended else session


_log = logging.getLogger("swf")


def _login(following: str, error: str = "") -> Response:
    return page("login.html", 401 if error else 200, next=following, error=error)


def _closing(response: Response) -> Response:
    """Return *response*, closing the connection, as the request's body was not read to its end."""
    response.headers["Connection"] = "close"
    return response


def _own(path: str) -> str:
    """Return *path* if it is a page of the console, else the home page: the link may come from anywhere."""
    is_own = path.startswith("/console/") and path.isprintable() and "\\" not in path and "//" not in path
    return path if is_own and path != _LOGIN else _HOME


async def _static(request: Request) -> Response:
    found = static(str(request.path_params["name"]))
    return found or Response(status_code=404)
