"""How is a request sent, and what comes back of it?"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from weakref import WeakKeyDictionary

import httpx

from swf_temporal import __version__
from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.answers import read_answer, read_error_answer
from swf_temporal.functions.call import refusal
from swf_temporal.functions.failures import failure
from swf_temporal.functions.settings import Settings

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_USER = re.compile(r"//[^/@]*@")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_SHOWN = 200
_DEFAULT_HEADERS = {
    "Accept": "application/json, text/plain;q=0.9, */*;q=0.5",
    "User-Agent": f"swf-temporal/{__version__}",
}


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request, ready to be sent."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    holds_key: bool = False
    """Whether a header is secret that would be sent along to wherever the service redirects."""

    def __str__(self) -> str:
        """Return `GET http://…` without what nobody should read in a log: the query, and a password."""
        return f"{self.method} {_USER.sub('//', self.url.partition('?')[0], count=1)}"

    @property
    def is_safe(self) -> bool:
        """Whether the request only asks, and changes nothing."""
        return self.method in _SAFE


class Http:
    """Sends requests; keeps the connections of each event loop open between them."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        self._transport = transport
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    async def send(self, request: Request) -> JSON:
        """Return the answer as JSON. Raises CallFailed for any answer but 2xx, or if there is none."""
        async with self._exchange(request) as response:
            content, is_whole = await _read(response, self._settings.max_response_bytes)
        content_type = response.headers.get("content-type", "")
        if not response.is_success:
            raise _refused(request, response, read_error_answer(content, content_type))
        if not is_whole:
            limit = self._settings.max_response_bytes
            raise refusal("AnswerTooLarge", f"{request}: the answer is larger than {limit} bytes")
        try:
            return read_answer(content, content_type)
        except ValueError as error:
            message = f"{request}: the answer says that it is JSON, but it is not: {error}"
            raise CallFailed(message, code="MalformedAnswer", status=response.status_code) from error

    async def fetch(self, request: Request, limit: int) -> bytes:
        """Return a document of at most *limit* bytes. Raises CallFailed if it cannot be had."""
        async with self._exchange(request) as response:
            content, is_whole = await _read(response, limit)
        if not response.is_success:
            raise CallFailed(f"{request} answered {_status(response.status_code)}", code="NoDocument")
        if not is_whole:
            raise refusal("NoDocument", f"{request}: the document is larger than {limit} bytes")
        return content

    async def aclose(self) -> None:
        """Close the connections of this event loop; those of a loop that is gone went with it."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    @asynccontextmanager
    async def _exchange(self, request: Request) -> AsyncIterator[httpx.Response]:
        _check_headers(request)
        client = self._client()
        try:
            async with asyncio.timeout(self._settings.timeout.total_seconds()):
                prepared = client.build_request(
                    request.method,
                    request.url,
                    headers=[(name.encode(), value.encode()) for name, value in request.headers],
                    content=request.content,
                )
                response = await client.send(
                    prepared, stream=True, follow_redirects=request.is_safe and not request.holds_key
                )
                try:
                    yield response
                finally:
                    await response.aclose()
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            httpx.StreamError,
            httpx.CookieConflict,
            TimeoutError,
        ) as error:
            raise failure(error, str(request)) from error

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = httpx.AsyncClient(
                headers=_DEFAULT_HEADERS,
                timeout=httpx.Timeout(None, connect=min(10.0, self._settings.timeout.total_seconds())),
                limits=httpx.Limits(max_connections=self._settings.max_connections),
                # What a service remembers of one workflow must not reach another.
                cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
                transport=self._transport,
            )
        return client


def _check_headers(request: Request) -> None:
    for name, value in request.headers:
        if _CONTROL.search(name) or _CONTROL.search(value):
            raise refusal(
                "BadArguments",
                f"{request}: the header '{name}' would hold a line break or another control character",
            )


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """Return at most *limit* bytes of the body, decompressed, and whether that is all of it."""
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > limit:
            return bytes(content[:limit]), False
    return bytes(content), True


def _refused(request: Request, response: httpx.Response, body: JSON) -> CallFailed:
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    shown = "" if body is None else f": {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}"
    status = response.status_code
    return CallFailed(f"{request} answered {_status(status)}{shown}", code=status, status=status, body=body)


def _status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
