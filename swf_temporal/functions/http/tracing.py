"""What a request tells a service of the trace that it belongs to: nothing, unless the process traces."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """A request that is being made."""

    headers: Mapping[str, str]
    """Those that it gets besides its own."""
    answered: Callable[[int], Any]
    """Told the status of the answer."""


Traces = Callable[[str, str, int], AbstractContextManager[TracedRequest]]
"""Given the method, the host and the port, holds the request for as long as it is made."""

_UNTRACED = nullcontext(TracedRequest({}, lambda _: None))
_traces: Traces = lambda *_: _UNTRACED  # noqa: E731 - replaced as a whole


def trace_requests(traces: Traces) -> None:
    """Have all requests of the process traced."""
    global _traces  # noqa: PLW0603 - one for the process, as its exporter is
    _traces = traces


def traced(method: str, host: str, port: int) -> AbstractContextManager[TracedRequest]:
    """Hold a request for as long as it is made, and yield what it tells of its trace."""
    return _traces(method, host, port)
