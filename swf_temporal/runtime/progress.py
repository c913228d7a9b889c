"""Progress records: the record of a suspended run, and the frames in it.

A progress record is written whenever the run continues as new. If the host can hold more than one payload, it is handed
the outputs that were added since the last time when the run is suspended: these are a *part*, which is written once,
carried over as it is, and read when all outputs are needed.

A language derives its own frames from these, and nests them. Times are in seconds since the epoch, and fixed when they
are first needed.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record, nested
from swf_temporal.runtime.host import ContinueTimeout, Host
from swf_temporal.runtime.inbox import InboxRecord


@dataclass(slots=True)
class Value(Record):
    """A value of a workflow that may not exist yet: null is a value, too."""

    value: JSON


@dataclass(slots=True)
class ProgressRecord(Record):
    """The progress record of a run, which survives its suspension.

    Fields that this release does not know describe a time that has passed when the run resumes: they are ignored.
    """

    WHAT: ClassVar[str] = "a run's progress"

    frame: dict[str, Any] | None = None
    """The progress of the execution, as its language stores it; None if the instance has not begun."""
    input: JSON = None
    started: float | None = None
    """When the instance began, in seconds since the epoch."""
    inbox: InboxRecord | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    """How often each id was used. For complete iterations, only the highest number is kept."""
    limit: ContinueTimeout | None = None
    """Replaces the workflow's own timeout."""
    same: list[list[list[str | int]]] = field(default_factory=list)
    """The places of the record that have the values of others: see `runtime/inbox.py`."""
    parts: list[int] = field(default_factory=list)
    """The numbers of the parts that the host carries over beside the record, in their order."""


@dataclass(slots=True)
class Front(Record):
    """Iterations that are complete, from the first on: they no longer have frames."""

    of: int
    """The number of all iterations."""
    count: int = 0
    """The number of complete ones."""
    outputs: list[JSON] = field(default_factory=list)
    """The output of each complete one, if outputs are kept."""
    parts: list[int] = field(default_factory=list)
    """The parts of the outputs that the host holds, which come before *outputs*."""

    @property
    def results(self) -> JSON:
        """The outputs that are in this record."""
        return self.outputs

    def hand_over(self, host: Host) -> None:
        """Hand the outputs to *host*, if it can hold them and they are large; the run is about to be stored."""
        parts = host.hold(self.outputs)
        if parts:
            self.parts.extend(parts)
            self.outputs = []

    async def all_outputs(self, host: Host) -> list[JSON]:
        """Return all outputs. They are not needed any more afterwards."""
        if not self.parts:
            return self.outputs
        parts, self.parts = self.parts, []
        found: list[JSON] = []
        for part in parts:
            found.extend(host.held(part))
            # Reading is slow enough that each part gets a workflow task to itself.
            await host.yield_control()
        return found + self.outputs


class TimedFrame(Record):
    __slots__ = ()

    def forget_deadlines(self) -> None:
        """Forget when its timeouts end: they start again when it resumes."""
        raise NotImplementedError

    def forget_attempts(self) -> None:
        """Forget the attempts that were made at it: when it resumes, it gets the full number again."""


def forget_deadlines(frame: Record) -> None:
    """Forget when the timeouts in *frame*, and in those inside it, end. Sleeps keep their ends."""
    for timed in nested(frame, TimedFrame):
        timed.forget_deadlines()


@dataclass(slots=True)
class WaitingFrame(TimedFrame):
    deadline: float | None = None
    """When it times out."""
    awaited: bool = False
    """Whether the wait was added to the trace: only once, however often the instance is suspended meanwhile."""

    def forget_deadlines(self) -> None:
        """Forget when its timeout ends."""
        self.deadline = None


@dataclass(slots=True)
class EventsFrame(WaitingFrame):
    """A wait for several events."""

    taken: dict[str, JSON] = field(default_factory=dict)
    """The events that were taken, as records, by the names of their kinds."""
    fixed: list[str] = field(default_factory=list)
    """The correlation keys that these events fixed."""


@dataclass(slots=True)
class WalkFrame(Record):
    """A walk through the states of a scope, from one to the next."""

    state: str
    """The name of the state that is running."""
    data: JSON
    """The data that it began with."""
