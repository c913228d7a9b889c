"""The spans of requests to services: none, unless the process traces."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

_HIDDEN: Final = "REDACTED"


@dataclass(frozen=True, slots=True)
class SentRequest:
    """The facts about a request that its span has."""

    method: str
    url: str
    """With everything that was sent: see `shown_url`."""
    host: str
    port: int
    resent: int
    """How often it was sent before: by earlier attempts at the call, and by redirects."""

    @property
    def shown_url(self) -> str:
        """The URL without user, password and fragment, and without what its query says."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return ""
        user, at, place = parts.netloc.rpartition("@")
        hidden = f"{_HIDDEN}:{_HIDDEN}@" if user else at
        query = _HIDDEN if parts.query else ""
        return parts._replace(netloc=f"{hidden}{place}", query=query, fragment="").geturl()


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """A request in progress."""

    headers: Mapping[str, str]
    """The additional headers with the trace context."""
    answered: Callable[[int], Any]
    """Is called with the status of the answer."""


Traces = Callable[[SentRequest], AbstractContextManager[TracedRequest]]
"""Makes a context for a request."""

_UNTRACED = nullcontext(TracedRequest({}, lambda _: None))
_traces: Traces = lambda _: _UNTRACED  # noqa: E731 - replaced as a whole


def trace_requests(traces: Traces) -> None:
    """Have all requests of the process traced."""
    global _traces  # noqa: PLW0603 - one for the process, as its exporter is
    _traces = traces


def traced(request: SentRequest) -> AbstractContextManager[TracedRequest]:
    """Return the context for a request, which yields its trace headers."""
    return _traces(request)
