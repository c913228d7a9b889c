"""The timeline of an instance, from its trace: states, and the calls, waits and sub-workflows in them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from swf_temporal.base.grammar import counted
from swf_temporal.drawing.course import Status, clock, lasted
from swf_temporal.drawing.model import Point, cut, width_of, wrapped, xml_text
from swf_temporal.runtime.host import TraceEntry, TraceKind

SpanKind: TypeAlias = Literal["state", "call", "flow", "wait"]

MAX_SPANS: Final = 500
"""The maximum number of spans that are shown."""
_SUBTITLE: Final = 900.0
"""The maximum width of the lines above a timeline."""
_ENDS_WAIT: Final = {TraceKind.EVENT_TAKEN, TraceKind.EVENT_TIMED_OUT}
_ENDS_CALL: Final = {TraceKind.ACTION_COMPLETED, TraceKind.ACTION_FAILED}
_HANDLES_ERROR: Final = {TraceKind.STATE_RETRIED, TraceKind.ERROR_CAUGHT}
_ENDS_RUN: Final[dict[TraceKind, Status]] = {
    TraceKind.WORKFLOW_COMPLETED: "done",
    TraceKind.WORKFLOW_CONTINUED: "done",
    TraceKind.WORKFLOW_FAILED: "failed",
    TraceKind.WORKFLOW_TIMED_OUT: "failed",
}


@dataclass(slots=True)
class Span:
    """A bar of a timeline: a state, call, sub-workflow or wait."""

    kind: SpanKind
    name: str
    lane: str
    """The path of execution that it is on."""
    began: datetime
    ended: datetime | None = None
    """None while it runs."""
    status: Status = "running"
    retried: list[datetime] = field(default_factory=list)
    """The times of failed attempts that were followed by another one."""
    error: str = ""
    inner: list["Span"] = field(default_factory=list)

    @property
    def words(self) -> str:
        """A description of its outcome."""
        attempts = [counted(len(self.retried) + 1, "attempt")] if self.retried else []
        return ", ".join([self.status, *attempts, *([self.error] if self.error else [])])


@dataclass(frozen=True, slots=True)
class Row:
    """A span as it is listed, below the span that contains it."""

    span: Span
    depth: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rows of a run, in the order in which they began."""

    title: str
    subtitles: tuple[str, ...]
    began: datetime
    ended: datetime
    """The time of its end, or of the last entry."""
    rows: tuple[Row, ...]
    left_out: int = 0
    """The number of spans that are not shown."""


def timeline_of(
    trace: Iterable[TraceEntry], title: str, *subtitles: str, closed_as: Status | None = None
) -> Timeline | None:
    """Return the timeline of *trace*; None if the trace is empty.

    *closed_as* is the status of a run whose end is not in its trace.
    """
    entries = list(trace)
    if not entries:
        return None
    recorder = _Recorder()
    for entry in entries:
        recorder.note(entry)
    latest = entries[-1].at
    if closed_as is not None:
        recorder.end_all(latest, closed_as)
    rows = list(_rows(recorder.spans, 0))
    lines = tuple(line for one in subtitles for line in wrapped(one, _SUBTITLE, 11.5, 3))
    return Timeline(title, lines, entries[0].at, latest, tuple(rows[:MAX_SPANS]), max(0, len(rows) - MAX_SPANS))


def _rows(spans: Iterable[Span], depth: int) -> Iterator[Row]:
    for span in spans:
        yield Row(span, depth)
        yield from _rows(span.inner, depth + 1)


class _Recorder:
    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._states: dict[str, Span] = {}
        """The states that have not been left, by their paths of execution."""
        self._open: list[Span] = []
        """Calls, sub-workflows and waits in progress."""

    def note(self, entry: TraceEntry) -> None:
        kind = entry.kind
        if kind in _ENDS_RUN:
            self.end_all(entry.at, "stopped" if _ENDS_RUN[kind] == "done" else "failed")
        elif kind is TraceKind.STATE_ENTERED:
            self._states[entry.lane] = self._begin("state", entry.name.rpartition("/")[2], entry)
        elif kind is TraceKind.STATE_LEFT:
            self._leave(entry)
        elif kind is TraceKind.ACTION_STARTED:
            self._open.append(self._begin("flow" if "subflow" in entry.detail else "call", entry.name, entry))
        elif kind is TraceKind.EVENT_AWAITED:
            self._open.append(self._begin("wait", f"waits for {entry.name}", entry))
        elif kind is TraceKind.SLEEPING:
            self._open.append(self._begin("wait", "waits", entry))
        else:
            self._note_open(entry)

    def _begin(self, kind: SpanKind, name: str, entry: TraceEntry) -> Span:
        self._end_sleep(entry)
        holder = self._holder_of(entry.lane)
        part = entry.lane if holder is None else entry.lane.removeprefix(holder.lane).lstrip("/")
        label = f"{part} › {name}" if kind != "state" and part else name
        span = Span(kind, label, entry.lane, entry.at)
        (self.spans if holder is None else holder.inner).append(span)
        return span

    def _holder_of(self, lane: str) -> Span | None:
        """Return the innermost state whose path of execution contains *lane*."""
        holding = [span for path, span in self._states.items() if _is_within(lane, path)]
        return max(holding, key=lambda span: len(span.lane), default=None)

    def _note_open(self, entry: TraceEntry) -> None:
        kind = entry.kind
        if kind in _ENDS_WAIT:
            self._end_first("wait", entry, "done")
        elif kind in _ENDS_CALL:
            failed = kind is TraceKind.ACTION_FAILED
            span = self._end_first("call", entry, "failed" if failed else "done")
            if span is not None and failed:
                span.error = f"{entry.detail['error']}: {entry.detail['message']}"
        elif kind is TraceKind.ACTION_RETRIED:
            span = self._first("call", entry) or self._first("call", entry, within=True)
            if span is not None:
                span.retried.append(entry.at)
        elif kind in _HANDLES_ERROR:
            self._end_within(entry, "failed")
            if kind is TraceKind.ERROR_CAUGHT and entry.lane in self._states:
                self._states[entry.lane].error = f"{entry.name}: {entry.detail['message']}"
        self._end_sleep(entry)

    def _first(self, kind: SpanKind, entry: TraceEntry, *, within: bool = False) -> Span | None:
        """Return the earliest open span on the entry's path, or *within* it; a call must have the entry's name."""
        for span in self._open:
            is_named = kind == "wait" or span.name == entry.name or span.name.endswith(f" › {entry.name}")
            is_there = _is_within(span.lane, entry.lane) if within else span.lane == entry.lane
            if is_there and (span.kind == "wait") == (kind == "wait") and is_named:
                return span
        return None

    def _end_first(self, kind: SpanKind, entry: TraceEntry, status: Status) -> Span | None:
        span = self._first(kind, entry)
        if span is not None:
            self._end(span, entry.at, status)
        return span

    def _end_sleep(self, entry: TraceEntry) -> None:
        """End a sleep, after which its path continues."""
        for span in [one for one in self._open if one.lane == entry.lane and one.name.endswith("waits")]:
            self._end(span, entry.at, "done")

    def _end(self, span: Span, at: datetime, status: Status) -> None:
        span.ended, span.status = at, status
        self._open.remove(span)

    def _leave(self, entry: TraceEntry) -> None:
        self._end_within(entry, "stopped")
        state = self._states.pop(entry.lane, None)
        self._end_sleep(entry)
        for span in [one for one in self._open if _is_within(one.lane, entry.lane)]:
            self._end(span, entry.at, "stopped")
        if state is not None:
            state.ended, state.status = entry.at, "done"

    def _end_within(self, entry: TraceEntry, status: Status) -> None:
        """End the states in that of *entry* which were not left: an error ended them, or another branch was first."""
        for lane in [one for one in self._states if one != entry.lane and _is_within(one, entry.lane)]:
            state = self._states.pop(lane)
            state.ended, state.status = entry.at, status

    def end_all(self, at: datetime, status: Status) -> None:
        for span in [*self._states.values(), *self._open]:
            span.ended, span.status = at, status
        self._states.clear()
        self._open.clear()


def _is_within(lane: str, outer: str) -> bool:
    """Return True if *lane* is *outer*, a branch or iteration of it, or a state in one."""
    return lane == outer or lane.startswith((f"{outer}/", f"{outer}["))


_ROW: Final = 20.0
_BAR: Final = 12.0
_SCALE: Final = 26.0
"""The height of the scale."""
_INDENT: Final = 14.0
_NAMES: Final = 300.0
"""The maximum width of the names."""
_CHART: Final = 640.0
_AFTER: Final = 110.0
"""The width of the text after a bar."""
_TEXT: Final = 11.5
_MIN_WIDTH: Final = 2.0
"""The minimum width of a bar."""
_STEPS: Final = (
    *(timedelta(milliseconds=one) for one in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(timedelta(seconds=one) for one in (1, 2, 5, 10, 15, 30)),
    *(timedelta(minutes=one) for one in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=one) for one in (1, 2, 3, 6, 12)),
    *(timedelta(days=one) for one in (1, 2, 5, 7, 14, 30, 60, 90, 180, 365)),
)
"""The possible distances between the lines of the scale."""
_MAX_LINES: Final = 8


class Bars:
    """The drawing of a timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._length = max(timeline.ended - timeline.began, timedelta(milliseconds=1))
        names = [width_of(row.span.name, _TEXT) + row.depth * _INDENT for row in timeline.rows]
        self._names = min(_NAMES, max(names, default=0)) + 14
        left_out = _ROW if timeline.left_out else 0
        self.width = self._names + _CHART + _AFTER
        self.height = _SCALE + len(timeline.rows) * _ROW + left_out

    def svg(self, at: Point) -> Iterator[str]:
        """Yield the SVG elements at a position."""
        yield f'<g transform="translate({at[0]:.1f} {at[1]:.1f})">'
        yield from self._scale()
        for number, row in enumerate(self._timeline.rows):
            yield from self._row(row, _SCALE + number * _ROW)
        if self._timeline.left_out:
            words = f"{self._timeline.left_out} more are not shown"
            yield f'<text class="kind" x="0" y="{self.height - 6:.1f}">{words}</text>'
        yield "</g>"

    def _scale(self) -> Iterator[str]:
        step = next((one for one in _STEPS if self._length / one <= _MAX_LINES), self._length)
        for number in range(int(self._length / step) + 1):
            passed = number * step
            x = self._names + passed / self._length * _CHART
            yield f'<path class="line" d="M{x:.1f} {_SCALE - 6}V{self.height:.1f}"/>'
            words = f"+{lasted(passed)}" if number else clock(self._timeline.began)
            yield f'<text class="kind" text-anchor="middle" x="{x:.1f}" y="10">{words}</text>'

    def _row(self, row: Row, top: float) -> Iterator[str]:
        span, left = row.span, row.depth * _INDENT
        begin = self._x(span.began)
        end = self._x(self._timeline.ended if span.ended is None else span.ended)
        took = lasted((self._timeline.ended if span.ended is None else span.ended) - span.began)
        words = xml_text(f"{span.name}: {span.words}, {clock(span.began)}, {took}")
        name = xml_text(cut(span.name, self._names - left - 10, _TEXT))
        yield (
            f'<g class="span {span.kind} {span.status}" data-path="{xml_text(span.lane)}" role="graphics-symbol"'
            f' aria-label="{words}"><title>{words}</title>'
        )
        yield f'<text x="{left:.1f}" y="{top + 13:.1f}">{name}</text>'
        width = max(_MIN_WIDTH, end - begin)
        yield f'<rect class="bar" x="{begin:.1f}" y="{top + 4:.1f}" width="{width:.1f}" height="{_BAR}" rx="2"/>'
        for moment in span.retried:
            yield f'<path class="attempt" d="M{self._x(moment):.1f} {top + 2:.1f}v{_BAR + 4}"/>'
        after = f"{took}…" if span.ended is None else took
        yield f'<text class="kind" x="{begin + width + 5:.1f}" y="{top + 13:.1f}">{after}</text></g>'

    def _x(self, moment: datetime) -> float:
        return self._names + (moment - self._timeline.began) / self._length * _CHART
