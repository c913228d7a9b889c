"""An HTTP request, and how it changes with a redirect."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx

from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.base.headers import may_be_passed_on
from swf_temporal.base.importing import PORTS, Origin, origin_of
from swf_temporal.runtime.variables import SAFE_METHODS

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_USER = re.compile(r"//[^/]*@")
_IDEMPOTENT = SAFE_METHODS | {"TRACE", "PUT", "DELETE"}
HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""The headers that are kept on a redirect to another origin. Any other might be a credential."""


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

    def __str__(self) -> str:
        """Return `GET http://…` without what must not be logged: the query, and a password."""
        return f"{self.method} {_USER.sub('//', self.url.partition('?')[0], count=1)}"

    @property
    def is_safe(self) -> bool:
        """Whether the request only reads, and changes nothing."""
        return self.method in SAFE_METHODS

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice has the same effect as once: by its method, or by an idempotency key."""
        return self.method in _IDEMPOTENT or any(name.lower() == "idempotency-key" for name, _ in self.headers)


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


def redirected(request: Request, target: httpx.Request) -> Request:
    """Return the request for a redirect: to another origin without anything that could be secret."""
    if not is_same_service(request.url, str(target.url)):
        headers = tuple((name, value) for name, value in request.headers if name.lower() in HARMLESS)
        request = replace(request, headers=headers, callee=None, is_foreign=True)
    content = request.content if target.method == request.method else None
    return replace(request, method=target.method, url=str(target.url), content=content)


def is_same_service(asked: str, found: str) -> bool:
    """Return whether *found*, the target of a redirect from *asked*, is at the same service."""
    ours = origin_of(str(httpx.URL(asked)))
    return origin_of(found) in {ours, _secured(ours)}


def _secured(origin: Origin) -> Origin:
    """Return the HTTPS origin for an HTTP one at the default port."""
    return Origin("https", origin.host, PORTS["https"]) if origin[::2] == ("http", PORTS["http"]) else origin


def with_inherited(request: Request, inherited: Mapping[str, str]) -> Request:
    """Return *request* with those *inherited* headers that it does not set itself and that may be forwarded."""
    given = {name.lower() for name, _ in request.headers}
    more = [(name, value) for name, value in inherited.items() if name.lower() not in given and may_be_passed_on(name)]
    return replace(request, headers=(*request.headers, *more)) if more else request
