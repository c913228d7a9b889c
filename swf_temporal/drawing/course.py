"""The course of a run through its definition, from its trace: the state of each part, and the ways taken."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from swf_temporal.base.durations import parse_duration
from swf_temporal.base.grammar import counted
from swf_temporal.drawing.outline import ITERATION, Outline, OutlinePart
from swf_temporal.runtime.host import TraceEntry, TraceKind

Status: TypeAlias = Literal["done", "running", "waiting", "failed", "undone", "stopped"]
Taken: TypeAlias = Mapping[tuple[str, int], int]
"""How often each way was taken, by the path of its part and its number there."""

_AT_END: Final = {TraceKind.WORKFLOW_COMPLETED, TraceKind.WORKFLOW_CONTINUED}
_AT_FAILURE: Final = {TraceKind.WORKFLOW_FAILED, TraceKind.WORKFLOW_TIMED_OUT}


@dataclass(slots=True)
class PartCourse:
    """The state of a part, over all its visits and iterations."""

    began: datetime
    lane: str
    """The path of execution on which it was last."""
    ended: datetime | None = None
    """When it was last left; None while it runs, and for parts whose end is not traced, such as branches."""
    status: Status = "running"
    entered: int = 0
    iterations: set[str] = field(default_factory=set)
    under_way: list[str] = field(default_factory=list)
    """The names of its actions that are in progress."""
    skipped: int = 0
    """The number of its actions whose condition was false."""
    retried: int = 0
    awaits: str = ""
    """The events that it waits for."""
    until: datetime | None = None
    """The latest end of a wait."""
    error: str = ""
    """The last error in it, with its message."""

    @property
    def lines(self) -> Iterator[tuple[Status, str]]:
        """The lines about it, each with the status that it stands for."""
        yield self.status, self._summary
        if len(self.iterations) > 1:
            yield self.status, counted(len(self.iterations), "iteration")
        if self.retried:
            yield "waiting", f"tried again {counted(self.retried, 'time')}"
        if self.skipped:
            yield "stopped", f"{counted(self.skipped, 'action')} skipped"
        if self.error:
            yield "failed", self.error

    @property
    def _summary(self) -> str:
        what = self.status if self.status != "waiting" else f"waits for {self.awaits}" if self.awaits else "waits"
        facts = [what, *([f"{self.entered} times"] if self.entered > 1 else [])]
        if self.until is not None:
            facts.append(f"until {clock(self.until, self.began)}")
        elif self.ended is None:
            facts.append(f"since {clock(self.began)}")
        else:
            length = self.ended - self.began
            facts += [clock(self.began), *([lasted(length)] if length else [])]
        return ", ".join(facts)


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a run, which can be drawn on its definition."""

    parts: Mapping[str, PartCourse]
    """The parts that were reached, by their paths."""
    taken: Taken
    status: Status
    began: datetime | None = None
    ended: datetime | None = None
    error: str = ""

    @property
    def words(self) -> str:
        """A summary of the run, in one line."""
        began = "" if self.began is None else f", began {self.began.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        length = "" if self.began is None or self.ended is None else f", {lasted(self.ended - self.began)}"
        return f"{self.status}{began}{length}{f', {self.error}' if self.error else ''}"


def clock(moment: datetime, before: datetime | None = None) -> str:
    """Return the time of day, with the date if it differs from that of *before*."""
    at = moment.astimezone(UTC)
    is_same_day = before is None or before.astimezone(UTC).date() == at.date()
    return at.strftime("%H:%M:%S" if is_same_day else "%Y-%m-%d %H:%M:%S")


def lasted(length: timedelta) -> str:
    """Return a duration in its two largest units."""
    if length < timedelta(seconds=1):
        return f"{length / timedelta(milliseconds=1):.0f} ms"
    minutes, seconds = divmod(round(length.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next(number for number, (amount, _) in enumerate(units) if amount)
    return " ".join(f"{amount} {unit}" for amount, unit in units[first : first + 2] if amount)


def course_of(
    outline: Outline, trace: Iterable[TraceEntry], closed_as: Literal["failed", "stopped"] | None = None
) -> Course:
    """Return the course through *outline* of the run in *trace*, which may also hold several runs of one instance.

    *closed_as* is the status of a run whose end is not in its trace.
    """
    return _Follower(outline).follow(trace, closed_as)


class _Follower:
    def __init__(self, outline: Outline) -> None:
        self._outline = {part.path: part for part in outline.every_part}
        self._holders = {inner.path: part.path for part in outline.every_part for inner in part.parts}
        self._own = {path: path.removeprefix(self._holders.get(path, "")) for path in self._outline}
        """The end of the path of each part, after that of the part which it is in."""
        self._parts: dict[str, PartCourse] = {}
        self._taken: Counter[tuple[str, int]] = Counter()
        self._left: dict[str, tuple[OutlinePart, bool]] = {}
        """By path of execution: the part that was left last, and whether that was after an error."""
        self._caught: set[str] = set()
        """The paths of execution on which an error was caught."""
        self._undoing: set[str] = set()
        """The states that are about to be entered to compensate another."""
        self._status: Status = "running"
        self._error = ""

    def follow(self, trace: Iterable[TraceEntry], closed_as: Status | None) -> Course:
        began: datetime | None = None
        latest: datetime | None = None
        for entry in trace:
            began, latest = began or entry.at, entry.at
            self._note(entry)
        if self._status == "running" and closed_as is not None:
            self._status = closed_as
        for part, after_error in self._left.values():
            self._count(part, None, after_error=after_error)
        if self._status != "running":
            ends = {path: self._end_of(path) for path, one in self._parts.items() if one.ended is None}
            for path, end in ends.items():
                if self._parts[path].status != "undone":
                    self._parts[path].status = end
        ended = None if self._status == "running" else latest
        is_waiting = any(one.status == "waiting" for one in self._parts.values())
        status: Status = "waiting" if self._status == "running" and is_waiting else self._status
        return Course(self._parts, dict(self._taken), status, began, ended, self._error)

    def _end_of(self, path: str) -> Status:
        """Return the status of a part that had not been left when the run ended."""
        if self._status == "failed" and path in self._failing:
            return "failed"
        is_branch = not self._outline[path].ways
        return "done" if is_branch and not self._parts[path].under_way else "stopped"

    @property
    def _failing(self) -> set[str]:
        """The paths of the unfinished parts that had an error; those of all unfinished parts, if none had one."""
        left_open = {path: one for path, one in self._parts.items() if one.ended is None}
        met = [one.lane for one in left_open.values() if one.error]
        around = {path for path, one in left_open.items() if any(_is_within(lane, one.lane) for lane in met)}
        return around if met else {*left_open}

    def _note(self, entry: TraceEntry) -> None:
        kind, path = entry.kind, self._path_of(entry)
        if kind in _AT_END:
            self._status = "done"
        elif kind in _AT_FAILURE:
            self._status = "failed"
            self._error = f"{entry.name}: {entry.detail['message']}" if "message" in entry.detail else "timed out"
        if path is None:
            return
        self._reach_holder(entry, path)
        one = self._parts.get(path)
        if one is None:
            one = self._parts[path] = PartCourse(entry.at, entry.lane)
        self._note_part(entry, path, one)

    def _reach_holder(self, entry: TraceEntry, path: str) -> None:
        """Note that what holds a part is reached with it, if its own begin is not traced, such as that of a handler."""
        holder = self._holders.get(path)
        if holder is None or self._outline[holder].is_concurrent:
            return
        one = self._parts.get(holder)
        if one is None:
            one = self._parts[holder] = PartCourse(entry.at, self._walk_of(entry, path))
            self._reach_holder(entry, holder)
        elif not one.entered:
            one.lane = self._walk_of(entry, path)
            if one.ended is not None:
                one.ended, one.status = None, "running"

    def _path_of(self, entry: TraceEntry) -> str | None:
        """Return the path of the part that *entry* belongs to, a branch or a state; None if there is none."""
        if not entry.state:
            return None
        held_by = (entry.state.rsplit("/", count)[0] for count in range(1, entry.state.count("/") + 1))
        paths = (entry.lane, ITERATION.sub("", entry.lane), entry.state, *held_by)
        return next((path for path in paths if path in self._outline), None)

    def _note_part(self, entry: TraceEntry, path: str, one: PartCourse) -> None:
        one.lane = entry.lane
        if entry.lane != path and ITERATION.search(entry.lane):
            one.iterations.add(entry.lane)
        if one.ended is None:
            one.awaits, one.until, one.status = "", None, "running"
        note = _NOTES.get(entry.kind)
        if note is not None:
            note(self, entry, path, one)

    def enter(self, entry: TraceEntry, path: str, one: PartCourse) -> None:
        one.entered += 1
        one.ended, one.status = None, "running"
        self._caught.discard(path)
        branches = self._outline[path].parts if self._outline[path].is_concurrent else ()
        for inner in branches:  # nor is its begin
            within = self._parts.get(inner.path)
            if within is not None and not within.entered:
                within.ended, within.status = None, "running"
        walk = self._walk_of(entry, path)
        before = self._left.pop(walk, None)
        if path in self._undoing:
            self._undoing.discard(path)
        elif before is not None:
            self._count(before[0], path, after_error=before[1])

    def leave(self, entry: TraceEntry, path: str, one: PartCourse) -> None:
        one.ended, one.status = entry.at, "done"
        one.awaits, one.until = "", None
        self._end_within(entry)
        holder = self._parts.get(self._holders.get(path, ""))
        if holder is not None and not holder.entered:  # until another of its parts is entered
            holder.ended, holder.status = entry.at, "done"
        if self._outline[path].ways:
            self._left[self._walk_of(entry, path)] = self._outline[path], path in self._caught

    def _walk_of(self, entry: TraceEntry, path: str) -> str:
        return entry.lane.removesuffix(self._own[path])

    def begin(self, entry: TraceEntry, path: str, one: PartCourse) -> None:  # noqa: ARG002 - one of `_NOTES`
        one.under_way.append(entry.name)

    def end(self, entry: TraceEntry, path: str, one: PartCourse) -> None:  # noqa: ARG002 - as above
        if entry.name in one.under_way:
            one.under_way.remove(entry.name)
        if entry.kind is TraceKind.ACTION_FAILED:
            one.error = f"{entry.detail['error']}: {entry.detail['message']}"

    def skip(self, entry: TraceEntry, path: str, one: PartCourse) -> None:  # noqa: ARG002 - as above
        one.skipped += 1

    def retry(self, entry: TraceEntry, path: str, one: PartCourse) -> None:
        # Hosts that make the attempts name only the state; the action may be in one of its branches.
        within = [inner for name, inner in self._parts.items() if name.startswith(f"{path}/")]
        of_branch = next((inner for inner in within if entry.name in inner.under_way), one)
        (one if entry.name in one.under_way else of_branch).retried += 1
        if entry.kind is TraceKind.STATE_RETRIED:
            self._caught.discard(path)
            self._end_within(entry)

    def wait_for(self, entry: TraceEntry, path: str, one: PartCourse) -> None:  # noqa: ARG002 - as above
        one.status, one.awaits = "waiting", entry.name
        until = entry.detail.get("until")
        one.until = None if until is None else datetime.fromisoformat(until)

    def sleep(self, entry: TraceEntry, path: str, one: PartCourse) -> None:  # noqa: ARG002 - as above
        one.status, one.until = "waiting", _after(entry.at, entry.detail["duration"])

    def catch(self, entry: TraceEntry, path: str, one: PartCourse) -> None:  # noqa: ARG002 - as above
        self._caught.add(entry.state)
        one.error = f"{entry.name}: {entry.detail['message']}"
        cause = self._parts.get(_instance_of(entry.detail.get("error")))
        if cause is not None and cause.ended is None and not cause.error:
            cause.error = one.error  # no action failed there: it raised the error itself
        self._end_within(entry)

    def _end_within(self, entry: TraceEntry) -> None:
        """Note that all has ended that runs within the part of *entry*, from wherever it is in the definition."""
        left_open = [one for one in self._parts.values() if one.ended is None and one.lane != entry.lane]
        within = [inner for inner in left_open if _is_within(inner.lane, entry.lane)]
        failed = [inner.lane for inner in within if inner.error]
        for inner in within:
            inner.ended, inner.awaits, inner.until = entry.at, "", None
            if any(_is_within(lane, inner.lane) for lane in failed):
                inner.status = "failed"
            else:  # the end of a branch is not traced, nor is that of a handler
                inner.status = "stopped" if inner.entered or inner.under_way else "done"
            inner.under_way.clear()

    def undo(self, entry: TraceEntry, path: str, one: PartCourse) -> None:  # noqa: ARG002 - as above
        undone, by = self._outline.get(entry.name), entry.detail["by"]
        if undone is None:
            return
        for number, way in enumerate(undone.ways):
            if way.on == "compensation":
                self._taken[undone.path, number] += 1
                self._undoing.add(way.to or by)
        if undone.path in self._parts:
            self._parts[undone.path].status = "undone"

    def _count(self, part: OutlinePart, to: str | None, *, after_error: bool) -> None:
        """Count the way from *part* to the next one. Several ways there all count: the trace does not distinguish."""
        fitting = [(number, way) for number, way in enumerate(part.ways) if way.to == to and way.on != "compensation"]
        on_error = [(number, way) for number, way in fitting if not way.is_usual]
        usual = [(number, way) for number, way in fitting if way.is_usual]
        for number, _ in (on_error or usual) if after_error else (usual or on_error):
            self._taken[part.path, number] += 1
        if to is not None and not fitting:  # it was the last part of an iteration, and the next one began
            self._count(part, None, after_error=after_error)


def _instance_of(error: object) -> str:
    """Return the JSON Pointer to what caused *error*, if those are problem details."""
    instance = error.get("instance") if isinstance(error, dict) else None
    return instance if isinstance(instance, str) else ""


def _is_within(lane: str, holder: str) -> bool:
    """Return whether *lane* is the path of execution *holder*, or a part of it."""
    return lane == holder or lane.startswith((f"{holder}/", f"{holder}["))


def _after(at: datetime, duration: object) -> datetime | None:
    try:
        return at + parse_duration(duration) if isinstance(duration, str) else None
    except (ValueError, OverflowError):
        return None


_NOTES: Final[Mapping[TraceKind, Callable[[_Follower, TraceEntry, str, PartCourse], None]]] = {
    TraceKind.STATE_ENTERED: _Follower.enter,
    TraceKind.STATE_LEFT: _Follower.leave,
    TraceKind.STATE_RETRIED: _Follower.retry,
    TraceKind.ACTION_STARTED: _Follower.begin,
    TraceKind.ACTION_COMPLETED: _Follower.end,
    TraceKind.ACTION_FAILED: _Follower.end,
    TraceKind.ACTION_SKIPPED: _Follower.skip,
    TraceKind.ACTION_RETRIED: _Follower.retry,
    TraceKind.EVENT_AWAITED: _Follower.wait_for,
    TraceKind.SLEEPING: _Follower.sleep,
    TraceKind.ERROR_CAUGHT: _Follower.catch,
    TraceKind.COMPENSATING: _Follower.undo,
}


@dataclass(frozen=True, slots=True)
class PartCoverage:
    """The number of runs that reached a part."""

    runs: int
    status: Status = "done"

    @property
    def lines(self) -> Iterator[tuple[Status, str]]:
        """The lines about it, each with the status that it stands for."""
        yield self.status, counted(self.runs, "scenario")


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of an outline by runs."""

    outline: Outline
    parts: dict[str, PartCoverage]
    """The states and branches that were reached, by their paths."""
    taken: dict[tuple[str, int], int]
    """The number of runs that took each way, by the path of its part and its number there."""

    @property
    def unreached(self) -> list[str]:
        """The paths of the states and branches that no run reached."""
        return [part.path for part in self.outline.every_part if part.path not in self.parts]

    @property
    def untaken(self) -> list[str]:
        """The ways that no run took: transitions, conditions, handlers, compensation and ends."""
        return [
            ", ".join([f"{part.path} → {way.end if way.to is None else way.to}", *filter(None, [way.name or way.when])])
            for part in self.outline.every_part
            for number, way in enumerate(part.ways)
            if not self.taken.get((part.path, number))
        ]

    @property
    def counts(self) -> tuple[int, int]:
        """The number of states, branches and ways that were reached, and the total number."""
        parts = list(self.outline.every_part)
        total = len(parts) + sum(len(part.ways) for part in parts)
        return total - len(self.unreached) - len(self.untaken), total

    @property
    def percent(self) -> float:
        """The percentage of states, branches and ways that were reached."""
        reached, total = self.counts
        return 100 * reached / total if total else 100.0


def coverage_of(outline: Outline, courses: Iterable[Course]) -> Coverage:
    """Return the combined coverage of runs with these courses."""
    parts: Counter[str] = Counter()
    taken: Counter[tuple[str, int]] = Counter()
    for course in courses:
        parts.update(course.parts.keys())
        taken.update(way for way, times in course.taken.items() if times)
    return Coverage(outline, {path: PartCoverage(runs) for path, runs in parts.items()}, dict(taken))
