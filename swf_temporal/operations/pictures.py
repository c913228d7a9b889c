"""Pictures of instances: their definitions, with what happened drawn on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Final, Literal

from temporalio.converter import DataConverter

from swf_temporal.base.errors import UsageError
from swf_temporal.drawing.course import Course, course_of
from swf_temporal.drawing.model import EntryId, Picture
from swf_temporal.drawing.timeline import Attempted, Timeline, timeline_of
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import InstanceHistory, history_of, replay_file
from swf_temporal.operations.steps import StepsOfRun
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.temporal.replaying import ReplayedRun

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
