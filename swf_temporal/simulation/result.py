"""The result of a simulated run, and the form in which runs of both hosts are compared with expectations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Self

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError, WorkflowFault
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceEntry, TraceKind

if TYPE_CHECKING:
    from swf_temporal.drawing.model import Picture
    from swf_temporal.drawing.timeline import Timeline

Status = Literal["completed", "failed", "waiting", "cancelled"]


@dataclass(frozen=True, slots=True)
class SimulationError:
    """The error of a simulated run."""

    name: str
    code: str
    message: str
    state: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True)
class SimulatedInstance:
    """An instance that another one started."""

    workflow: str
    """The definition that it ran."""
    status: Status
    error: SimulationError | None = None


@dataclass(frozen=True, slots=True)
class Simulation:
    """The outcome of a simulated run."""

    status: Status
    """`waiting` means that the run waits for an event that was not sent."""
    output: JSON
    error: SimulationError | None
    produced_events: tuple[dict[str, JSON], ...]
    """The events that the run produced, as CloudEvents, in order."""
    trace: tuple[TraceEntry, ...]
    elapsed: timedelta
    """Virtual time from start to end."""
    calls: tuple[tuple[str, JSON], ...] = ()
    """Every attempt to call a function: its name and the arguments."""
    requests: tuple[dict[str, JSON], ...] = ()
    """The requests to the services of a scenario."""
    unanswered: tuple[str, ...] = ()
    """Messages about requests for which the scenario has no service or no answer."""
    delays: tuple[tuple[str, timedelta], ...] = ()
    """Every pause before a further attempt at a call: the function's name, and how long it was."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """The values of variables after the run, for languages that have variables: see `simulate`."""
    logs: tuple[JSON, ...] = ()
    """The values that the definitions logged, in order."""
    metadata: JSON = None
    """The latest metadata that the instance published about itself; None is nothing."""
    answers: Mapping[str, JSON] = field(default_factory=dict)
    """The last answer to each update, and the answer to each query when the run had ended, by their names."""
    instances: tuple[SimulatedInstance, ...] = ()
    """The instances that were started by others, in the order in which they began."""
    untaken_events: tuple[dict[str, JSON], ...] = ()
    """The given events that no instance waited for."""
    fault: WorkflowFault | None = field(default=None, compare=False)
    definition: Definition | None = field(default=None, compare=False, repr=False)
    """The definition that was run."""

    def _repr_html_(self) -> str | None:
        """Return a picture of the definition with the course of the run, and a timeline, for notebooks."""
        from swf_temporal.drawing.svg import notebook_html  # noqa: PLC0415 - in notebooks only

        return None if self.definition is None else notebook_html(self._drawn)

    def _drawn(self) -> "Iterator[Picture | Timeline]":
        from swf_temporal.drawing.course import course_of  # noqa: PLC0415 - as above
        from swf_temporal.drawing.timeline import timeline_of  # noqa: PLC0415 - as above

        definition = self.definition
        if definition is not None:
            closed_as: Literal["stopped"] | None = "stopped" if self.status == "cancelled" else None
            course = course_of(definition.outline, self.trace, closed_as)
            yield definition.picture(course, f"simulated: {course.words}")
            timeline = timeline_of(self.trace, definition.name or definition.id, closed_as=closed_as)
            yield from () if timeline is None else (timeline,)

    def raise_for_status(self) -> Self:
        """Return this outcome if the run completed.

        Raises RunEnded, as `result()` of an instance does, if it failed or was cancelled, and UsageError if it waits
        for an event that was not sent.
        """
        if self.status == "completed":
            return self
        if self.status == "waiting":
            states = [entry.name for entry in self.trace if entry.kind is TraceKind.STATE_ENTERED]
            where = f"in {states[-1]!r} " if states else ""
            raise UsageError(f"the run waits {where}for an event that was not sent", "give it in `events`")
        if self.fault is None or self.status == "cancelled":
            raise RunEnded("the run was cancelled", "cancelled", self.fault)
        where = f" in {self.fault.state!r}" if self.fault.state else ""
        text = f"the run failed{where}: {self.fault.name}: {self.fault.message}"
        raise RunEnded(text, "failed", self.fault) from self.fault


def error_of(fault: WorkflowFault) -> SimulationError:
    """Return *fault* in the form for callers."""
    return SimulationError(fault.name, fault.code, fault.message, fault.state, fault.action)


def last_metadata(trace: Sequence[TraceEntry]) -> JSON:
    """Return the latest metadata that an instance with this trace published about itself; None is nothing."""
    values: list[JSON] = [entry.detail["value"] for entry in trace if entry.kind is TraceKind.METADATA_SET]
    return values[-1] if values else None


def last_answers(trace: Sequence[TraceEntry]) -> dict[str, JSON]:
    """Return the last answer to each update that an instance with this trace answered."""
    return {entry.name: entry.detail["answer"] for entry in trace if entry.kind is TraceKind.EVENT_ANSWERED}


def retry_delay(entry: TraceEntry) -> timedelta | None:
    """Return the pause before the further attempt that *entry* reports, if it reports one."""
    if entry.kind is not TraceKind.ACTION_RETRIED or "delay" not in entry.detail:
        return None
    return timedelta(seconds=entry.detail["delay"])


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """The observed behaviour of a run, on either host."""

    status: str
    output: JSON = None
    error: Mapping[str, JSON] | None = None
    """Name, code, message, state and action of the fault with which the run failed."""
    produced: Sequence[Mapping[str, JSON]] = ()
    """The events produced, as CloudEvents."""
    calls: Sequence[tuple[str, JSON]] = ()
    """Every attempt to call a function: its name and the arguments."""
    delays: Sequence[tuple[str, timedelta]] = ()
    """Every pause before a further attempt: the function's name, and how long it is."""
    requests: Sequence[Mapping[str, JSON]] = ()
    """The requests to services: `service`, `request`, its `query`, `headers` with lower-case names, `body`."""
    unanswered: Sequence[str] = ()
    """Messages about requests for which the scenario has no service or no answer."""
    trace: Sequence[TraceEntry] = ()
    answers: Mapping[str, JSON] = field(default_factory=dict)
    """The last answer to each update, and the answer to each query when the run had ended, by their names."""
    elapsed: timedelta | None = None
    """None if time is not virtual."""
    starts: Sequence[datetime] | UsageError = ()
    """The starts by the schedule that the scenario asks about; or why the definition has none."""

    @property
    def states(self) -> tuple[str, ...]:
        """The states entered, in order."""
        return tuple(entry.name for entry in self.trace if entry.kind is TraceKind.STATE_ENTERED)

    @property
    def logs(self) -> tuple[JSON, ...]:
        """The values that the instance logged, in order."""
        return tuple(entry.detail["value"] for entry in self.trace if entry.kind is TraceKind.LOGGED)

    @property
    def metadata(self) -> JSON:
        """The latest metadata that the instance published about itself; None is nothing."""
        return last_metadata(self.trace)
