"""Rejected requests, as exceptions and as the problem documents of RFC 9457 that clients get."""

import math
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from swf_temporal.base.client_errors import (
    AlreadyStartedError,
    InboxFullError,
    InstanceEndedError,
    InstanceNotFoundError,
    InstancePausedError,
    MailboxFullError,
    NeverTakenError,
    NoAnswerError,
    ReservedIdError,
    ServerUnavailableError,
    TooLargeToSendError,
)
from swf_temporal.base.errors import DefinitionsUnavailable, PayloadUnavailable, SwfError, UsageError, WorkflowFault
from swf_temporal.base.files import NO_MORE_FILES
from swf_temporal.base.strict_json import write_json
from swf_temporal.operations.rerunning import GoneOnError, NeverThereError, NotFailedError, SubWorkflowError
from swf_temporal.operations.tasks import DataRefusedError, NoSuchTaskError
from swf_temporal.sdk.http_connections import TooManyRequestsError
from swf_temporal.temporal.pausing import PauseConflictError, PausingNotAllowedError

PROBLEM: Final = "application/problem+json"

_SHOWN: Final = 2000
"""The number of characters of a detail that are sent: it may quote the request."""
RETRY_AFTER: Final = 5
"""Seconds after which a client should try again, if the gateway has no better estimate."""


class Refused(Exception):  # noqa: N818 - an adjective, as among the errors of the package
    """A rejected request: `code` is the reason for programs, `detail` and `hint` are for people."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        hint: str | None = None,
        *,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail if len(detail) <= _SHOWN else f"{detail[:_SHOWN]}…"
        self.hint = hint
        self.headers = dict(headers or {})
        self.facts = dict(facts or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(max(1, math.ceil(retry_after)))

    def response(self) -> Response:
        problem = {"type": "about:blank", "title": _TITLES[self.status], "status": self.status, "code": self.code}
        problem |= {"detail": self.detail} | ({} if self.hint is None else {"hint": self.hint}) | self.facts
        return Response(write_json(problem), self.status, self.headers, PROBLEM)


def refusal_of(error: BaseException) -> Refused:
    """Return the answer for *error*: whether to try again, and what to do otherwise."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, TimeoutError):
        return unavailable("Temporal did not answer in time")
    if isinstance(error, OSError) and error.errno in NO_MORE_FILES:
        return unavailable("the gateway cannot open more files at the moment")
    if isinstance(error, TooManyRequestsError):
        return Refused(429, "too-many-requests", str(error), retry_after=RETRY_AFTER)
    hint = _HINTS.get(type(error), getattr(error, "hint", None))
    for kind, (status, code) in _KINDS.items():
        if isinstance(error, kind):
            retry_after = RETRY_AFTER if status in _TO_BE_REPEATED else None
            return Refused(status, code, _message(error), hint, retry_after=retry_after)
    if isinstance(error, UsageError):
        return Refused(422, "not-possible", error.message, hint)
    raise error


def unavailable(detail: str) -> Refused:
    """Return the refusal of a request that can safely be repeated: nothing was done, or repeating it has no effect."""
    return Refused(503, "unavailable", detail, "send the same request again", retry_after=RETRY_AFTER)


def _message(error: BaseException) -> str:
    return error.message if isinstance(error, UsageError | PayloadUnavailable | WorkflowFault) else str(error)


_KINDS: Final[dict[type[SwfError], tuple[int, str]]] = {
    InstanceNotFoundError: (404, "unknown-instance"),
    InstanceEndedError: (409, "instance-ended"),
    InstancePausedError: (409, "instance-paused"),
    PauseConflictError: (409, "pause-conflict"),
    NotFailedError: (409, "not-failed"),
    GoneOnError: (409, "gone-on"),
    NeverThereError: (422, "never-there"),
    SubWorkflowError: (422, "sub-workflow"),
    AlreadyStartedError: (409, "already-started"),
    ReservedIdError: (400, "bad-parameter"),
    NoSuchTaskError: (404, "no-task"),
    DataRefusedError: (422, "unfit-data"),
    NeverTakenError: (422, "never-taken"),
    InboxFullError: (429, "no-room"),
    NoAnswerError: (503, "no-worker"),
    TooLargeToSendError: (413, "too-large"),
    MailboxFullError: (429, "no-room"),
    PausingNotAllowedError: (501, "not-supported"),
    ServerUnavailableError: (503, "unavailable"),
    DefinitionsUnavailable: (503, "definitions-unavailable"),
    PayloadUnavailable: (503, "payload-unavailable"),
}
"""The status and the code of an answer, by the type of the error."""

_HINTS: Final[dict[type[BaseException], str]] = {
    AlreadyStartedError: "choose another id",
    InstanceNotFoundError: "if an event is to start it, ask with ?wait=SECONDS",
    InstanceEndedError: "GET /instances/{id}/result has the outcome",
    InstancePausedError: "POST /instances/{id}/events stores an event for it",
    PauseConflictError: "GET /instances/{id} shows its status",
    NotFailedError: "a rerun continues it from a state that it has reached before",
    GoneOnError: "check the new plan with ?dryRun=true, and repeat the request",
    SubWorkflowError: "rerun the instance that began it, from the state that did",
    InboxFullError: "send it again later",
    MailboxFullError: "send it again later",
    NoAnswerError: "send the same request again: it is processed once",
    ServerUnavailableError: "send the same request again",
    DefinitionsUnavailable: "send the same request again",
}
"""The hints of errors whose own hint is about commands."""

_TO_BE_REPEATED: Final = (429, 503)

_TITLES: Final = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}
