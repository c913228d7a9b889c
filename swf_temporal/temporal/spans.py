"""Spans of instances and of their states, if the process traces: each is recorded once, when it ends.

The id of a span follows from its run, and from the number of states that this had entered before. So calls name the
state that makes them as their parent before it has ended; and a worker that takes an instance over, or repeats a
workflow task, means the same spans as the one before.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, Protocol

from temporalio import workflow

from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.temporal.instance_log import fault_in, in_a_line
from swf_temporal.temporal.instance_part import Ending, Instance, Part

_MAX_OPEN: Final = 10_000
"""The maximum number of states in progress that have spans: what is in others belongs to the state around them."""
_SPAN_BYTES: Final = 8
_ITERATION: Final = re.compile(r"\[\d+\]")


@dataclass(slots=True)
class SpanError:
    """The error with which a span ended."""

    type: str
    text: str
    """Names and places, without any data."""


@dataclass(slots=True)
class Span:
    """An instance or a state in progress."""

    name: str
    id: int
    parent: "Span | None"
    """None for an instance, which belongs to what has started it."""
    begun: datetime
    attributes: dict[str, str]
    lane: str = ""
    state: str = ""
    order: int = 0
    """Its number among the states of the execution: those of one workflow task begin at the same time."""
    last: int = 0
    """The number of the last state that had been entered when it ended."""
    error: SpanError | None = None
    failed_action: SpanError | None = None
    """The last error of an action in it."""
    number_within: int = 0
    """The number of spans in progress directly within this one."""
    context: Any = field(default=None, repr=False)
    """Its context, of OpenTelemetry."""


class InstanceTrace(Protocol):
    """The trace that an instance belongs to."""

    def enter(self, span: Span) -> None:
        """From now on, let what the current task begins belong to *span*."""

    def record(self, span: Span, ended: datetime) -> None:
        """Record *span*."""


_begin: Callable[[Span], InstanceTrace] | None = None
_number: Callable[[int], None] = lambda _: None  # noqa: E731 - replaced as a whole


def record_spans(begin: Callable[[Span], InstanceTrace]) -> None:
    """Record the instances in the process, and their states, in the traces that *begin* returns for instances."""
    global _begin  # noqa: PLW0603 - one for the process, as its exporter is
    _begin = begin


def number_attempts(number: Callable[[int], None]) -> None:
    """Have *number* note the number of each attempt at a call in its span."""
    global _number  # noqa: PLW0603 - as above
    _number = number


def number_attempt(number: int) -> None:
    """Note the number of the attempt that the current activity makes."""
    _number(number)


def span_id(run: str, number: int = 0) -> int:
    """Return the id of the span of a run, or of the state that it enters with that number, from 1."""
    return int.from_bytes(blake2b(f"{run}/{number}".encode(), digest_size=_SPAN_BYTES).digest()) or 1


class InstanceSpans(Part):
    """The spans of an execution of an instance."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._trace: InstanceTrace | None = None
        self._root: Span | None = None
        self._open: dict[str, Span] = {}
        """The states in progress, by their lanes."""
        self._entered = 0

    @property
    def notes(self) -> bool:
        """Whether spans are recorded."""
        return self._trace is not None

    async def admit(self) -> None:
        """Begin the span of the execution."""
        if _begin is None:
            return
        info = self.instance.info
        about = {
            "temporalWorkflowID": info.workflow_id,
            "temporalRunID": info.run_id,
            "swf.definition.id": info.workflow_type,
        }
        name = f"RunWorkflow:{info.workflow_type}"
        self._root = Span(name, span_id(info.run_id), None, info.workflow_start_time, about)
        self._trace = _begin(self._root)
        self._trace.enter(self._root)

    def begin(self, definition: Definition, host: object) -> None:  # noqa: ARG002 - as the others
        """Add the version of the definition."""
        if self._root is not None and definition.version:
            self._root.attributes["swf.definition.version"] = definition.version

    def note(self, entry: TraceEntry) -> None:
        """Begin or end the span of a state, and let what the task does next belong to the innermost one."""
        trace, kind = self._trace, entry.kind
        if trace is None:
            return
        if kind is TraceKind.STATE_ENTERED:
            trace.enter(self._enter(entry.lane, entry.state, entry.name, entry.at))
        elif kind is TraceKind.STATE_LEFT:
            left = self._open.get(entry.lane)
            if left is not None and left.parent is not None:
                self._close(left, entry.at, "completed" if left.error is None else "failed")
                trace.enter(left.parent)
        else:
            span = self._innermost(entry)
            if kind is TraceKind.ERROR_CAUGHT:
                self._caught(span, entry)
            elif kind is TraceKind.ACTION_FAILED:
                span.failed_action = SpanError(str(entry.detail["error"]), str(entry.detail["code"]))
            trace.enter(span)

    async def end(self, ending: Ending) -> None:
        """Record the execution, and what is in progress within it."""
        root = self._root
        if root is None:
            return
        now, place, error = workflow.now(), None, None
        if ending.failure is not None:
            fault = fault_in(ending.failure)
            place, error = fault.state, SpanError(fault.name, in_a_line(fault))
        for span in reversed(list(self._open.values())):
            has_failed = error is not None and (place is None or f"{place}/".startswith(f"{span.state}/"))
            span.error = error if has_failed else span.error
            self._close(span, now, "cancelled" if error is not None and not has_failed else ending.how)
        root.error = error
        self._record(root, now, ending.how)

    def _enter(self, lane: str, state: str, name: str, at: datetime) -> Span:
        """Begin the span of a state; return it, or the one around it if there are too many."""
        parent = self._around(lane)
        if (again := self._open.get(lane)) is not None:  # it failed, and was not left
            again.error = again.error or again.failed_action
            self._close(again, at, "failed")
        self._entered += 1
        if len(self._open) >= _MAX_OPEN:
            return parent
        assert self._root is not None  # noqa: S101 - since it notes
        attributes = {**self._root.attributes, "swf.state": state}
        if lane != state:
            attributes["swf.lane"] = lane
        run = self.instance.info.run_id
        number = self._entered
        span = Span(f"State:{name}", span_id(run, number), parent, at, attributes, lane, state, number)
        self._open[lane] = span
        parent.number_within += 1
        return span

    def _around(self, lane: str) -> Span:
        """Return the innermost span in progress around a lane."""
        while (cut := max(lane.rfind("/"), lane.rfind("["))) >= 0:
            lane = lane[:cut]
            if (found := self._open.get(lane)) is not None:
                return found
        assert self._root is not None  # noqa: S101 - since it notes
        return self._root

    def _innermost(self, entry: TraceEntry) -> Span:
        """Return the innermost span that an entry belongs to.

        A state that an earlier execution has entered has another span in this one.
        """
        span = self._open.get(entry.lane) or self._around(entry.lane)
        if span is not self._root or not entry.state or not self.instance.is_continued:
            return span
        lane = next((one for one in _prefixes(entry.lane) if _ITERATION.sub("", one) == entry.state), None)
        if lane is None:
            return span
        name = entry.state.rpartition("/")[2] if entry.state.startswith("/") else entry.state
        return self._enter(lane, entry.state, name, self.instance.info.workflow_start_time)

    def _caught(self, span: Span, entry: TraceEntry) -> None:
        """Note the error that a state has handled, and end what has failed within it."""
        if span.parent is not None:
            code = str(entry.detail.get("code") or entry.name)
            span.error = SpanError(code, code)
            self._close_within(span, entry.at, "failed", span.error)

    def _close(self, span: Span, at: datetime, result: str) -> None:
        self._close_within(span, at, "failed" if result == "failed" else "cancelled")
        del self._open[span.lane]
        assert span.parent is not None  # noqa: S101 - it is a state
        span.parent.number_within -= 1
        self._record(span, at, result)

    def _close_within(self, span: Span, at: datetime, result: str, error: SpanError | None = None) -> None:
        if span.number_within:
            for one in [one for one in self._open.values() if one.parent is span]:
                one.error = one.error or error
                self._close(one, at, result)

    def _record(self, span: Span, at: datetime, result: str) -> None:
        if self._trace is not None and not workflow.unsafe.is_replaying():
            span.attributes["swf.result"], span.last = result, self._entered
            self._trace.record(span, at)


def _prefixes(lane: str) -> list[str]:
    """Return the lanes around a lane, the outermost first, and itself."""
    cuts = [at for at, char in enumerate(lane) if at and char in "/["]
    return [lane[:at] for at in cuts] + [lane]
