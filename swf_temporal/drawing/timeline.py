"""The timeline of an instance, from its trace: states, and the calls, waits and sub-workflows in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from math import ceil
from typing import Final, Literal, NamedTuple, TypeAlias

from swf_temporal.base.grammar import counted
from swf_temporal.drawing.course import Status, clock, lasted
from swf_temporal.drawing.model import Addresses, EntryId, Point, cut, opened, width_of, wrapped, xml_text
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
    tried: Sequence[tuple[datetime, datetime]] = ()
    """When failed attempts began and ended, as far as their workers have told."""
    attempts: int = 1
    """The number of attempts."""
    error: str = ""
    entries: list[int] = field(default_factory=list)
    """The numbers of its entries in the trace: the first began it."""
    inner: list["Span"] = field(default_factory=list)

    @property
    def words(self) -> str:
        """A description of its outcome."""
        count = max(self.attempts, len(self.retried) + 1)
        attempts = [counted(count, "attempt")] if count > 1 else []
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
    """The time of its end; while it runs, the time at which it was looked at, or else that of the last entry."""
    rows: tuple[Row, ...]
    left_out: int = 0
    """The number of spans that are not shown."""
    ids: Sequence[EntryId] = ()
    """The identity of each entry of the trace; empty if the spans cannot be opened."""


class Attempted(NamedTuple):
    """The attempts at a call, as far as they are known beside the trace."""

    made: int
    tried: Sequence[tuple[datetime, datetime]] = ()
    """When the failed ones began and ended."""
    error: str = ""
    """The error of the latest failed one, if the call is in progress."""


def timeline_of(
    trace: Iterable[TraceEntry],
    title: str,
    *subtitles: str,
    closed_as: Status | None = None,
    now: datetime | None = None,
    attempted: Mapping[int, Attempted] | None = None,
    ids: Sequence[EntryId] = (),
) -> Timeline | None:
    """Return the timeline of *trace*; None if the trace is empty.

    *closed_as* is the status of a run whose end is not in its trace; *now* the time to which one reaches that goes on.
    *attempted* has the attempts at calls, by the numbers of the entries that began these. *ids* identify the entries.
    """
    entries = list(trace)
    if not entries:
        return None
    spans, latest = spans_of(entries, closed_as), entries[-1].at
    for number, one in (attempted or {}).items():
        span = spans.by_entry.get(number)
        if span is not None:
            span.attempts, span.tried = one.made, one.tried
    is_over = closed_as is not None or entries[-1].kind in _ENDS_RUN
    ended = latest if now is None or is_over else max(latest, now)
    rows = list(_rows(spans.outermost, 0))
    lines = tuple(line for one in subtitles for line in wrapped(one, _SUBTITLE, 11.5, 3))
    shown, left_out = tuple(rows[:MAX_SPANS]), max(0, len(rows) - MAX_SPANS)
    return Timeline(title, lines, entries[0].at, ended, shown, left_out, ids)


class Spans(NamedTuple):
    """Something that took time in a run."""

    outermost: Sequence[Span]
    """The spans that no other contains, in the order in which they began."""
    by_entry: Mapping[int, Span]
    """The spans by the numbers of their entries in the trace."""


def spans_of(trace: Iterable[TraceEntry], closed_as: Status | None = None) -> Spans:
    """Return what took time in the run with this *trace*; *closed_as* is as in `timeline_of`."""
    recorder, latest = _Recorder(), None
    for number, entry in enumerate(trace):
        recorder.note(entry, number)
        latest = entry.at
    if closed_as is not None and latest is not None:
        recorder.end_all(latest, closed_as)
    return Spans(recorder.spans, recorder.by_entry)


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
        self.by_entry: dict[int, Span] = {}
        self._retries: set[int] = set()
        """The numbers of entries about attempts that are followed by another one."""
        self._number = 0

    def note(self, entry: TraceEntry, number: int) -> None:
        kind, self._number = entry.kind, number
        if kind in _ENDS_RUN:
            self.end_all(entry.at, "stopped" if _ENDS_RUN[kind] == "done" else "failed")
        elif kind is TraceKind.STATE_ENTERED:
            self._states[entry.lane] = self._begin("state", entry.name.rpartition("/")[2], entry)
        elif kind is TraceKind.STATE_LEFT:
            self._leave(entry)
        elif kind is TraceKind.ACTION_STARTED and (again := self._retried(entry)) is not None:
            self._belongs(again)
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
        self._belongs(span)
        (self.spans if holder is None else holder.inner).append(span)
        return span

    def _retried(self, entry: TraceEntry) -> Span | None:
        """Return the call of which *entry* begins another attempt, in a language whose attempts are calls."""
        span = self._first("call", entry)
        return span if span is not None and span.retried and span.entries[-1] in self._retries else None

    def _belongs(self, span: Span) -> None:
        """Note that the entry belongs to *span*."""
        span.entries.append(self._number)
        self.by_entry[self._number] = span

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
                self._retries.add(self._number)
                self._belongs(span)
        elif kind in _HANDLES_ERROR:
            self._end_within(entry, "failed")
            if entry.lane in self._states:
                self._belongs(self._states[entry.lane])
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
            self._belongs(span)
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
            self._belongs(state)

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
_AFTER: Final = 150.0
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
_BY_CLOCK: Final = timedelta(minutes=1)
"""The distance between lines from which these show the time of day."""
_ROOM: Final = 0.1
"""The part of the chart that the time of its beginning needs."""


class Bars:
    """The drawing of a timeline."""

    def __init__(self, timeline: Timeline, addresses: Addresses | None = None) -> None:
        """Draw *timeline*, whose spans link to *addresses*."""
        self._timeline = timeline
        self._addresses = addresses
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
        for moment, words in self._marks():
            x = self._x(moment)
            yield f'<path class="line" d="M{x:.1f} {_SCALE - 6}V{self.height:.1f}"/>'
            yield f'<text class="kind" text-anchor="middle" x="{x:.1f}" y="10">{words}</text>'

    def _marks(self) -> Iterator[tuple[datetime, str]]:
        """Yield the lines of the scale: by the time that has passed, or by the clock once that is minutes."""
        began = self._timeline.began.astimezone(UTC)
        step = next((one for one in _STEPS if self._length / one <= _MAX_LINES), self._length)
        if step < _BY_CLOCK:
            for number in range(int(self._length / step) + 1):
                yield began + number * step, f"+{lasted(number * step)}" if number else clock(began)
            return
        midnight = began.replace(hour=0, minute=0, second=0, microsecond=0)
        moment = midnight + ceil((began - midnight) / step) * step
        shown: date | None = None
        if (moment - began) / self._length > _ROOM:
            yield began, f"{began:%d %b %H:%M}"
            shown = began.date()
        while moment <= began + self._length:
            words = f"{moment:%d %b}" if step >= timedelta(days=1) else f"{moment:%H:%M}"
            is_other_day = step < timedelta(days=1) and moment.date() != shown
            yield moment, f"{moment:%d %b} {words}" if is_other_day else words
            shown, moment = moment.date(), moment + step

    def _row(self, row: Row, top: float) -> Iterator[str]:
        span, left = row.span, row.depth * _INDENT
        until = self._timeline.ended if span.ended is None else span.ended
        took = lasted(until - span.began)
        goes_on = " until now" if span.ended is None else ""
        words = xml_text(f"{span.name}: {span.words}, {clock(span.began)}, {took}{goes_on}")
        name = xml_text(cut(span.name, self._names - left - 10, _TEXT))
        role = "graphics-symbol" if self._addresses is None else "graphics-object"  # a symbol has no links in it
        yield (
            f'<g class="span {span.kind} {span.status}" data-path="{xml_text(span.lane)}" role="{role}"'
            f' aria-label="{words}"><title>{words}</title>'
        )
        yield f'<text x="{left:.1f}" y="{top + 13:.1f}">{name}</text>'
        yield self._bar("bar", span.began, until, top, ' rx="2"')
        yield from (self._bar("tried", since, to, top) for since, to in span.tried)
        for moment in span.retried:
            yield f'<path class="attempt" d="M{self._x(moment):.1f} {top + 2:.1f}v{_BAR + 4}"/>'
        count = max(span.attempts, len(span.retried) + 1)
        after = f"{took}{'…' if span.ended is None else ''}{f', {count} attempts' if count > 1 else ''}"
        end = max(self._x(until), self._x(span.began) + _MIN_WIDTH)
        yield f'<text class="kind" x="{end + 5:.1f}" y="{top + 13:.1f}">{after}</text>'
        if self._addresses is not None and self._timeline.ids:
            address = self._addresses.of_entry(self._timeline.ids[span.entries[0]])
            yield from opened(address, words, (0, top), self.width, _ROW)
        yield "</g>"

    def _bar(self, kind: str, began: datetime, ended: datetime, top: float, more: str = "") -> str:
        x = self._x(began)
        width = max(_MIN_WIDTH, self._x(ended) - x)
        size = f'x="{x:.1f}" y="{top + 4:.1f}" width="{width:.1f}" height="{_BAR}"'
        return f'<rect class="{kind}" {size}{more}/>'

    def _x(self, moment: datetime) -> float:
        return self._names + (moment - self._timeline.began) / self._length * _CHART
