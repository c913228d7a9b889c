"""The answers of a scenario's service, and the requests that it got."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from mimetypes import MimeTypes
from urllib.parse import parse_qsl, urlsplit

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import NotJSON, read_json, write_json
from swf_temporal.simulation.model.services import Reply, Service

_FORM = "application/x-www-form-urlencoded"
_TYPES = MimeTypes()
"""By the endings of files: those that are the same on every machine."""


@dataclass(frozen=True, slots=True)
class RecordedRequests:
    """The requests that all services of one run received."""

    requests: list[dict[str, JSON]] = field(default_factory=list)
    """In their order: `service`, `request`, its `query`, `headers` with names in small letters, `body`."""
    unanswered: list[str] = field(default_factory=list)
    """What the scenario has no service or no answer for, or none that can be sent, as people read it."""


class StubService:
    """One service, and how many of its answers it has given. Its servers may ask from any thread."""

    def __init__(self, service: Service, recorded: RecordedRequests) -> None:
        self.service = service
        self._recorded = recorded
        self._given: dict[str, int] = {}
        self._lock = threading.Lock()

    def record_request(self, request: str, headers: Mapping[str, str], body: JSON) -> None:
        lower = {name.lower(): value for name, value in headers.items()}
        record: dict[str, JSON] = {
            "service": self.service.name,
            "request": request,
            "query": _fields(urlsplit(request.partition(" ")[2]).query),
            "headers": {**lower},
            "body": body,
        }
        with self._lock:
            self._recorded.requests.append(record)

    def reply_to(self, *requests: str) -> Reply | None:
        """Return the next answer to the first of *requests*, ways to write the same one, that has any.

        The last answer repeats. None, and a note of it, if the scenario has no answer.
        """
        answered = self.service.requests
        known = next((request for request in requests if request in answered), None)
        with self._lock:
            if known is None:
                self._recorded.unanswered.append(
                    f"{self.service.name} was asked {requests[0]}, for which there is no answer"
                )
                return None
            given = self._given[known] = self._given.get(known, 0) + 1
        replies = answered[known].replies
        return replies[min(given, len(replies)) - 1]

    def record_problem(self, of: str) -> None:
        """Take note of what is wrong with an answer of the scenario."""
        with self._lock:
            self._recorded.unanswered.append(f"{self.service.name}: {of}")


def no_service(where: str) -> CallFailed:
    """Return the fault of a call that leads to where the scenario has nothing."""
    return permanent_failure("NotScripted", f"the scenario has no service at {where}: describe it in `services`")


def without_query(request: str) -> str:
    """Return a request of HTTP without what stands behind the question mark."""
    method, _, target = request.partition(" ")
    return f"{method} {urlsplit(target).path}"


def body_of(content: bytes, content_type: str) -> JSON:
    """Return what a request brought as a scenario writes it: JSON as that, a form as an object, else a text."""
    if not content:
        return None
    text = content.decode(errors="replace")
    if content_type.partition(";")[0].strip().lower() == _FORM:
        return _fields(text)
    try:
        value: JSON = read_json(text)
    except NotJSON:
        return text
    return value


def content_of(reply: Reply) -> tuple[bytes, str | None]:
    """Return what a reply brings, and of which media type that is if the reply does not say."""
    if reply.file is not None:
        yaml = "application/yaml" if reply.file.suffix in {".yaml", ".yml"} else None
        return reply.file.read_bytes(), yaml or _TYPES.guess_type(reply.file.name)[0] or "application/octet-stream"
    if reply.body is None:
        return b"", None
    if isinstance(reply.body, str) and any(name.lower() == "content-type" for name in reply.headers):
        return reply.body.encode(), None
    return write_json(reply.body, ensure_ascii=False).encode(), "application/json"


def _fields(text: str) -> dict[str, JSON]:
    """Return the fields of a query or a form; one that comes several times has the list of its values."""
    values: dict[str, list[JSON]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        values.setdefault(name, []).append(value)
    return {name: several if len(several) > 1 else several[0] for name, several in values.items()}
