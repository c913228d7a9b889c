"""An HTTP request, and what becomes of it where a service redirects."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx

from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.base.importing import PORTS, Origin, origin_of
from swf_temporal.runtime.variables import SAFE_METHODS

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_USER = re.compile(r"//[^/]*@")
_IDEMPOTENT = SAFE_METHODS | {"TRACE", "PUT", "DELETE"}
HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""The headers that may go where a service redirects to. Any other might be a credential."""

_OF_ONE_HOP = frozenset({"host", "content-length", "transfer-encoding", "connection", "user-agent", "te", "upgrade"})
"""The headers that are about the request that had them, and not about what it asked for."""


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request, ready to be sent."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    callee: Callee | None = None
    """The target of the call, whose settings hold."""
    timeout: timedelta | None = None
    """How long it may take, in place of what the operator says of the host."""
    is_foreign: bool = False
    """Whether a service of another origin redirected to it: then the operator's headers are not sent, either."""

    def __str__(self) -> str:
        """Return `GET http://…` without what must not stand in a log: the query, and a password."""
        return f"{self.method} {_USER.sub('//', self.url.partition('?')[0], count=1)}"

    @property
    def is_safe(self) -> bool:
        """Whether the request only asks, and changes nothing."""
        return self.method in SAFE_METHODS

    @property
    def is_repeatable(self) -> bool:
        """Whether to send it twice is the same as to send it once: by its method, or by an idempotency key."""
        return self.method in _IDEMPOTENT or any(name.lower() == "idempotency-key" for name, _ in self.headers)


def check_headers(request: Request) -> None:
    """Raise CallFailed for headers that HTTP cannot have."""
    for name, value in request.headers:
        if not name.isascii():
            raise permanent_failure(
                "BadRequestHead", f"{request}: the header {name!r} has letters that HTTP does not know"
            )
        if _CONTROL.search(name) or _CONTROL.search(value):
            raise permanent_failure(
                "BadArguments",
                f"{request}: the header '{name}' would hold a line break or another control character",
            )


def redirected(request: Request, target: httpx.Request) -> Request:
    """Return what is sent where a service redirects to: to another origin without anything that could be secret."""
    if not is_same_service(request.url, str(target.url)):
        headers = tuple((name, value) for name, value in request.headers if name.lower() in HARMLESS)
        request = replace(request, headers=headers, callee=None, is_foreign=True)
    content = request.content if target.method == request.method else None
    return replace(request, method=target.method, url=str(target.url), content=content)


def is_same_service(asked: str, found: str) -> bool:
    """Tell whether *found*, to which a service redirects that was *asked*, is at the same one."""
    ours = origin_of(str(httpx.URL(asked)))
    return origin_of(found) in {ours, _secured(ours)}


def _secured(origin: Origin) -> Origin:
    """Return where a server is that was asked in the clear, at the usual port, and wants to be asked securely."""
    return Origin("https", origin.host, PORTS["https"]) if origin[::2] == ("http", PORTS["http"]) else origin


def with_inherited(request: Request, inherited: Mapping[str, str]) -> Request:
    """Return *request* with those of the *inherited* headers that it has not itself and that are about no other."""
    given = {name.lower() for name, _ in request.headers}
    more = [
        (name, value)
        for name, value in inherited.items()
        if (key := name.lower()) not in given | _OF_ONE_HOP and not key.startswith(("accept", "content-"))
    ]
    return replace(request, headers=(*request.headers, *more)) if more else request
