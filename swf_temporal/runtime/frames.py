"""Frames that paths of execution have in any language: what of a step outlasts a suspension.

A language derives its own from them and nests them as it likes. A moment is in seconds of the epoch, and fixed when it
is first asked for.
"""

from dataclasses import dataclass, field

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record, nested


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
