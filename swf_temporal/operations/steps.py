"""The steps of an instance: a state, a call, a sub-workflow or a wait, with its data, its attempts and its errors.

All of this is found in the histories of the instance's runs, by replaying them; no worker is asked, and nothing is
stored. A step is identified by its run and the number of the trace entry with which it began.

Pictures of instances, their definitions with what happened drawn on them, are made of the same replays.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Final, Literal

from temporalio.converter import DataConverter

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError, WorkflowFault
from swf_temporal.drawing.course import Course, course_of
from swf_temporal.drawing.model import EntryId, Picture
from swf_temporal.drawing.timeline import Attempted, Span, Spans, Timeline, spans_of, timeline_of
from swf_temporal.languages.port import Definition
from swf_temporal.operations.call_facts import CallFacts, calls_in
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import InstanceHistory, RunHistory, history_of, replay_file
from swf_temporal.runtime.host import SubflowCall, TraceEntry, TraceKind
from swf_temporal.temporal.replaying import ReplayedRun

MAX_STEPS: Final = 100
"""The number of visits of a part, or of steps within one, that are told: the latest."""
_ENDS: Final = {
    TraceKind.ACTION_COMPLETED: "result",
    TraceKind.EVENT_TAKEN: "data",
}
"""The entries that bring something into the data, and the key of that."""
_FAILED: Final = (TraceKind.ACTION_FAILED, TraceKind.ERROR_CAUGHT, TraceKind.WORKFLOW_FAILED)


@dataclass(frozen=True, slots=True)
class Brief:
    """A step in a list."""

    id: EntryId
    kind: str
    name: str
    lane: str
    status: str
    began: datetime
    ended: datetime | None
    error: str = ""


@dataclass(slots=True)
class Step:
    """A step with all that is known of it."""

    id: EntryId
    kind: str
    """`state`, `call`, `flow` or `wait`, or the kind of the entry if it took no time."""
    name: str
    definition: str
    word: str
    """The language's word for a state."""
    part: str
    """The path of the part of the definition."""
    lane: str
    status: str
    began: datetime
    ended: datetime | None = None
    within: Brief | None = None
    """The state that it is in."""
    has_input: bool = False
    input: JSON = None
    has_output: bool = False
    output: JSON = None
    error: str = ""
    """The name of its error, and the message."""
    fault: WorkflowFault | None = None
    """The error of the call, as the history has it."""
    has_data: bool = False
    data: JSON = None
    """The data of the state at the moment of the failure."""
    calls: Sequence[CallFacts] = ()
    """The call in the history; several if each attempt is a separate call."""
    entries: list[TraceEntry] = field(default_factory=list)
    steps: list[Brief] = field(default_factory=list)
    """The steps within it."""
    left_out: int = 0
    """The number of those that are not told."""


@dataclass(frozen=True, slots=True)
class Visits:
    """The visits of a part of a definition."""

    part: str
    steps: list[Brief]
    """First its own visits, then the steps within these; what failed before the others, the latest first."""
    count: int
    statuses: Mapping[str, int]
    """The number of visits by status."""


@dataclass(slots=True)
class StepsOfRun:
    """The steps of one run."""

    run: RunHistory
    replayed: ReplayedRun
    spans: Spans
    calls: Mapping[str, list[CallFacts]]
    """The calls in the history, by their ids there."""

    @classmethod
    async def of(
        cls, run: RunHistory, history: InstanceHistory, converter: DataConverter, *, with_data: bool = False
    ) -> "StepsOfRun":
        replayed = await run.replayed(converter, with_data=with_data)
        pending = history.pending if run is history.runs[-1] else ()
        calls = await calls_in(run.history.events, pending, converter).read()
        return cls(run, replayed, spans_of(replayed.trace, replayed.closed_as), calls)

    def id_of(self, span: Span) -> EntryId:
        return EntryId(self.run.run_id, span.entries[0])

    def facts_of(self, span: Span) -> list[CallFacts]:
        """Return what the history has of the call or the sub-workflow that *span* is."""
        return [one for id_ in self._ids_of(span) for one in self.calls.get(id_, ())]

    def _ids_of(self, span: Span) -> Iterator[str]:
        """Yield the ids, in the history, of the calls that were made in *span*."""
        began, entry = span.entries[0], self.replayed.trace[span.entries[0]]
        ended = span.entries[-1] if span.ended is not None and len(span.entries) > 1 else None
        steps = self.replayed.steps
        last = steps[ended] if ended is not None and ended != began else len(self.replayed.calls)
        own = {f"{entry.lane}/{entry.name}", entry.lane.lstrip("/")}
        seen = set[str]()
        for one in self.replayed.calls[steps[began] : last]:
            if one.begins and one.call.id.rpartition("#")[0] in own and one.call.id not in seen:
                seen.add(one.call.id)
                yield from sorted(self.replayed.known_as([one.call.id]))

    def attempted(self) -> dict[int, Attempted]:
        """Return the attempts at calls that had several, by the numbers of the entries that began these calls."""
        found = {}
        for span in self.every_span:
            facts = self.facts_of(span) if span.kind == "call" else []
            if facts and facts[-1].attempts > 1:
                told = [(datetime.fromisoformat(x.began), datetime.fromisoformat(x.ended)) for x in facts[-1].failed]
                fault = facts[-1].fault if facts[-1].outcome == "in progress" else None
                error = "" if fault is None else f"{fault.name}: {fault.message}"
                found[span.entries[0]] = Attempted(facts[-1].attempts, told, error)
        return found

    @property
    def every_span(self) -> Iterator[Span]:
        return _every(self.spans.outermost)

    def brief(self, span: Span) -> Brief:
        error = span.error
        if span.status == "failed" and span.kind == "call":
            faults = [one.fault for one in self.facts_of(span) if one.fault is not None]
            if faults and faults[-1].message not in error:
                told = f"{faults[-1].name}: {faults[-1].message}"
                error = f"{error}, after {told}" if error else told
        return Brief(self.id_of(span), span.kind, span.name, span.lane, span.status, span.began, span.ended, error)

    def part_of(self, number: int) -> str:
        """Return the path of the part of the definition to which the entry with that number belongs."""
        definition, entry = self.replayed.definition, self.replayed.trace[number]
        if definition is None or not entry.state:
            return entry.state
        part = definition.outline.part_of(entry.state, entry.lane)
        return entry.state if part is None else part.path

    def step(self, number: int) -> Step | None:
        """Return the step that the entry with that number is part of; None if there is no such entry."""
        trace = self.replayed.trace
        if not 0 <= number < len(trace):
            return None
        span = self.spans.by_entry.get(number)
        return self._of_entry(number) if span is None else self._of_span(span)

    def _of_entry(self, number: int) -> Step:
        """Return what is known of an entry that took no time."""
        entry = self.replayed.trace[number]
        step = self._begun(number, str(entry.kind), entry.name, "failed" if entry.kind in _FAILED else "done")
        step.ended, step.entries = entry.at, [entry]
        self._add_error(step, number)
        return step

    def _begun(self, number: int, kind: str, name: str, status: str) -> Step:
        entry, definition = self.replayed.trace[number], self.replayed.definition
        id_, about = EntryId(self.run.run_id, number), "" if definition is None else definition.id
        word = word_of(self.replayed)
        step = Step(id_, kind, name, about, word, self.part_of(number), entry.lane, status, entry.at)
        around = [one for one in self.every_span if number not in one.entries and self._is_around(one, number)]
        step.within = self.brief(max(around, key=lambda one: one.entries[0])) if around else None
        return step

    def _is_around(self, span: Span, number: int) -> bool:
        entry = self.replayed.trace[number]
        is_inside = entry.lane == span.lane or entry.lane.startswith((f"{span.lane}/", f"{span.lane}["))
        is_over = span.ended is not None and span.ended < entry.at
        return span.kind == "state" and is_inside and span.entries[0] < number and not is_over

    def _of_span(self, span: Span) -> Step:
        trace, data_at = self.replayed.trace, self.replayed.data_at
        first = span.entries[0]
        step = self._begun(first, span.kind, trace[first].name, span.status)
        step.ended, step.error, step.calls = span.ended, span.error, self.facts_of(span)
        inner = list(span.inner)
        step.steps, step.left_out = [self.brief(one) for one in inner[-MAX_STEPS:]], max(0, len(inner) - MAX_STEPS)
        step.entries = [trace[number] for number in span.entries]
        detail = trace[first].detail
        if span.kind == "state":
            step.has_input, step.input = first in data_at, data_at.get(first)
        elif "arguments" in detail:
            step.has_input, step.input = True, detail["arguments"]
        elif span.kind == "flow" and (given := self._given(span)) is not None:
            step.has_input, step.input = True, given.data
        for number in span.entries[1:]:
            entry = trace[number]
            key = _ENDS.get(entry.kind)
            if entry.kind is TraceKind.STATE_LEFT:
                step.has_output, step.output = number in data_at, data_at.get(number)
            elif key in entry.detail:
                step.has_output, step.output = True, entry.detail[str(key)]
            self._add_error(step, number)
        if span.status == "failed" and span.kind == "state" and not step.has_data:
            self._add_end(step)
        retried = [one.detail for one in step.entries if one.kind is TraceKind.ACTION_RETRIED]
        for facts, detail in zip(step.calls, retried, strict=False):  # each attempt was a call of its own
            if facts.failed:
                facts.failed[-1].delay = detail.get("delay")
        step.fault = next((one.fault for one in reversed(step.calls) if one.fault is not None), None)
        return step

    def _given(self, span: Span) -> SubflowCall | None:
        entry, began = self.replayed.trace[span.entries[0]], span.entries[0]
        own = {f"{entry.lane}/{entry.name}", entry.lane.lstrip("/")}
        later = (one.call for one in self.replayed.calls[self.replayed.steps[began] :])
        return next((one for one in later if isinstance(one, SubflowCall) and one.id.rpartition("#")[0] in own), None)

    def _add_error(self, step: Step, number: int) -> None:
        """Note the error that an entry reports, if any, and the data of the state at that moment."""
        entry, data_at = self.replayed.trace[number], self.replayed.data_at
        if entry.kind not in _FAILED:
            return
        name = entry.detail.get("error") if entry.kind is TraceKind.ACTION_FAILED else entry.name
        step.error = f"{name}: {entry.detail.get('message', '')}"
        step.has_data, step.data = number in data_at, data_at.get(number)

    def _add_end(self, step: Step) -> None:
        """Note the error with which the run failed while the step was in progress."""
        trace = self.replayed.trace
        for number in range(len(trace) - 1, max(-1, len(trace) - 3), -1):
            if trace[number].kind is TraceKind.WORKFLOW_FAILED:
                self._add_error(step, number)


def word_of(run: ReplayedRun) -> str:
    """Return the word for a state in the language of the definition that *run* runs."""
    return "state" if run.definition is None else run.definition.words.state


def _every(spans: Sequence[Span]) -> Iterator[Span]:
    for span in spans:
        yield span
        yield from _every(span.inner)


async def step_of(history: InstanceHistory, converter: DataConverter, number: int) -> Step | None:
    """Return the step of the one run in *history* to which the entry with that number belongs; None if none does."""
    steps = await StepsOfRun.of(history.runs[-1], history, converter, with_data=True)
    return steps.step(number)


async def visits_of(history: InstanceHistory, converter: DataConverter, part: str, status: str = "") -> Visits:
    """Return the visits of the part of the definition with that path, and its calls, in all runs of an instance.

    With a *status* only those that have it are told; all are counted.
    """
    found: list[Brief] = []
    for run in history.runs:
        steps = await StepsOfRun.of(run, history, converter)
        found += (steps.brief(one) for one in steps.every_span if steps.part_of(one.entries[0]) == part)
    shown = [one for one in found[::-1] if not status or one.status == status]
    shown.sort(key=lambda one: (one.kind != "state", one.status != "failed"))
    return Visits(part, shown[:MAX_STEPS], len(found), Counter(one.status for one in found))


_NO_DEFINITION: Final = "no worker has begun with it yet, or it is a call that runs by itself"


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """A definition that an instance has run, in one or more executions, with what happened."""

    workflow_id: str
    definition: Definition
    course: Course
    trace: tuple[TraceEntry, ...]
    closed_as: Literal["failed", "stopped"] | None
    failures: tuple[str, ...]
    """Why some histories could not be replayed to their end."""
    ids: tuple[EntryId, ...] = ()
    """The identity of each entry of the trace."""
    attempted: Mapping[int, Attempted] = field(default_factory=dict)
    """The attempts at its calls, by the numbers of the entries that began these, where there were several."""
    seen: datetime | None = None
    """When it was looked at, if it went on then."""

    @property
    def picture(self) -> Picture:
        """The definition's diagram, with what happened on it. Raises UsageError without the extra `drawing`."""
        return self.definition.picture(self.course, *self._about)

    @property
    def timeline(self) -> Timeline | None:
        """A timeline of what happened; None if nothing has begun."""
        name = self.definition.name or self.definition.id
        return timeline_of(
            self.trace,
            name,
            *self._about,
            closed_as=self.closed_as,
            now=self.seen,
            attempted=self.attempted,
            ids=self.ids,
        )

    @property
    def _about(self) -> list[str]:
        missing = [f"not all is shown, as this release cannot follow the history: {one}" for one in self.failures]
        return [f"instance {self.workflow_id}: {self.course.words}", *missing]


async def runs_in(file: Path) -> list[DrawnRun]:
    """Return what happened in the execution whose history is in *file*. Raises UsageError if it has no definition."""
    return runs_of([await replay_file(file)])


async def runs_of_instance(client: Client, workflow_id: str) -> list[DrawnRun]:
    """Return what happened in an instance, for each definition that it has run, the latest last.

    Attempts of calls in progress are taken from the server. Raises UsageError if the id is unknown.
    """
    return await runs_drawn(await history_of(client, workflow_id), client.temporal.data_converter)


async def runs_drawn(history: InstanceHistory, converter: DataConverter) -> list[DrawnRun]:
    """Return what happened in an instance; *converter* reads its payloads. Raises UsageError if it ran nothing."""
    steps = [await StepsOfRun.of(run, history, converter) for run in history.runs]
    attempted = {EntryId(one.run.run_id, number): made for one in steps for number, made in one.attempted().items()}
    found = [_with_attempts(run, attempted) for run in runs_of([one.replayed for one in steps])]
    if history.runs[-1].goes_on:
        found[-1] = replace(found[-1], seen=datetime.now(UTC))
    return found


def runs_of(executions: Sequence[ReplayedRun]) -> list[DrawnRun]:
    """Return the definitions that successive executions ran. Raises UsageError if they ran none."""
    known = [(one.definition, one) for one in executions if one.definition is not None]
    if not known:
        failures = [one.failure for one in executions if one.failure is not None]
        raise UsageError("the history shows no definition", "; ".join(failures) or _NO_DEFINITION)
    runs = []
    for _, group in groupby(known, key=lambda pair: pair[0].digest):
        same = list(group)
        definition, last = same[-1]
        trace = tuple(entry for _, one in same for entry in one.trace)
        ids = tuple(EntryId(one.run_id, number) for _, one in same for number in range(len(one.trace)))
        course = course_of(definition.outline, trace, last.closed_as)
        told = tuple(one.failure for _, one in same if one.failure is not None)
        runs.append(DrawnRun(last.workflow_id, definition, course, trace, last.closed_as, told, ids))
    return runs


def _with_attempts(run: DrawnRun, attempted: Mapping[EntryId, Attempted]) -> DrawnRun:
    """Return a run with what its trace lacks: the attempts at its calls, and why the latest failed."""
    found = {}
    for number, (id_, entry) in enumerate(zip(run.ids, run.trace, strict=True)):
        if id_ not in attempted:
            continue
        found[number] = known = attempted[id_]
        part = run.definition.outline.part_of(entry.state, entry.lane)
        own = None if part is None else run.course.parts.get(part.path)
        if own is not None:
            own.retried += known.made - 1
            own.error = known.error or own.error
    return replace(run, attempted=found)
