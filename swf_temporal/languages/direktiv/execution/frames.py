"""Frames: the stored progress of an instance, its state and that state's actions.

A frame is created when the part that it describes begins, and is None before. The body of a state's frame depends on
the type of the state.
"""

from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.runtime.execution import ExecutionFrame
from swf_temporal.runtime.progress import EventsFrame, Front, Value
from swf_temporal.runtime.retrying import AttemptsFrame


@dataclass(slots=True)
class ActionFrame(Record):
    """One action; also the body of a state with a single action."""

    KIND: ClassVar[str] = "action"
    attempts: AttemptsFrame = field(default_factory=AttemptsFrame)
    id: str | None = None
    """The id of the call or sub-workflow that is in progress or has failed; another attempt at it reuses the id."""
    result: Value | None = None
    """Its result, once it is done."""


@dataclass(slots=True)
class ForeachBody(Record):
    """The calls of a foreach: the completed ones, from the first without gaps, are only in the front."""

    KIND: ClassVar[str] = "foreach"
    front: Front
    actions: dict[int, ActionFrame] = field(default_factory=dict)


@dataclass(slots=True)
class ParallelBody(Record):
    KIND: ClassVar[str] = "parallel"
    actions: dict[int, ActionFrame] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)
    """The indexes of failed actions in the mode `or`."""


@dataclass(slots=True)
class AwaitedKind(Record):
    """A kind of event: its type and required attributes."""

    type: str
    context: dict[str, JSON]


@dataclass(slots=True)
class EventsBody(EventsFrame):
    """A wait for events of several kinds; events that arrived are stored by the number of the kind."""

    KIND: ClassVar[str] = "events"
    kinds: list[AwaitedKind] = field(default_factory=list)


@dataclass(slots=True)
class DelayBody(Record):
    KIND: ClassVar[str] = "delay"
    until: float


@dataclass(slots=True)
class GetterBody(Record):
    KIND: ClassVar[str] = "getter"
    found: dict[str, JSON] = field(default_factory=dict)


@dataclass(slots=True)
class SetterBody(Record):
    """The progress of a setter: the number of variables that were stored."""

    KIND: ClassVar[str] = "setter"
    stored: int = 0


B = TypeVar("B", ActionFrame, ParallelBody, GetterBody, SetterBody)
"""The bodies that have no required fields."""


@dataclass(slots=True)
class StateFrame(Record):
    """The running state. Its log and its metadata were emitted when its frame was created."""

    since: float
    """The time at which it was entered, in seconds since the epoch."""
    body: "ActionFrame | ForeachBody | ParallelBody | EventsBody | DelayBody | GetterBody | SetterBody | None" = None
    again: float | None = None
    """The time at which its timeout was restarted, after it had failed."""

    def body_as(self, kind: type[B]) -> B:
        """Return the body; create it if the state has none yet."""
        if not isinstance(self.body, kind):
            self.body = kind()
        return self.body


@dataclass(slots=True)
class RaisedError(Record):
    """The error of an `error` state."""

    code: str
    message: str


@dataclass(slots=True)
class InstanceFrame(ExecutionFrame):
    """The whole instance: its state, which is None at the end, and the progress of that state."""

    run: StateFrame | None = None
    failed: RaisedError | None = None
    """The error that the instance fails with once it ends."""
    interrupted: bool = False
    """Whether a state got the error of the soft timeout."""
    thread: dict[str, str] = field(default_factory=dict)
    """The variables of the scope `thread` that it created: for each key, the instance that did."""
