"""HTTP requests and answers, as functions make and read them."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.base.headers import may_be_passed_on
from swf_temporal.functions.call import FAIL_ON_STATUS_CODE, Call, switch
from swf_temporal.runtime.retrying import MAX_DELAY
from swf_temporal.runtime.variables import SAFE_METHODS

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

    @property
    def content_type(self) -> str:
        """The Content-Type; empty if there is none."""
        return self.headers.get("content-type", "")

    def to_json(self) -> JSON:
        """Return the whole answer as a workflow sees it."""
        return {"status": self.status, "headers": dict(self.headers), "body": self.body}


class HttpStatusError(CallFailed):
    """A service answered with a status other than 2xx."""

    def __init__(self, message: str, answer: HttpResponse, retry_after: float | None = None) -> None:
        super().__init__(message, code=answer.status, status=answer.status, body=answer.body, retry_after=retry_after)
        self.answer = answer


async def result_of(call: Call, ask: Callable[[Call], Awaitable[HttpResponse]]) -> JSON:
    """Return the body of the answer to *call* that *ask* gets, or the whole answer with `failOnStatusCode: false`.

    In that case the function accepts errors, and its result is `{status, headers, body}`, whatever the status.
    Raises CallFailed.
    """
    if switch(call, FAIL_ON_STATUS_CODE) is not False:
        return (await ask(call)).body
    try:
        answer = await ask(call)
    except HttpStatusError as refused:
        answer = refused.answer
    return answer.to_json()


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
