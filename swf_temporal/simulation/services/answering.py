"""What does a service of a scenario answer, and what was it asked?"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import refusal
from swf_temporal.simulation.description import Reply, Service

_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Heard:
    """What all the services of one run were asked."""

    requests: list[dict[str, JSON]] = field(default_factory=list)
    """In their order: `service`, `request`, its `query`, `headers` with names in small letters, `body`."""
    unanswered: list[str] = field(default_factory=list)
    """Those that the scenario has no answer for, as people read them."""


class Answering:
    """One service, and how many of its answers it has given. Its servers may ask from any thread."""

    def __init__(self, service: Service, heard: Heard) -> None:
        self.service = service
        self._heard = heard
        self._given: dict[str, int] = {}
        self._lock = threading.Lock()

    def hear(self, request: str, headers: Mapping[str, str], body: JSON) -> None:
        """Take note of a request."""
        lower = {name.lower(): value for name, value in headers.items()}
        told: dict[str, JSON] = {
            "service": self.service.name,
            "request": request,
            "query": dict(parse_qsl(urlsplit(request.partition(" ")[2]).query, keep_blank_values=True)),
            "headers": {**lower},
            "body": body,
        }
        with self._lock:
            self._heard.requests.append(told)

    def reply_to(self, *requests: str) -> Reply | None:
        """Return the next answer to the first of *requests*, ways to write the same one, that has any.

        The last answer repeats. None, and a note of it, if the scenario has no answer.
        """
        replies = self.service.replies
        known = next((request for request in requests if request in replies), None)
        with self._lock:
            if known is None:
                self._heard.unanswered.append(f"{self.service.name} was asked {requests[0]}")
                return None
            given = self._given[known] = self._given.get(known, 0) + 1
        return replies[known][min(given, len(replies[known])) - 1]


def no_service(where: str) -> CallFailed:
    """Return the fault of a call that leads to where the scenario has nothing."""
    return refusal("NotScripted", f"the scenario has no service at {where}: describe it in `services`")


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
        return dict(parse_qsl(text, keep_blank_values=True))
    try:
        value: JSON = json.loads(text)
    except ValueError:
        return text
    return value


def content_of(reply: Reply) -> tuple[bytes, str | None]:
    """Return what a reply brings, and of which media type that is if the reply does not say."""
    if reply.file is not None:
        return reply.file.read_bytes(), "application/json" if reply.file.suffix == ".json" else "application/yaml"
    if reply.body is None:
        return b"", None
    if isinstance(reply.body, str) and any(name.lower() == "content-type" for name in reply.headers):
        return reply.body.encode(), None
    return json.dumps(reply.body, ensure_ascii=False).encode(), "application/json"
