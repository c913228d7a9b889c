"""Spans of calls: one for each attempt, and none for the moment at which a call was asked for.

The SDK's interceptor makes a span without a duration for each activity that an instance asks for, beside those of its
attempts. It costs a worker as much as these, and tells nothing that they do not: they belong to the instance then.
"""

from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, Span, Tracer, get_current_span

_ASKED_FOR: Final = "StartActivity:"
"""What the SDK's names of such spans begin with."""


class AttemptTracer(Tracer):
    def __init__(self, tracer: Tracer) -> None:
        """Make the spans of *tracer*, but none of those."""
        self._tracer = tracer

    def start_span(self, name: str, context: Context | None = None, *others: Any, **more: Any) -> Span:
        """Return a span; instead of one that is left out the one that would have been above it."""
        if name.startswith(_ASKED_FOR):
            return NonRecordingSpan(get_current_span(context).get_span_context())
        return self._tracer.start_span(name, context, *others, **more)

    def start_as_current_span(self, *which: Any, **more: Any) -> Any:
        return self._tracer.start_as_current_span(*which, **more)
