"""The record of a run that was suspended.

It stands in the progress of the run, which is written anew whenever the run continues as new. Where the host can hold
more than one payload, what has been added since the last time is handed over to it when the run is suspended: that is a
*part*, which is written once, goes along as it is, and is read when all outputs are needed.

A language derives its own from them and nests them as it likes. A moment is in seconds of the epoch, and fixed when it
is first asked for.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record, nested
from swf_temporal.runtime.host import ContinueTimeout, Host
from swf_temporal.runtime.inbox import InboxRecord


@dataclass(slots=True)
class Value(Record):
    """A value of a workflow where there may be none yet: null is one, too."""

    value: JSON


@dataclass(slots=True)
class ProgressRecord(Record):
    """The progress record of a run, which survives its suspension.

    A field that this release does not know belongs to a moment that has passed once the run goes on: it is passed over.
    """

    WHAT: ClassVar[str] = "a run's progress"

    frame: dict[str, Any] | None = None
    """How far the execution is: its own record, as its language stores it. None of an instance that has not begun."""
    input: JSON = None
    started: float | None = None
    """When the instance began, as seconds of the epoch."""
    inbox: InboxRecord | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    """How often each id was given. Of iterations that are complete only the highest number is left."""
    limit: ContinueTimeout | None = None
    """What takes the place of the workflow's own timeout."""
    same: list[list[list[str | int]]] = field(default_factory=list)
    """Which places of the record have what others have: see `runtime/inbox.py`."""
    parts: list[int] = field(default_factory=list)
    """The numbers of the parts that an engine carries on beside the record, in their order: `runtime/progress.py`."""


@dataclass(slots=True)
class Front(Record):
    """Iterations that are complete, from the first on: they have no frames of their own any more."""

    of: int
    """How many iterations there are in all."""
    count: int = 0
    """How many are complete."""
    outputs: list[JSON] = field(default_factory=list)
    """What each of them came to, where that is kept."""
    parts: list[int] = field(default_factory=list)
    """The parts that the host holds of these outputs, before those that stand here."""

    @property
    def results(self) -> JSON:
        """What they came to, as far as it stands here."""
        return self.outputs

    def hand_over(self, host: Host) -> None:
        """Let *host* hold the outputs, if it can and they are large; the run is about to be written down."""
        parts = host.hold(self.outputs)
        if parts:
            self.parts.extend(parts)
            self.outputs = []

    async def all_outputs(self, host: Host) -> list[JSON]:
        """Return all of them. They are not needed any more afterwards."""
        if not self.parts:
            return self.outputs
        parts, self.parts = self.parts, []
        found: list[JSON] = []
        for part in parts:
            found.extend(host.held(part))
            # Reading takes long enough that each part has a task of its own.
            await host.yield_control()
        return found + self.outputs


class TimedFrame(Record):
    __slots__ = ()

    def forget_deadlines(self) -> None:
        """Forget when its timeouts end: they begin anew when it goes on."""
        raise NotImplementedError

    def forget_attempts(self) -> None:
        """Forget the attempts that were made at it: when it goes on there are as many again."""


def forget_deadlines(frame: Record) -> None:
    """Forget when the timeouts in *frame*, and in those inside it, end. Sleeps go on until when they were to."""
    for timed in nested(frame, TimedFrame):
        timed.forget_deadlines()


@dataclass(slots=True)
class WaitingFrame(TimedFrame):
    deadline: float | None = None
    """When its timeout ends it."""
    awaited: bool = False
    """Whether the wait was added to the trace: it is once, however often the instance is suspended meanwhile."""

    def forget_deadlines(self) -> None:
        """Forget when its timeout ends."""
        self.deadline = None


@dataclass(slots=True)
class EventsFrame(WaitingFrame):
    """A wait for several events."""

    taken: dict[str, JSON] = field(default_factory=dict)
    """The events that came, as records, by the names of their kinds."""
    fixed: list[str] = field(default_factory=list)
    """The correlation keys that these events fixed."""


@dataclass(slots=True)
class WalkFrame(Record):
    """A walk through the states of a scope, from one to the next."""

    state: str
    """The name of the state that is running."""
    data: JSON
    """The data that it began with."""
