"""The routes of the console, its login, and what it answers where something is refused."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from swf_temporal.http.bodies import BodyTooLargeError, SlowBodyError, body_of
from swf_temporal.http.console import definitions, instances, moving, retrying, tasks
from swf_temporal.http.console.drawing import Drawing
from swf_temporal.http.console.pages import address, page, static
from swf_temporal.http.console.sessions import LONGEST_KEY, Session, end_session
from swf_temporal.http.console.visits import Show, Visit, redirect
from swf_temporal.http.console.watching import Watching
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.requests import PATIENCE, RequestContext
from swf_temporal.operations.client import refusals_as_usage_errors
from swf_temporal.settings.http import GatewaySettings

_HOME: Final = "/console/definitions"
_LOGIN: Final = "/console/login"
_UNAUTHENTICATED: Final = (401, 403)
_LONGEST_LOGIN: Final = 12 * 1024
"""The longest form of a login, in bytes: a key that a cookie can hold, escaped, and a path."""
_LOGGING_IN: Final = 10.0
"""Seconds in which it has to arrive, from whoever sends it."""
_TOO_LONG: Final = f"The key has more than {LONGEST_KEY} bytes, too many for a browser."

Asked = Callable[[Request, str], Awaitable[RequestContext]]
"""Returns a request as that of the tenant whose key it is. Raises Refused."""
RefusalOf = Callable[[Exception, Request], Refused]

_PAGES: Final[dict[tuple[str, str], Show]] = {
    ("GET", "/console/definitions"): definitions.list_definitions,
    ("GET", "/console/definitions/{id}"): definitions.show_definition,
    ("GET", "/console/definitions/{id}/source"): definitions.show_source,
    ("POST", "/console/definitions/{id}/start"): definitions.start,
    ("GET", "/console/instances"): instances.list_instances,
    ("GET", "/console/instances/{id}"): instances.show_instance,
    ("GET", "/console/instances/{id}/stream"): moving.stream,
    ("GET", "/console/instances/{id}/pictures"): moving.pictures,
    ("POST", "/console/instances/{id}/send"): tasks.send,
    ("GET", "/console/instances/{id}/retry"): retrying.show_plan,
    ("POST", "/console/instances/{id}/retry"): retrying.retry,
    ("POST", "/console/instances/{id}/{action}"): instances.act,
    ("GET", "/console/tasks"): tasks.list_tasks,
}


class Console:
    """Answers people, with what the gateway knows of who asks."""

    def __init__(
        self, asked: Asked, refuse_pages: Callable[[Request], None], refusal_of: RefusalOf, settings: GatewaySettings
    ) -> None:
        """Answer by what the gateway makes of requests; where its *settings* have no tenants nobody logs in."""
        self._asked = asked
        self._refuse_pages = refuse_pages
        self._refusal_of = refusal_of
        self._is_open = settings.is_open
        self._watching = Watching(settings)
        self._drawing = Drawing()

    def routes(self) -> list[Route]:
        return [
            *(Route(path, self._guarded(self._home)) for path in ("/console", "/console/")),
            Route("/console/static/{name}", _static),
            Route(_LOGIN, self._guarded(self._show_login), methods=["GET"]),
            Route(_LOGIN, self._guarded(self._log_in), methods=["POST"]),
            Route("/console/logout", self._guarded(self._log_out), methods=["POST"]),
            *(
                Route(path, self._guarded(self._visited(show)), methods=[method])
                for (method, path), show in _PAGES.items()
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
            except Exception as error:  # noqa: BLE001 - whatever it is gets an answer
                refusal = self._refusal_of(error, request)
            if refusal.status == _UNAUTHENTICATED[0]:
                return redirect(address(_LOGIN, next=request.url.path if request.method == "GET" else ""))
            _log.info("refused %s of the console: %s %s", request.method, refusal.status, refusal.code)
            response = page("refused.html", refusal.status, refusal=refusal, is_open=self._is_open)
            response.headers.update(refusal.headers)
            return response

        return endpoint

    def _visited(self, show: Show) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            session, is_new = Session.of(request), False
            if session is None:
                session, is_new = Session(), True
            visit = Visit(await self._asked(request, session.key), session, self._watching, self._drawing)
            with refusals_as_usage_errors():
                async with asyncio.timeout(PATIENCE):
                    response = await show(visit)
            if is_new:  # nobody logs in here
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
        """Keep the key that was given, if it is one of a tenant."""
        try:
            body = await body_of(request, _LONGEST_LOGIN, _LOGGING_IN)
        except BodyTooLargeError:
            return _closing(_login("", _TOO_LONG))
        except SlowBodyError as error:
            return _closing(PlainTextResponse(f"{error}\n", 408))
        fields = dict(parse_qsl(body.decode(errors="replace")))
        key, following = fields.get("key", "").strip(), fields.get("next", "")
        if len(key.encode()) > LONGEST_KEY:
            return _login(following, _TOO_LONG)
        try:
            await self._asked(request, key)
        except Refused as refusal:
            if refusal.status not in _UNAUTHENTICATED:
                raise
            return _login(following, "This key is not known here.")
        response = redirect(_own(following))
        Session(key).keep(request, response)
        return response

    async def _log_out(self, request: Request) -> Response:
        session = Session.of(request)
        if session is not None:
            await Visit(await self._asked(request, session.key), session, self._watching, self._drawing).form()
        response = redirect(_LOGIN)
        end_session(response)
        return response


_log = logging.getLogger("swf")


def _login(following: str, error: str = "") -> Response:
    return page("login.html", 401 if error else 200, next=following, error=error)


def _closing(response: Response) -> Response:
    """Return *response* to a request whose body was not read to its end."""
    response.headers["Connection"] = "close"
    return response


def _own(path: str) -> str:
    """Return *path* if it is a page of the console, else its first page: a link may have been made by anyone."""
    is_own = path.startswith("/console/") and path.isprintable() and "\\" not in path and "//" not in path
    return path if is_own and path != _LOGIN else _HOME


async def _static(request: Request) -> Response:
    found = static(str(request.path_params["name"]))
    return found or Response(status_code=404)
