"""The traces of instances: one tree for each, of its states, their calls and sub-workflows.

The SDK's interceptor makes two zero-duration spans for each instance, at its begin and end, and one for the scheduling
of an activity, beside those of its attempts. Each costs a worker as much as a span with a duration. Here an instance
has one span, which is recorded when it ends (`temporal/spans.py`), and activities are scheduled past the SDK's
interceptor, with a header that names the state that makes the call. Signals, updates, queries and sub-workflows are
left to the SDK, within the spans of states.

An instance that no client traces begins a trace of its own, whose id follows from its first execution; later ones
belong to it.

OpenTelemetry's SDK makes a span in three steps, so that it can be changed during its work: it starts, it ends, and a
copy goes to the exporter. If both ends are known at once, that costs a worker several times as much as the copy alone,
and often more than the state that the span describes.

The tracer's sampler decides as always. Its span processors get such a span when it ends (`on_end`), not when it starts,
and the attribute limits (`OTEL_SPAN_ATTRIBUTE_…`) do not apply to it: the attributes here are few and short.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, TypeVar

from opentelemetry import context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace import Tracer as SdkTracer
from opentelemetry.sdk.trace.sampling import Decision, SamplingResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    get_current_span,
    set_span_in_context,
)
from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload
from temporalio.contrib.opentelemetry import TracingInterceptor, TracingWorkflowInboundInterceptor
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, FailureError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ContinueAsNewInput,
    ExecuteActivityInput,
    ExecuteWorkflowInput,
    StartActivityInput,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from swf_temporal.temporal.constants import GIVE_WAY
from swf_temporal.temporal.instance_log import fault_in, in_a_line
from swf_temporal.temporal.records import LIMITS, LOOK_UP, RESOLVE
from swf_temporal.temporal.spans import InstanceTrace, Span, span_id

_Input = TypeVar("_Input", StartActivityInput, StartLocalActivityInput)

HEADER: Final = TracingInterceptor().header_key
_UNTRACED: Final = frozenset({GIVE_WAY, LIMITS, LOOK_UP, RESOLVE})
"""Activities of ours that say nothing about an instance."""
_INBOUND: Final = "swf-inbound"
"""The key of a workflow's inbound interceptor in its context."""
_TRACE_BYTES: Final = 16


class InstanceTracing(TracingInterceptor):
    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - its name there
    ) -> type[TracingWorkflowInboundInterceptor]:
        super().workflow_interceptor_class(input)  # it lets workflow code make the SDK's spans
        return _Inbound

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - as above
        return _Attempt(next, self)


class _Attempt(ActivityInboundInterceptor):
    """Makes the span of an attempt at a call: without the message of an exception, which may have data."""

    def __init__(self, next: ActivityInboundInterceptor, root: TracingInterceptor) -> None:  # noqa: A002 - as above
        super().__init__(next)
        self._root = root

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - as above
        info = activity.info()
        if info.activity_type in _UNTRACED:
            return await self.next.execute_activity(input)
        attributes: dict[str, str | int] = {"temporalActivityID": info.activity_id, ATTEMPT: info.attempt}
        more = {
            "temporalWorkflowID": info.workflow_id,
            "temporalRunID": info.workflow_run_id,
            "swf.definition.id": info.workflow_type,
        }
        attributes.update({name: value for name, value in more.items() if value})
        around = self._root._context_from_headers(input.headers)  # noqa: SLF001 - as the SDK's own interceptor does
        token = None if around is None else context.attach(around)
        try:
            return await self._traced(input, info.activity_type, attributes)
        finally:
            if token is not None:
                context.detach(token)

    async def _traced(self, asked: ExecuteActivityInput, name: str, attributes: Mapping[str, str | int]) -> Any:
        with self._root.tracer.start_as_current_span(
            f"RunActivity:{name}",
            kind=SpanKind.SERVER,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                return await self.next.execute_activity(asked)
            except Exception as error:
                if not (isinstance(error, ApplicationError) and error.category is ApplicationErrorCategory.BENIGN):
                    name, text = _error_of(error)
                    span.set_attribute(ERROR_TYPE, name)
                    span.set_status(Status(StatusCode.ERROR, text))
                raise


def _error_of(error: Exception) -> tuple[str, str]:
    if not isinstance(error, FailureError):
        return type(error).__name__, type(error).__name__
    fault = fault_in(error)
    return fault.name, in_a_line(fault)


def number_attempt(number: int) -> None:
    """Note the number of the attempt that the current activity makes, which may be another than the server counts."""
    get_current_span().set_attribute(ATTEMPT, number)


class _Inbound(TracingWorkflowInboundInterceptor):
    def __init__(self, next: WorkflowInboundInterceptor) -> None:  # noqa: A002 - its name there
        super().__init__(_Inner(next))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002 - its name there
        """Run the workflow in the trace that it was started in, which its task and their subtasks inherit."""
        trace, found = workflow.info().headers.get(HEADER), Context()
        if trace is not None:  # else no client has traced the start
            [carrier] = self.payload_converter.from_payloads([trace])
            found = self.text_map_propagator.extract(carrier)
        context.attach(context.set_value(_INBOUND, self, found))
        return await self.next.execute_workflow(input)

    def belong_to(self, carrier: dict[str, Any]) -> None:
        """Let signals, updates and queries belong to the span that *carrier* has."""
        self._workflow_context_carrier = carrier


class _Inner(WorkflowInboundInterceptor):
    """Inserts `_Outbound` before the SDK's outbound interceptor."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
    """The first outbound interceptor of a workflow: `next` is the SDK's, followed by any others."""

    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002 - its name there
        return self.next.next.start_activity(_with_trace(input, input.activity))

    def start_local_activity(
        self,
        input: StartLocalActivityInput,  # noqa: A002 - its name there
    ) -> workflow.ActivityHandle[Any]:
        return self.next.next.start_local_activity(_with_trace(input, input.activity))

    def continue_as_new(self, input: ContinueAsNewInput) -> Any:  # noqa: A002 - its name there
        """Continue in the trace, and within the span, that this execution was started in."""
        trace = workflow.info().headers.get(HEADER)
        if trace is not None:
            input.headers = {**input.headers, HEADER: trace}
        self.next.next.continue_as_new(input)


def _with_trace(asked: _Input, name: str) -> _Input:
    if name not in _UNTRACED:
        current = get_current_span()
        trace = current.header if isinstance(current, _Current) else workflow.info().headers.get(HEADER)
        if trace is not None:  # else no client has traced the start
            asked.headers = {**asked.headers, HEADER: trace}
    return asked


class _Current(NonRecordingSpan):
    """A span in progress, which is recorded when it ends."""

    _header: Payload | None = None

    @property
    def header(self) -> Payload:
        """The header with it, made once for all calls of a state."""
        if self._header is None:
            inbound = _inbound()
            [self._header] = inbound.payload_converter.to_payloads([_carrier(inbound)])
        return self._header


def _inbound() -> _Inbound:
    found = context.get_value(_INBOUND)
    assert isinstance(found, _Inbound)  # noqa: S101 - it has run the workflow
    return found


def _carrier(inbound: _Inbound) -> dict[str, Any]:
    """Return the current context as a header."""
    carrier: dict[str, Any] = {}
    inbound.text_map_propagator.inject(carrier)
    return carrier


_NO_ERROR: Final = Status()
ATTEMPT: Final = "swf.attempt"
ERROR_TYPE: Final = "error.type"


def tracing_with(tracer: Tracer, name: str) -> Callable[[Span], InstanceTrace]:
    """Return a function that begins the trace of an instance, whose spans *tracer*, named *name*, records.

    A tracer that is not OpenTelemetry's SDK's makes its spans itself, with ids of its own: they are no tree.
    """
    scope = InstrumentationScope(name)

    def begin(root: Span) -> InstanceTrace:
        if isinstance(tracer, SdkTracer):
            return _Trace(tracer, scope, root)
        return _ForeignTrace(tracer)

    return begin


class _Trace:
    """The trace of an execution of an instance."""

    def __init__(self, tracer: SdkTracer, scope: InstrumentationScope, root: Span) -> None:
        self._tracer = tracer
        self._scope = scope
        self._around = context.get_current()
        self._parent = get_current_span(self._around).get_span_context()
        if self._parent.is_valid:
            self._trace = self._parent.trace_id
        else:
            self._trace = self._begun_here(root)
        self._decision = self._decided(self._around, root)
        """Whether the instance is sampled, and so, as far as its sampler goes by that, what is in it."""
        self._with_root: dict[str, Any] | None = None

    def _begun_here(self, root: Span) -> int:
        """Return the id of the trace that the first execution begins; let later ones belong to that execution."""
        first = workflow.info().first_execution_run_id
        trace = int.from_bytes(blake2b(first.encode(), digest_size=_TRACE_BYTES).digest())
        if root.id != span_id(first):
            sampled = self._tracer.sampler.should_sample(self._around, trace, root.name, _kind(root), root.attributes)
            flags = TraceFlags(TraceFlags.SAMPLED if sampled.decision is Decision.RECORD_AND_SAMPLE else 0)
            self._parent = SpanContext(trace, span_id(first), is_remote=True, trace_flags=flags)
            self._around = set_span_in_context(NonRecordingSpan(self._parent), self._around)
        return trace

    def enter(self, span: Span) -> None:
        within = self._within(span)
        if get_current_span() is get_current_span(within):
            return
        context.attach(within)
        if span.parent is None and self._with_root is None:
            inbound = _inbound()
            self._with_root = _carrier(inbound)
            inbound.belong_to(self._with_root)

    def record(self, span: Span, ended: datetime) -> None:
        if span.parent is None:
            sampled, parent = self._decision, self._parent if self._parent.is_valid else None
        else:
            around = self._within(span.parent)
            sampled = self._decided(around, span)
            parent = get_current_span(around).get_span_context()
        if sampled.decision is Decision.DROP:
            return
        attributes = {**span.attributes, **sampled.attributes}
        if span.error is not None:
            attributes[ERROR_TYPE] = span.error.type
        made = ReadableSpan(
            span.name,
            self._context_of(span, sampled.decision),
            parent,
            self._tracer.resource,
            attributes,
            kind=_kind(span),
            status=_status(span),
            # What shows traces sorts by time: states of one workflow task follow each other.
            start_time=_nanoseconds(span.begun) + span.order,
            end_time=_nanoseconds(ended) + span.last,
            instrumentation_scope=self._scope,
        )
        self._tracer.span_processor.on_end(made)

    def _within(self, span: Span) -> Context:
        """Return the context of what belongs to *span*."""
        if span.context is None:
            current = _Current(self._context_of(span, self._decision.decision))
            span.context = set_span_in_context(current, self._around)
        within: Context = span.context
        return within

    def _decided(self, around: Context, span: Span) -> SamplingResult:
        return self._tracer.sampler.should_sample(around, self._trace, span.name, _kind(span), span.attributes)

    def _context_of(self, span: Span, decision: Decision) -> SpanContext:
        flags = self._parent.trace_flags & ~TraceFlags.SAMPLED
        if decision is Decision.RECORD_AND_SAMPLE:
            flags |= TraceFlags.SAMPLED
        state = self._decision.trace_state
        return SpanContext(self._trace, span.id, is_remote=False, trace_flags=TraceFlags(flags), trace_state=state)


class _ForeignTrace:
    """The trace of an instance in another implementation of OpenTelemetry's interface."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def enter(self, span: Span) -> None:
        """Do nothing: no span has an id before it begins."""

    def record(self, span: Span, ended: datetime) -> None:
        if not get_current_span().get_span_context().is_valid:
            return  # no client traces the instance
        attributes = dict(span.attributes)
        if span.error is not None:
            attributes[ERROR_TYPE] = span.error.type
        made = self._tracer.start_span(
            span.name, kind=_kind(span), start_time=_nanoseconds(span.begun) + span.order, attributes=attributes
        )
        made.set_status(_status(span))
        made.end(end_time=_nanoseconds(ended) + span.last)


def _kind(span: Span) -> SpanKind:
    return SpanKind.SERVER if span.parent is None else SpanKind.INTERNAL


def _status(span: Span) -> Status:
    return _NO_ERROR if span.error is None else Status(StatusCode.ERROR, span.error.text)


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1000
