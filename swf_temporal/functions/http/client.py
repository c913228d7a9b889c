"""HTTP: requests and answers, and the client, which applies the operator's limits, timeouts and redirects."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx
from cachetools import LRUCache

from swf_temporal import __version__
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.base.headers import may_be_passed_on
from swf_temporal.base.importing import PORTS, Origin, origin_of
from swf_temporal.base.strict_json import show_json
from swf_temporal.functions.call import attempts_before
from swf_temporal.functions.http.connections import RESEND, Connections
from swf_temporal.functions.http.failures import failure
from swf_temporal.functions.http.tracing import SentRequest, traced
from swf_temporal.functions.limits import RateLimits
from swf_temporal.functions.local_calls import check_local_host
from swf_temporal.runtime.retrying import MAX_DELAY
from swf_temporal.runtime.variables import SAFE_METHODS
from swf_temporal.settings.calls import HostOptions, Settings
from swf_temporal.text.bodies import is_json, read_answer, read_error_answer, split_content_type

_MAX_SHOWN = 200
_MAX_KEPT_BYTES = 2000
"""The number of bytes of an unreadable answer that a workflow sees."""
_MAX_REDIRECTS = 20
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""The headers that are kept on a redirect to another origin. Any other might be a credential."""
_ASKS_FOR_GET = frozenset({httpx.codes.FOUND, httpx.codes.SEE_OTHER})
"""The statuses of redirects after which other methods than HEAD become GET, as in browsers."""
_USUAL_HEADERS = (
    ("Accept", "application/json, text/plain;q=0.9, */*;q=0.5"),
    ("Accept-Encoding", "gzip, deflate"),
    ("Connection", "keep-alive"),
    ("User-Agent", f"swf-temporal/{__version__}"),
)
"""The headers of every request that does not set them otherwise."""
_FRAMING = frozenset({"content-length", "transfer-encoding"})
"""Headers about the length of a body, which HTTP sets itself: those of a definition could only contradict it."""
_MAX_CHALLENGES = 256
"""The number of users whose last challenge by digest authentication is kept."""
_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "identity"})
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_USER = re.compile(r"//[^/]*@")
_IDEMPOTENT = SAFE_METHODS | {"TRACE", "PUT", "DELETE"}


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request, ready to be sent."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    callee: Callee | None = None
    """The target of the call, whose settings apply."""
    timeout: timedelta | None = None
    """The timeout, instead of the operator's setting for the host."""
    is_foreign: bool = False
    """Whether it follows a redirect from another origin: then the operator's headers are not sent, either."""
    redirect: bool | None = None
    """Whether redirects are followed, and a status of 300 to 399 is a success. If it is None, safe methods follow them,
    and only 200 to 299 is a success."""
    login: tuple[str, str] | None = field(default=None, repr=False)
    """The user and the password for digest authentication."""

    def __str__(self) -> str:
        """Return `GET http://…` without what must not be logged: the query, and a password."""
        return f"{self.method} {self.shown_url.partition('?')[0]}"

    @property
    def shown_url(self) -> str:
        """The URL without a user and a password."""
        return _USER.sub("//", self.url, count=1)

    @property
    def is_safe(self) -> bool:
        """Whether the request only reads, and changes nothing."""
        return self.method in SAFE_METHODS

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice has the same effect as once: by its method, or by an idempotency key."""
        return self.method in _IDEMPOTENT or any(name.lower() == "idempotency-key" for name, _ in self.headers)

    @property
    def follows(self) -> bool:
        """Whether a redirect of it is followed."""
        return self.is_safe if self.redirect is None else self.redirect

    def is_met_by(self, response: httpx.Response) -> bool:
        """Return whether *response* is a success."""
        return response.is_success or (self.redirect is True and response.is_redirect)


def check_headers(request: Request) -> None:
    """Raise CallFailed for headers that are invalid in HTTP."""
    for name, value in request.headers:
        if not name.isascii():
            raise permanent_failure(
                "BadRequestHead", f"{request}: the header {name!r} has characters that HTTP does not allow"
            )
        if _CONTROL.search(name) or _CONTROL.search(value):
            raise permanent_failure(
                "BadArguments",
                f"{request}: the header '{name}' would hold a line break or another control character",
            )


def with_inherited(request: Request, inherited: Mapping[str, str]) -> Request:
    """Return *request* with those *inherited* headers that it does not set itself and that may be forwarded."""
    given = {name.lower() for name, _ in request.headers}
    more = [(name, value) for name, value in inherited.items() if name.lower() not in given and may_be_passed_on(name)]
    return replace(request, headers=(*request.headers, *more)) if more else request


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: Mapping[str, str]
    """The headers, with names in lower case."""
    body: JSON
    is_empty: bool = False
    content: bytes = field(default=b"", repr=False)
    """The bytes of the body of a successful answer, decompressed."""
    asked: Request | None = field(default=None, repr=False)
    """The request without its credentials, if the answer is shown with it."""

    @property
    def content_type(self) -> str:
        """The Content-Type; empty if there is none."""
        return self.headers.get("content-type", "")

    def to_json(self) -> JSON:
        """Return the whole answer as a workflow sees it."""
        return {"status": self.status, "headers": dict(self.headers), "body": self.body}


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """An answer whose body is still arriving."""

    status: int
    headers: Mapping[str, str]
    """The headers, with names in lower case."""
    chunks: AsyncIterator[bytes]
    limit: int
    """The maximum number of bytes to read."""

    async def read(self) -> bytes:
        """Return the rest of the body. Raises CallFailed if it is too large."""
        content = bytearray()
        async for chunk in self.limited():
            content += chunk
        return bytes(content)

    async def limited(self) -> AsyncIterator[bytes]:
        """Yield the body in pieces, as they arrive. Raises CallFailed once it is too large."""
        left = self.limit
        async for chunk in self.chunks:
            left -= len(chunk)
            if left < 0:
                message = f"the answer is larger than {self.limit} bytes"
                raise CallFailed(message, code="AnswerTooLarge", status=self.status, retryable=False)
            yield chunk


class HttpStatusError(CallFailed):
    """A service answered with a status other than 2xx."""

    def __init__(self, message: str, answer: HttpResponse, retry_after: float | None = None) -> None:
        super().__init__(message, code=answer.status, status=answer.status, body=answer.body, retry_after=retry_after)
        self.answer = answer


def seconds_to_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that *headers* ask to wait, or None if they do not, or not in a readable form.

    A date is compared with the service's own clock, if it is in the headers, and otherwise with *now*.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return min(float(text), MAX_DELAY)  # also for a number with so many digits that it is infinite
    moment = _date(text)
    if moment is None:
        return None
    return max(0.0, (moment - (_date(headers.get("date", "")) or now)).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


class Http:
    """Sends requests with the operator's settings."""

    def __init__(
        self,
        settings: Settings,
        transport: httpx.AsyncBaseTransport | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        self._settings = settings
        self._connections = Connections(settings, transport)
        self._limits = limits or RateLimits(settings)
        self._digests = LRUCache[tuple[Origin, tuple[str, str]], httpx.DigestAuth](_MAX_CHALLENGES)
        """Each has the last challenge of a server to a user, for which further requests need no new one."""

    async def request(self, request: Request, read: Callable[[bytes, str], JSON] = read_answer) -> HttpResponse:
        """Return the answer, with its body as JSON, as *read* makes it of the bytes and the Content-Type.

        Raises CallFailed for any status but 2xx, or those that *request* takes as a success, or without an answer.
        """
        response, content = await self._whole(request)
        headers = dict(response.headers.items())
        try:
            body = read(content, response.headers.get("content-type", ""))
            return HttpResponse(response.status_code, headers, body, is_empty=not content, content=content)
        except ValueError as error:
            message = f"{request}: the answer says that it is JSON, but it is not: {error}"
            text = content[:_MAX_KEPT_BYTES].decode(errors="replace")
            raise CallFailed(message, code="MalformedAnswer", status=response.status_code, body=text) from error

    async def request_json(self, request: Request) -> HttpResponse:
        """Return the answer of a service that must answer in JSON. Raises CallFailed as `request` does."""
        answer = await self.request(request)
        media_type, _ = split_content_type(answer.content_type)
        if media_type and not is_json(media_type) and not answer.is_empty:
            message = f"{request}: the answer is {media_type}, and must be JSON"
            raise CallFailed(message, code="MalformedAnswer", status=answer.status, body=answer.body)
        return answer

    async def request_raw(self, request: Request) -> tuple[bytes, dict[str, str]]:
        """Return the raw body of the answer, and its headers in lower case. Raises CallFailed as `request` does."""
        response, content = await self._whole(request)
        return content, dict(response.headers.items())

    @asynccontextmanager
    async def opened(self, request: Request) -> AsyncIterator[OpenAnswer]:
        """Yield the answer to *request* while its body arrives. Raises CallFailed as `request` does."""
        async with self._exchange(request) as (response, options):
            if not response.is_success:
                content, _ = await _read(response, options.max_response_bytes)
                raise _refused(request, response, content)
            headers = dict(response.headers.items())
            yield OpenAnswer(response.status_code, headers, _chunks(response), options.max_response_bytes)

    async def download(self, request: Request, limit: int) -> tuple[bytes, str]:
        """Return a document of at most *limit* bytes, and its URL after redirects on the same service.

        Raises CallFailed if it cannot be fetched.
        """
        async with self._exchange(request) as (response, _):
            content, is_whole = await _read(response, limit)
        if not response.is_success:
            status = response.status_code
            raise CallFailed(f"{request} answered {_status(status)}", code="NoDocument", status=status)
        if not is_whole:
            raise permanent_failure("NoDocument", f"{request}: the document is larger than {limit} bytes")
        found = str(response.url)
        return content, found if is_same_service(request.url, found) else request.url

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        await self._connections.aclose()

    async def _whole(self, request: Request) -> tuple[httpx.Response, bytes]:
        """Return the answer to *request*, with its whole body. Raises CallFailed for any answer but a success."""
        async with self._exchange(request) as (response, options):
            limit = options.max_response_bytes
            content, is_whole = await _read(response, limit)
        if not request.is_met_by(response):
            raise _refused(request, response, content)
        if not is_whole:
            message, status = f"{request}: the answer is larger than {limit} bytes", response.status_code
            raise CallFailed(message, code="AnswerTooLarge", status=status, retryable=False)
        return response, content

    @asynccontextmanager
    async def _exchange(self, request: Request) -> AsyncIterator[tuple[httpx.Response, HostOptions]]:
        """Yield the answer to *request*, or to the last redirect, and the options used."""
        check_headers(request)
        sent = request
        try:
            there = self._there(request)
            left = (request.timeout or there.options.timeout).total_seconds()
            for redirects in range(_MAX_REDIRECTS + 1):
                async with self._limits.of_host(there.host, there.port):
                    started = asyncio.get_running_loop().time()
                    async with asyncio.timeout(left), self._answer(sent, there, redirects) as response:
                        following = redirected(sent, response) if request.follows else None
                        # A body, and the effect of a POST, are meant for one service only.
                        if following is None or (following.is_foreign and (following.content or not following.is_safe)):
                            yield response, there.options
                            return
                        sent = following
                        there = self._there(sent)
                    left -= asyncio.get_running_loop().time() - started
            raise httpx.TooManyRedirects(f"more than {_MAX_REDIRECTS} redirects")
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            httpx.StreamError,
            httpx.CookieConflict,
            UnicodeError,
            TimeoutError,
        ) as error:
            raise failure(error, str(request)) from error

    def _there(self, request: Request) -> "_There":
        url = httpx.URL(request.url)
        port = url.port or PORTS.get(url.scheme, 0)
        check_local_host(self._settings, request.callee, url.host, port, method=request.method)
        return _There(url, port, self._settings.options_for(request.callee, url.host, port))

    @asynccontextmanager
    async def _answer(self, request: Request, there: "_There", redirects: int) -> AsyncIterator[httpx.Response]:
        self._settings.network.check(there.host, there.port)
        transport = self._connections.to(there.url, there.options)
        # Requests without a callee, such as for tokens, belong to the call, and are not what is called.
        resent = redirects + (0 if request.callee is None else attempts_before())
        with traced(SentRequest(request.method, request.url, there.host, there.port, resent)) as trace:
            headers = _with_configured(request, there.options)
            given = {name.lower() for name, _ in headers}
            more = (one for one in (*_USUAL_HEADERS, *trace.headers.items()) if one[0].lower() not in given)
            prepared = httpx.Request(
                request.method,
                there.url,
                headers=[(name.encode(), value.encode()) for name, value in (*more, *headers)],
                content=request.content,
                extensions={RESEND: there.options.retry_on_closed_connection and request.is_repeatable},
            )
            if there.url.userinfo:
                next(httpx.BasicAuth(there.url.username, there.url.password).auth_flow(prepared))
            response = await self._sent(transport, prepared, request)
            trace.answered(response.status_code)
            try:
                _check_coding(response)
                yield response
            finally:
                await response.aclose()

    async def _sent(
        self, transport: httpx.AsyncBaseTransport, prepared: httpx.Request, request: Request
    ) -> httpx.Response:
        """Return the answer to a request, which is sent again if the service asks for digest authentication."""
        if request.login is None:
            response = await transport.handle_async_request(prepared)
            response.request = prepared
            return response
        key = origin_of(request.url), request.login
        digest = self._digests.setdefault(key, httpx.DigestAuth(*request.login))
        flow = digest.auth_flow(prepared)
        prepared = next(flow)
        while True:
            response = await transport.handle_async_request(prepared)
            response.request = prepared
            try:
                prepared = flow.send(response)
            except StopIteration:
                return response
            except (KeyError, NotImplementedError, ValueError, httpx.ProtocolError):
                self._digests.pop(key, None)
                await response.aclose()
                challenge = ", ".join(response.headers.get_list("www-authenticate"))[:_MAX_SHOWN]
                message = f"{request}: the service asks for digest authentication of a kind that is not supported"
                raise permanent_failure("BadAuth", f"{message}: {challenge}") from None
            try:
                await _read(response, _MAX_KEPT_BYTES)  # so that the connection can be used again
            finally:
                await response.aclose()


@dataclass(frozen=True, slots=True)
class _There:
    """The destination of a request, with the operator's settings for it."""

    url: httpx.URL
    port: int
    options: HostOptions

    @property
    def host(self) -> str:
        return self.url.host


def _with_configured(request: Request, options: HostOptions) -> list[tuple[str, str]]:
    given = {name.lower() for name, _ in request.headers}
    configured = ((name, value) for name, value in options.headers.items() if name.lower() not in given)
    more = (one for one in configured if not request.is_foreign or one[0].lower() in _HARMLESS)
    return [(name, value) for name, value in (*request.headers, *more) if name.lower() not in _FRAMING]


def _check_coding(response: httpx.Response) -> None:
    """Raise DecodingError for an answer that is compressed repeatedly, so that little could expand to very much."""
    codings = [coding.strip().lower() for coding in response.headers.get("content-encoding", "").split(",")]
    if len(codings) > 1 or not {*filter(None, codings)} <= _CODINGS:
        raise httpx.DecodingError(f"it is compressed as {', '.join(codings)}; only gzip or deflate is read here, once")


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """Return at most *limit* bytes of the body, decompressed, and whether that is all of it."""
    content = bytearray()
    async for chunk in _chunks(response):
        content += chunk
        if len(content) > limit:
            return bytes(content[:limit]), False
    return bytes(content), True


def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    is_coded = "content-encoding" in response.headers
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - the transport made it
    return response.aiter_bytes() if is_coded else aiter(response.stream)


def _refused(request: Request, response: httpx.Response, content: bytes) -> HttpStatusError:
    body = read_error_answer(content, response.headers.get("content-type", ""))
    text = body if isinstance(body, str) else show_json(body)
    shown = "" if body is None else f": {text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + '…'}"
    answer = HttpResponse(response.status_code, dict(response.headers.items()), body, is_empty=not content)
    message = f"{request} answered {_status(answer.status)}{shown}"
    return HttpStatusError(message, answer, seconds_to_wait(answer.headers, datetime.now(UTC)))


def _status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def redirected(request: Request, answer: httpx.Response) -> Request | None:
    """Return the request that *answer* redirects to, without anything that could be secret to another origin.

    None if it is not a redirect. Raises RemoteProtocolError and InvalidURL if it leads to no URL.
    """
    if not answer.has_redirect_location:
        return None
    url = str(_target(httpx.URL(request.url), answer.headers["Location"]))
    if not is_same_service(request.url, url):
        headers = tuple((name, value) for name, value in request.headers if name.lower() in _HARMLESS)
        request = replace(request, headers=headers, callee=None, is_foreign=True, login=None)
    if answer.status_code in _ASKS_FOR_GET and request.method not in ("GET", "HEAD"):
        return replace(request, method="GET", url=url, content=None)
    return replace(request, url=url)


def _target(asked: httpx.URL, location: str) -> httpx.URL:
    """Return the URL at *location*, which may be relative to the URL that was *asked*."""
    try:
        found = httpx.URL(location)
    except httpx.InvalidURL as error:
        raise httpx.RemoteProtocolError(f"Invalid URL in location header: {error}.") from None
    if found.scheme and not found.host:
        found = found.copy_with(host=asked.host)
    found = asked.join(found) if found.is_relative_url else found
    return found.copy_with(fragment=asked.fragment) if asked.fragment and not found.fragment else found


def is_same_service(asked: str, found: str) -> bool:
    """Return whether *found*, the target of a redirect from *asked*, is at the same service."""
    ours = origin_of(str(httpx.URL(asked)))
    return origin_of(found) in {ours, _secured(ours)}


def _secured(origin: Origin) -> Origin:
    """Return the HTTPS origin for an HTTP one at the default port."""
    return Origin("https", origin.host, PORTS["https"]) if origin[::2] == ("http", PORTS["http"]) else origin
