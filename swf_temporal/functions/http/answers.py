"""The answer of a service as a workflow sees it, and the delay that it asks for."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.call import FAIL_ON_STATUS_CODE, Call, switch
from swf_temporal.runtime.retrying import MAX_DELAY


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
