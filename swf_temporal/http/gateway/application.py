"""The application of the gateway: its endpoints, their description, and health checks."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive

from swf_temporal.base.errors import MissingExtra
from swf_temporal.http.authentication import foreign_host, foreign_page
from swf_temporal.http.console.application import Console
from swf_temporal.http.gateway.authentication import Authentication, refuse_operation
from swf_temporal.http.gateway.endpoints import ENDPOINTS, SONATAFLOW, Endpoint
from swf_temporal.http.gateway.openapi import description_of
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.http.gateway.requests import (
    PATIENCE,
    Metrics,
    RequestContext,
    TenantCatalogue,
    TenantLimits,
    log_change,
)
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_sending import latest_of
from swf_temporal.sdk.http_connections import UNDER_WAY
from swf_temporal.sdk.logs import in_one_line
from swf_temporal.settings.http import LOOPBACK, GatewaySettings, Operation
from swf_temporal.temporal.client_errors import refusals_as_usage_errors
from swf_temporal.temporal.metrics import meter_of
from swf_temporal.temporal.server_timeout import answers
from swf_temporal.temporal.tracing import ServedRequest, served


class _Reception:
    """The receiving side of a request: all who read its body go through this, and then it watches for a disconnect."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._is_read = asyncio.Event()

    async def __call__(self) -> Message:
        message = await self._receive()
        if not message.get("more_body", False):
            self._is_read.set()
        return message

    async def departure(self) -> None:
        """Return once the client has disconnected. Until its body is read, reading it notices that."""
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def while_connected(request: Request, work: Callable[[Request], Awaitable[Response]]) -> Response:
    """Return the response of *work*. Raises ClientDisconnect if the client disconnects first."""
    reception = _Reception(request.receive)
    if request.method in ("GET", "HEAD"):
        await reception()  # nothing else reads it
    working = asyncio.ensure_future(work(Request(request.scope, reception)))
    leaving = asyncio.ensure_future(reception.departure())
    both = (working, leaving)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in both:
            task.cancel()
        await asyncio.wait(both)


_PAGE: Final = (Path(__file__).parent / "docs.html").read_text(encoding="utf-8")
_UI: Final = "fastapi_swagger"
"""The package with the files of Swagger UI; nothing else of it is used."""
_FILES: Final = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}


_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'"  # within a page of another origin, a click there would send a request of this one
)


async def show_description(asked: RequestContext) -> Response:
    """Show the OpenAPI description for the tenant."""
    settings, definitions = asked.settings, latest_of(asked.catalogue)
    described = description_of(definitions, is_open=settings.is_open, is_like_sonataflow=settings.sonataflow_api)
    return JSONResponse(described)


def docs_routes() -> list[Route]:
    """Return the routes of the documentation page, which loads nothing from other hosts."""
    return [
        Route("/", _root),
        Route("/docs", _page),
        *(Route(f"/docs/{name}", _file_of(name, media)) for name, media in _FILES.items()),
    ]


async def _root(_: Request) -> Response:
    return RedirectResponse("/docs")


async def _page(_: Request) -> Response:
    return HTMLResponse(_PAGE, headers={"Content-Security-Policy": _POLICY})


def _file_of(name: str, media: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        content = _content(name)
        if content is None:
            missing = MissingExtra("gateway", "the page", _UI)
            return Refused(404, "no-page", missing.message, missing.hint).response()
        return Response(content, media_type=media, headers={"Cache-Control": "max-age=86400"})

    return answer


@cache
def _content(name: str) -> bytes | None:
    """Return a file of Swagger UI, if its package is installed: it is located, but not imported."""
    found = find_spec(_UI)
    if found is None or found.origin is None:
        return None
    return (Path(found.origin).parent / "resources" / name).read_bytes()


_log = logging.getLogger("swf")


class Gateway:
    """Answers requests, each with the client of its tenant."""

    def __init__(self, settings: GatewaySettings, catalogue: Catalogue, clients: Mapping[str | None, Client]) -> None:
        """Serve the definitions of *catalogue*, as they are at the time of a request.

        *clients* are for the namespaces of tenants; the one under None is for tenants without a namespace.
        """
        self._settings = settings
        self._catalogue = catalogue
        self._clients = clients
        self._authentication = Authentication(settings)
        self._limits = TenantLimits(settings)
        self._metrics = Metrics(meter_of(next(iter(clients.values())).temporal))

    def application(self) -> Any:
        """Return the ASGI application."""
        settings = self._settings
        routes = [Route("/livez", _livez), Route("/readyz", self._readyz)]  # first, as they are asked for most often
        routes += self._routes((*ENDPOINTS, Endpoint("GET", "/openapi.json", show_description, None)))
        cors = Middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "PUT", *(["DELETE", "PATCH"] if settings.sonataflow_api else [])],
            allow_headers=["*"],  # attributes of events may have any names
            expose_headers=["Location", "Retry-After"],
            max_age=600,
        )
        if settings.console:
            console = Console(self._asked, self._refuse_pages, _refusal_or_bug, settings)
            routes += console.routes()
        routes += docs_routes()
        if settings.sonataflow_api:  # last, since a definition may have the id `events`
            routes += self._routes(SONATAFLOW)
        handlers: Any = {404: _unknown_path, 405: _unknown_path}
        middleware = [cors] if settings.origins else []
        return _raw_paths(Starlette(routes=routes, middleware=middleware, exception_handlers=handlers))

    def _routes(self, endpoints: Iterable[Endpoint]) -> list[Route]:
        paths: dict[str, dict[str, Endpoint]] = {}
        for one in endpoints:
            methods = (one.method, "PUT") if one.takes_events else (one.method,)
            paths.setdefault(one.path, {}).update(dict.fromkeys(methods, one))
        return [Route(path, self._answering(path, own), methods=list(_METHODS)) for path, own in paths.items()]

    def _answering(self, path: str, methods: Mapping[str, Endpoint]) -> Callable[[Request], Awaitable[Response]]:
        allowed = ", ".join(sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}))

        async def endpoint(request: Request) -> Response:
            began, method = time.monotonic(), "GET" if request.method == "HEAD" else request.method
            self._metrics.begin()
            status = 500
            try:
                if method == "OPTIONS":
                    response = Response(headers={"Allow": allowed} | _webhook_headers(request))
                elif method not in methods:
                    detail = f"{request.method} is not for this path"
                    response = Refused(405, "unknown-method", detail, headers={"Allow": allowed}).response()
                else:
                    response = await self._answered(request, methods[method])
                status = response.status_code
            finally:
                self._metrics.end(f"{method} {path}", status, time.monotonic() - began)
            return response

        return endpoint

    async def _answered(self, request: Request, endpoint: Endpoint) -> Response:
        try:
            self._refuse_pages(request)
            if endpoint.takes_events:  # they are sent even if the client disconnects
                return await self._worked(request, endpoint)
            return await while_connected(request, lambda watched: self._worked(watched, endpoint))
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:  # noqa: BLE001 - every error is answered
            refusal = _refusal_or_bug(error, request)
        who = request.client.host if request.client else "?"
        path = in_one_line(request.url.path)
        _log.info(
            "refused %s %s from %s: %s %s", request.method, path, who, refusal.status, in_one_line(refusal.detail)
        )
        return refusal.response()

    async def _worked(self, request: Request, endpoint: Endpoint) -> Response:
        asked = await self._asked(request)
        if endpoint.permits is not None:
            refuse_operation(asked.tenant, endpoint.permits)
        seen = ServedRequest(request.method, endpoint.path, request["path"], request["scheme"], request.headers)
        with served(seen) as answered:
            try:
                response = await self._done(asked, endpoint)
            except ClientDisconnect:
                raise
            except Exception as error:  # noqa: BLE001 - every error is answered
                refusal = _refusal_or_bug(error, request)
                answered(refusal.status)
            else:
                answered(response.status_code)
                return response
        raise refusal

    async def _done(self, asked: RequestContext, endpoint: Endpoint) -> Response:
        with refusals_as_usage_errors():
            waiting = asked.seconds_to_wait(always=endpoint.always_waits)
            patience = None if endpoint.takes_events else PATIENCE + waiting
            async with asyncio.timeout(patience):
                response = await endpoint.work(asked)
        if endpoint.permits not in (None, Operation.READ):
            log_change(asked, response)
        return response

    async def _asked(self, request: Request, token: str | None = None) -> RequestContext:
        try:
            tenant, name, identity = await self._authentication.caller_of(request, token)
        except Refused as refusal:
            if refusal.status in (401, 403):
                await self._limits.count_stranger()
            raise
        if not self._settings.is_open:
            request.scope[UNDER_WAY].admit(tenant.name)
        await self._limits.count_request(tenant)
        catalogue = TenantCatalogue(self._catalogue, tenant)
        client = self._clients[tenant.namespace].acting_as(identity)
        return RequestContext(request, tenant, client, catalogue, self._settings, self._limits, self._metrics, name)

    def _refuse_pages(self, request: Request) -> None:
        """Refuse web pages of other origins and, without authentication, unknown host names for this machine."""
        settings = self._settings
        if len(request.headers.getlist("host")) > 1:
            raise Refused(400, "two-hosts", "the request has several Host headers")
        if (origin := foreign_page(request.headers, settings.origins)) is not None:
            detail = f"requests from {origin} are not allowed"
            raise Refused(403, "foreign-page", detail, "add it to gateway › origins, or --origin")
        is_local = settings.is_open and settings.address.host in LOOPBACK
        if is_local and (host := foreign_host(request.headers)) is not None:
            raise Refused(
                421, "foreign-host", f"this gateway does not serve the host {host!r}", "use 127.0.0.1 or localhost"
            )

    async def _readyz(self, _: Request) -> Response:
        if self._catalogue.unreadable is not None and not list(self._catalogue):
            return PlainTextResponse("not ready: no definition could be read\n", 503)
        is_ready = all(await asyncio.gather(*(answers(one.temporal) for one in self._clients.values())))
        return PlainTextResponse("ready\n") if is_ready else PlainTextResponse("not ready\n", 503)


_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def _refusal_or_bug(error: Exception, request: Request) -> Refused:
    try:
        return refusal_of(error)
    except Exception:  # noqa: BLE001 - unforeseen errors are logged, and not shown
        _log.exception("a bug in swf-temporal: %s %s", request.method, in_one_line(request.url.path))
        return Refused(500, "bug", "the gateway failed because of a bug, which its log describes")


async def _livez(_: Request) -> Response:
    return PlainTextResponse("alive\n")


async def _unknown_path(request: Request, error: Exception) -> Response:
    if request.method not in _METHODS:
        return Refused(501, "unknown-method", f"{request.method} is for no path").response()
    if isinstance(error, HTTPException) and error.status_code == 405:  # noqa: PLR2004 - its headers have what is allowed
        detail = f"{request.method} is not for this path"
        return Refused(405, "unknown-method", detail, headers=error.headers).response()
    return Refused(404, "unknown-path", f"there is no {request.url.path}", "see /docs").response()


def _webhook_headers(request: Request) -> dict[str, str]:
    """Return the headers that permit deliveries, by the Web Hooks of CloudEvents; each one is still authenticated."""
    origin = request.headers.get("webhook-request-origin")
    if origin is None or not origin.isprintable():
        return {}
    return {"WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*"}


def _raw_paths(application: Any) -> Any:
    """Return *application*, but with paths as they were sent: a slash may be part of an id."""

    async def with_raw_paths(scope: Any, receive: Any, send: Any) -> None:
        raw = scope.get("raw_path")
        if raw is not None:
            scope = {**scope, "path": raw.partition(b"?")[0].decode("ascii", errors="replace")}
        await application(scope, receive, send)

    return with_raw_paths
