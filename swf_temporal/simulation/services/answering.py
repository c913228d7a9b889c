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
"""The media types of file suffixes that are the same on every machine."""


@dataclass(frozen=True, slots=True)
class RecordedRequests:
    """The requests that all services of one run received."""

    requests: list[dict[str, JSON]] = field(default_factory=list)
    """In their order: `service`, `request`, its `query`, `headers` with lower-case names, `body`."""
    unanswered: list[str] = field(default_factory=list)
    """Messages about requests without a service or an answer in the scenario, or with one that cannot be sent."""


class StubService:
    """One service, and the number of answers that it has given. Its servers may use it from any thread."""

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
        """Return the next answer to the first of *requests*, notations of the same request, that has any.

        The last answer repeats. If the scenario has none, records that and returns None.
        """
        answered = self.service.requests
        known = next((request for request in requests if request in answered), None)
        with self._lock:
            if known is None:
                self._recorded.unanswered.append(
                    f"{self.service.name} received {requests[0]}, for which there is no answer"
                )
                return None
            given = self._given[known] = self._given.get(known, 0) + 1
        replies = answered[known].replies
        return replies[min(given, len(replies)) - 1]

    def record_problem(self, of: str) -> None:
        """Record a problem of an answer of the scenario."""
        with self._lock:
            self._recorded.unanswered.append(f"{self.service.name}: {of}")


def no_service(where: str) -> CallFailed:
    """Return the fault of a call to a place where the scenario has no service."""
    return permanent_failure("NotScripted", f"the scenario has no service at {where}: describe it in `services`")


def without_query(request: str) -> str:
    """Return a request of HTTP without its query."""
    method, _, target = request.partition(" ")
    return f"{method} {urlsplit(target).path}"


def body_of(content: bytes, content_type: str) -> JSON:
    """Return the body of a request in the form of scenarios: JSON as it is, a form as an object, else a text."""
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
    """Return the content of a reply, and its default media type."""
    if reply.file is not None:
        yaml = "application/yaml" if reply.file.suffix in {".yaml", ".yml"} else None
        return reply.file.read_bytes(), yaml or _TYPES.guess_type(reply.file.name)[0] or "application/octet-stream"
    if reply.body is None:
        return b"", None
    if isinstance(reply.body, str) and any(name.lower() == "content-type" for name in reply.headers):
        return reply.body.encode(), None
    return write_json(reply.body, ensure_ascii=False).encode(), "application/json"


def _fields(text: str) -> dict[str, JSON]:
    """Return the fields of a query or a form; one that is repeated has the list of its values."""
    values: dict[str, list[JSON]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        values.setdefault(name, []).append(value)
    return {name: several if len(several) > 1 else several[0] for name, several in values.items()}
