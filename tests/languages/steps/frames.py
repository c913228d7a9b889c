"""How far an instance is: the walks through its lists of steps nest as the lists do."""

from dataclasses import dataclass, field

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.runtime.execution import ExecutionFrame
from swf_temporal.runtime.progress import EventsFrame, Front, Value
from swf_temporal.runtime.retrying import AttemptsFrame


@dataclass(slots=True)
class StepFrame(EventsFrame):
    """The step that is running; each kind of step uses some of it."""

    until: float | None = None
    """When a wait is over."""
    attempts: AttemptsFrame | None = None
    caught: JSON = None
    """The error that is dealt with."""
    event: JSON = None
    """Of a stream: the event that is dealt with."""
    read: int = 0
    """Of a stream: how many were."""
    front: Front | None = None
    """Of iterations: those that are complete."""
    iterations: "dict[int, ListFrame]" = field(default_factory=dict)
    """Those that are not."""
    inner: "dict[str, ListFrame]" = field(default_factory=dict)
    """The lists of steps that it runs, by name."""
    failed: list[int] = field(default_factory=list)
    """Of a race: those that failed."""


@dataclass(slots=True)
class ListFrame(Record):
    data: JSON
    at: int = 0
    """How many steps were taken."""
    step: StepFrame | None = None
    is_done: bool = False


@dataclass(slots=True)
class LeftFrame(Record):
    state: str
    """The path of the list."""
    lane: str
    """The path of execution."""
    variables: dict[str, JSON]
    steps: ListFrame


@dataclass(slots=True)
class StepsFrame(ExecutionFrame):
    steps: ListFrame | None = None
    left: list[LeftFrame] = field(default_factory=list)
    keys: dict[str, JSON] = field(default_factory=dict)
    """The correlation keys that events have fixed."""
    ended: Value | None = None
    """The data that the steps ended with, while others that were left run on."""
