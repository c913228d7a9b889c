"""Frames: how far an instance is, its state and that state's actions, as it is stored.

A frame is made when what it tells of begins, and is None before. What of a state differs by its type is its body.
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
    """One action; also the body of a state that has no other."""

    KIND: ClassVar[str] = "action"
    attempts: AttemptsFrame = field(default_factory=AttemptsFrame)
    id: str | None = None
    """The id of the call, or the sub-workflow, that is under way or has failed: made again, it is the same one."""
    result: Value | None = None
    """What it yielded, once it is done."""


@dataclass(slots=True)
class ForeachBody(Record):
    """The calls of a foreach: those that are complete from the first on stand in the front alone."""

    KIND: ClassVar[str] = "foreach"
    front: Front
    actions: dict[int, ActionFrame] = field(default_factory=dict)


@dataclass(slots=True)
class ParallelBody(Record):
    KIND: ClassVar[str] = "parallel"
    actions: dict[int, ActionFrame] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)
    """In the mode `or`: the numbers of those that failed."""


@dataclass(slots=True)
class AwaitedKind(Record):
    """A kind of event: its type, and what its attributes must be."""

    type: str
    context: dict[str, JSON]


@dataclass(slots=True)
class EventsBody(EventsFrame):
    """A wait for events of some kinds, by whose numbers those that came are known."""

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
    """The number of variables that were stored."""

    KIND: ClassVar[str] = "setter"
    stored: int = 0


B = TypeVar("B", ActionFrame, ParallelBody, GetterBody, SetterBody)
"""The bodies that begin empty."""


@dataclass(slots=True)
class StateFrame(Record):
    """The state that is running. It was entered, and told its log and its metadata, when its frame was made."""

    since: float
    """When it was entered, as seconds of the epoch."""
    body: "ActionFrame | ForeachBody | ParallelBody | EventsBody | DelayBody | GetterBody | SetterBody | None" = None
    again: float | None = None
    """When its time began anew, after it had failed."""

    def body_as(self, kind: type[B]) -> B:
        """Return the body, which is made where the state has none yet."""
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
    """The whole instance: its state, which is None at the end, and how far that is."""

    run: StateFrame | None = None
    failed: RaisedError | None = None
    """The error that the instance fails with once it ends."""
    interrupted: bool = False
    """Whether a state met the soft timeout."""
    thread: dict[str, str] = field(default_factory=dict)
    """The variables of the scope `thread` that it made: by their keys, the instance that did."""
