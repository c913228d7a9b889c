"""Trace context of requests to services: empty, unless the process traces."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """A request in progress."""

    headers: Mapping[str, str]
    """The additional headers with the trace context."""
    answered: Callable[[int], Any]
    """Is called with the status of the answer."""


Traces = Callable[[str, str, int], AbstractContextManager[TracedRequest]]
"""Makes a context for a request, from the method, the host and the port."""

_UNTRACED = nullcontext(TracedRequest({}, lambda _: None))
_traces: Traces = lambda *_: _UNTRACED  # noqa: E731 - replaced as a whole


def trace_requests(traces: Traces) -> None:
    """Have all requests of the process traced."""
    global _traces  # noqa: PLW0603 - one for the process, as its exporter is
    _traces = traces


def traced(method: str, host: str, port: int) -> AbstractContextManager[TracedRequest]:
    """Return the context for a request, which yields its trace headers."""
    return _traces(method, host, port)
