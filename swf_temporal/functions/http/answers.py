"""The answer of a service: its body as JSON, what a workflow sees of it, and when it wants to be asked again."""

import base64
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import FAIL_ON_STATUS_CODE, Call, switch
from swf_temporal.functions.http.charsets import UTF_8, content_type_of, decoded, decoded_json, is_charset
from swf_temporal.runtime.retrying import MAX_DELAY
from swf_temporal.strict_json import NotJSON, read_json

_TEXTS = frozenset({"application/xml", "application/yaml", "application/javascript", "application/x-yaml"})


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    headers: Mapping[str, str]
    """With names in small letters."""
    body: JSON
    is_empty: bool = False

    @property
    def content_type(self) -> str:
        """What the service says that the body is; an empty text if it does not say."""
        return self.headers.get("content-type", "")

    def to_json(self) -> JSON:
        """Return the whole answer as a workflow may see it."""
        return {"status": self.status, "headers": dict(self.headers), "body": self.body}


class HttpStatusError(CallFailed):
    """A service answered with another status than 2xx."""

    def __init__(self, message: str, answer: HttpResponse, retry_after: float | None = None) -> None:
        super().__init__(message, code=answer.status, status=answer.status, body=answer.body, retry_after=retry_after)
        self.answer = answer


def read_answer(content: bytes, content_type: str) -> JSON:
    """Return an answer as JSON.

    JSON is read, text is a string, nothing is null, anything else is `{"mediaType": …, "base64": …}`, as is what is
    no text in its charset. An answer that does not say what it is counts as JSON if it reads as such, else as text.
    Raises ValueError for broken JSON.
    """
    media_type, charset = split_content_type(content_type)
    if not content:
        return None
    if is_json(media_type):
        value: JSON = read_json(decoded_json(content, charset))
        return value
    if not media_type:
        return _untyped(content)
    if media_type.startswith("text/") or media_type in _TEXTS or media_type.endswith("+xml"):
        return _text_or_bytes(content, media_type, charset)
    return _binary(content, media_type)


def read_error_answer(content: bytes, content_type: str) -> JSON:
    """Return the answer that came with an error; one that breaks its own rules is still shown, as text."""
    try:
        return read_answer(content, content_type)
    except ValueError:
        return _text_or_bytes(content, *split_content_type(content_type))


def split_content_type(content_type: str) -> tuple[str, str]:
    """Return the media type in small letters, and the charset: `utf-8` if none is given, or one that is not known."""
    media_type, charset = content_type_of(content_type)
    return media_type, charset if is_charset(charset) else UTF_8


def is_json(media_type: str) -> bool:
    """Tell whether a media type is JSON, or a format written in JSON."""
    return media_type in {"application/json", "text/json"} or media_type.endswith("+json")


def _untyped(content: bytes) -> JSON:
    with suppress(NotJSON):
        value: JSON = read_json(content)
        return value
    return _text_or_bytes(content, "application/octet-stream", UTF_8)


def _text_or_bytes(content: bytes, media_type: str, charset: str) -> JSON:
    try:
        return decoded(content, charset)
    except UnicodeError:
        return _binary(content, media_type)


def _binary(content: bytes, media_type: str) -> JSON:
    return {"mediaType": media_type, "base64": base64.b64encode(content).decode("ascii")}


async def result_of(call: Call, ask: Callable[[Call], Awaitable[HttpResponse]]) -> JSON:
    """Return the body of what *ask* gets for *call*, or all of the answer if the function takes errors for answers.

    It does so by `failOnStatusCode: false`: then its result is `{status, headers, body}`, whatever the status.
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
    """Return the seconds that *headers* ask for, or None if they do not, or not in a way that can be read.

    A date is compared with the service's own clock, where that is told, and else with *now*.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return min(float(text), MAX_DELAY)  # which so many digits that it is infinite are no more than
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
