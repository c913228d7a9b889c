"""The gateway's description over HTTP, and the page that shows it."""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from swf_temporal.http.gateway.openapi import description_of
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.operations.event_routes import latest_of

_PAGE: Final = (Path(__file__).parent / "docs.html").read_text(encoding="utf-8")
_UI: Final = "fastapi_swagger"
"""The package that has the files of Swagger UI, of which nothing else is used."""
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
    """Return the routes of the page; nothing on it comes from elsewhere."""
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
            return Refused(404, "no-page", f"the page needs {_UI}", "pip install 'swf-temporal[gateway]'").response()
        return Response(content, media_type=media, headers={"Cache-Control": "max-age=86400"})

    return answer


@cache
def _content(name: str) -> bytes | None:
    """Return a file of Swagger UI, if the package is there: it is looked up, and nothing of it imported."""
    found = find_spec(_UI)
    if found is None or found.origin is None:
        return None
    return (Path(found.origin).parent / "resources" / name).read_bytes()
