"""Fetches documents from web servers that definitions may call."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

import httpx

from swf_temporal.base.importing import PORTS, Origin
from swf_temporal.text.fetching.resources import LIMIT, TOO_LARGE, is_allowed, variable_name
from swf_temporal.text.origin import FROM_HOSTS, ForbiddenResourceError, Resource, UnreadableResourceError

_REDIRECTS = 5
_FRESH = 60.0
_MAX_CACHED = 64


@dataclass(frozen=True, slots=True)
class CacheEntry:
    until: float
    """The time, on the clock of `Web`, from which the entry is validated again."""
    etag: str | None
    content: bytes = field(repr=False)


Cache = OrderedDict[tuple[str, str | None], CacheEntry]
"""Cached documents by URL and credentials: a client must not get what another got with its credentials."""

_OF_THIS_PROCESS: Cache = OrderedDict()


class Web:
    """Fetches documents from the hosts that may be called."""

    def __init__(
        self,
        hosts: Sequence[str],
        credentials: Mapping[str, str],
        timeout: timedelta,
        *,
        cache: Cache = _OF_THIS_PROCESS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hosts = hosts
        self._credentials = credentials
        self._timeout = timeout.total_seconds()
        self._cache = cache
        self._clock = clock

    def get(self, text: str) -> Resource:
        """Return the document at the URL *text*. It is cached for a minute, and then validated by its ETag.

        Credentials are sent to the host that the URL names, and not to others that it redirects to.
        """
        first = url = _url(text)
        for _ in range(_REDIRECTS + 1):
            self._check(url)
            header = self._credentials.get(_name(url)) if _origin(url) == _origin(first) else None
            answer = self._document(url, header)
            if isinstance(answer, bytes):
                return Resource(text, answer)
            url = answer
        raise UnreadableResourceError(f"it redirects more than {_REDIRECTS} times")

    def _check(self, url: httpx.URL) -> None:
        if url.userinfo:
            hint = f"the setting SWF_RESOURCE_AUTH_{_name(url)} gives them"
            raise ForbiddenResourceError("and a URI may not hold credentials", hint)
        if not is_allowed(url.host, _port(url), self._hosts):
            host = url.netloc.decode("ascii")
            raise ForbiddenResourceError(f"and from the host {host!r} nothing may be fetched", FROM_HOSTS)

    def _document(self, url: httpx.URL, header: str | None) -> bytes | httpx.URL:
        """Return the content at *url*, or the URL that it redirects to."""
        key = (str(url), header)
        kept = self._cache.get(key)
        if kept and self._clock() < kept.until:
            return kept.content
        response, content = self._ask(url, header, kept.etag if kept else None)
        if response.has_redirect_location:
            return _target(url, response.headers["location"])
        if response.status_code == HTTPStatus.NOT_MODIFIED and kept:
            content = kept.content
        elif response.status_code != HTTPStatus.OK:
            raise UnreadableResourceError(f"the answer was {response.status_code} {response.reason_phrase}".rstrip())
        elif "html" in response.headers.get("content-type", ""):
            raise UnreadableResourceError("it is HTML, not JSON or YAML")
        self._keep(key, CacheEntry(self._clock() + _FRESH, response.headers.get("etag"), content))
        return content

    def _ask(self, url: httpx.URL, header: str | None, etag: str | None) -> tuple[httpx.Response, bytes]:
        headers = {"Accept": "application/json, application/yaml, */*;q=0.5"}
        if header:
            headers["Authorization"] = header
        if etag:
            headers["If-None-Match"] = etag
        try:
            with (
                httpx.Client(timeout=self._timeout) as client,
                client.stream("GET", url, headers=headers, follow_redirects=False) as response,
            ):
                return response, self._content(response)
        except httpx.TimeoutException:
            raise self._late() from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreadableResourceError(f"no response from {url.netloc.decode('ascii')} ({error})") from None

    def _content(self, response: httpx.Response) -> bytes:
        # The client's own timeout applies to each part of the response, not to all of it.
        deadline = self._clock() + self._timeout
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if len(content) > LIMIT:
                raise UnreadableResourceError(TOO_LARGE)
            if self._clock() > deadline:
                raise self._late()
        return bytes(content)

    def _late(self) -> UnreadableResourceError:
        return UnreadableResourceError(f"there was no complete response within {self._timeout:g} seconds")

    def _keep(self, key: tuple[str, str | None], kept: CacheEntry) -> None:
        self._cache[key] = kept
        self._cache.move_to_end(key)
        if len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)


def _url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text).copy_with(fragment=None)
    except httpx.InvalidURL as error:
        raise UnreadableResourceError(f"it is not a URL ({error})") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise UnreadableResourceError("it is not a URL with a host")
    return url


def _target(url: httpx.URL, location: str) -> httpx.URL:
    try:
        return _url(str(url.join(location)))
    except (httpx.InvalidURL, UnreadableResourceError):
        raise UnreadableResourceError(f"it redirects to {location!r}, which is not a URL") from None


def _port(url: httpx.URL) -> int:
    return url.port or PORTS[url.scheme]


def _origin(url: httpx.URL) -> Origin:
    return Origin(url.scheme, url.host, _port(url))


def _name(url: httpx.URL) -> str:
    return variable_name(url.host, _port(url))
