"""Frames: the stored progress of an instance, its task lists and tasks.

A frame is created when the part that it describes begins. The body of a task's frame depends on the type of the task.
"""

from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
from swf_temporal.runtime.execution import ExecutionFrame
from swf_temporal.runtime.progress import EventsFrame, TimedFrame, Value
from swf_temporal.runtime.retrying import AttemptsFrame


@dataclass(frozen=True, slots=True)
class ListEnd:
    """The end of a task list."""

    data: JSON
    is_exit: bool = False
    """Whether a task left the list by the directive `exit`."""


@dataclass(frozen=True, slots=True)
class WorkDone:
    """The raw output of a task, and the flow directive that it follows."""

    data: JSON
    then: str | None = None


class WorkflowEnded(Exception):  # noqa: N818 - not an error: it unwinds the tasks of an instance that has ended
    """Raised by a task that ends the workflow."""

    def __init__(self, output: JSON) -> None:
        super().__init__()
        self.output = output


@dataclass(slots=True)
class ListFrame(Record):
    """A walk through a task list: the index of the task that is running, and its raw input."""

    at: int
    data: JSON
    task: "TaskFrame | None" = None
    """None before it begins."""


@dataclass(slots=True)
class CallBody(Record):
    """A call of a function, or of another workflow."""

    KIND: ClassVar[str] = "call"
    id: str | None = None
    """The id of the call that is in progress or has failed; when it is made again, the id is the same."""
    unique: str | None = None
    """The part of a container's name that is its own, also if the call is made again."""
    arguments: Value | None = None
    """The arguments of a function that is a task, once it has begun: what it exports does not change them."""
    function: "TaskFrame | None" = None
    """The progress of this function."""
    subscription: "SubscriptionFrame | None" = None


@dataclass(slots=True)
class SubscriptionFrame(Record):
    """A subscription to messages."""

    name: str
    """Its name, by which a broker knows it."""
    until: float | None = None
    """When it ends, in seconds since the epoch."""
    receipt: JSON = None
    """The receipt that acknowledges the last portion of messages."""
    consumed: list[JSON] = field(default_factory=list)
    pending: list[JSON] = field(default_factory=list)
    """The messages that were received and are not consumed yet."""
    step: ListFrame | None = None
    """The progress of what is done for the first of them."""
    is_over: bool = False


@dataclass(slots=True)
class DoBody(Record):
    KIND: ClassVar[str] = "do"
    tasks: ListFrame


@dataclass(slots=True)
class ForBody(Record):
    """A loop: its items, the index of the running iteration, and the data that this begins with."""

    KIND: ClassVar[str] = "for"
    items: list[JSON]
    data: JSON
    index: int = 0
    tasks: ListFrame | None = None


@dataclass(slots=True)
class ForkBody(Record):
    """The branches of a fork, by their indexes: those that are running, and the outputs of those that have ended."""

    KIND: ClassVar[str] = "fork"
    running: dict[int, "TaskFrame"] = field(default_factory=dict)
    outputs: dict[int, Value] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)
    fault: JSON = None
    """The last fault of a branch that competes with others."""


@dataclass(slots=True)
class ListenBody(EventsFrame):
    """A wait for events. Those taken for `all` are kept by the number of their filter."""

    KIND: ClassVar[str] = "listen"
    begun: bool = False
    expected: dict[str, JSON] = field(default_factory=dict)
    """The values of correlation keys: those that the definition expects, and those that events fixed."""
    fits: dict[str, list[str]] = field(default_factory=dict)
    """For each event that was taken for `all`, by its number: the filters that it fits."""
    given_back: list[str] = field(default_factory=list)
    """The events that were given back since one was taken, since expressions do not hold for them."""
    consumed: list[JSON] = field(default_factory=list)
    """The events and messages consumed, as the output has them."""
    pending: list[JSON] = field(default_factory=list)
    """The events that were taken, as records, and are not consumed yet."""
    pending_all: list[JSON] = field(default_factory=list)
    """The events that were taken for `all`, as records, in the order in which they came."""
    step: ListFrame | None = None
    """The progress of what is done for the first of the pending events."""
    until: list[str] = field(default_factory=list)
    """The filters of `until` of which an event was taken."""
    is_over: bool = False


@dataclass(slots=True)
class TryBody(Record):
    KIND: ClassVar[str] = "try"
    attempts: AttemptsFrame = field(default_factory=AttemptsFrame)
    first: float | None = None
    """When the first attempt failed, in seconds since the epoch."""
    attempt_until: float | None = None
    """When the running attempt times out."""
    tasks: ListFrame | None = None
    """The attempt that is in progress."""
    error: dict[str, JSON] | None = None
    """The error that was caught, once no attempt follows."""
    handler: ListFrame | None = None


@dataclass(slots=True)
class WaitBody(Record):
    KIND: ClassVar[str] = "wait"
    until: float


@dataclass(slots=True)
class LoopBody(Record):
    """A loop of a zigflow document, whose result has those of its iterations."""

    KIND: ClassVar[str] = "loop"
    items: list[JSON]
    """The keys or indexes of its items, each with its value."""
    state: JSON
    """The state that the next iteration begins with."""
    is_object: bool = False
    results: list[JSON] = field(default_factory=list)
    tasks: ListFrame | None = None


@dataclass(slots=True)
class BranchesBody(Record):
    """The branches of a fork of a zigflow document, by their indexes."""

    KIND: ClassVar[str] = "branches"
    running: dict[int, ListFrame] = field(default_factory=dict)
    outputs: dict[int, Value] = field(default_factory=dict)
    faults: dict[int, JSON] = field(default_factory=dict)
    """The faults of those that failed."""


@dataclass(slots=True)
class RedirectBody(Record):
    """The tasks that a switch of a zigflow document leads to, and from which it comes back."""

    KIND: ClassVar[str] = "redirect"
    target: str
    tasks: ListFrame


@dataclass(slots=True)
class MessagesBody(EventsFrame):
    """A wait for the signals and updates that a listen task of a zigflow document names."""

    KIND: ClassVar[str] = "messages"
    data: dict[str, JSON] = field(default_factory=dict)
    """The payloads, by the keys of `$data`."""
    done: list[str] = field(default_factory=list)
    """The names of those that were accepted."""


B = TypeVar("B", BranchesBody, CallBody, ForkBody, ListenBody, MessagesBody, TryBody)
"""The bodies that have no required fields."""


@dataclass(slots=True)
class TaskFrame(TimedFrame):
    """A task that is running."""

    since: float
    """When it began, in seconds since the epoch."""
    extended: int = 0
    """How many lists of extensions are done, those before the task and those after it."""
    extension: ListFrame | None = None
    """The list of an extension that is running."""
    input: Value | None = None
    """Its transformed input, once it has that."""
    deadline: float | None = None
    body: (
        "BranchesBody | CallBody | DoBody | ForBody | ForkBody | ListenBody | LoopBody | MessagesBody | RedirectBody"
        " | TryBody | WaitBody | None"
    ) = None
    raw_output: Value | None = None
    """Its output before transformation, from when its work is done until its transformed output is final."""
    output: Value | None = None
    """Its transformed output, once it has that."""
    then: str | None = None
    """The flow directive to follow, once it has its output."""

    def body_as(self, kind: type[B]) -> B:
        """Return the body; create it if the task has none yet."""
        if not isinstance(self.body, kind):
            self.body = kind()
        return self.body

    def forget_deadlines(self) -> None:
        """Forget when its timeout ends."""
        self.deadline = None
        if isinstance(self.body, TryBody):
            self.body.attempt_until = self.body.first = None

    def forget_attempts(self) -> None:
        """Forget the attempts that were made."""
        if isinstance(self.body, TryBody):
            self.body.attempts = AttemptsFrame()
        if isinstance(self.body, ForkBody) and len(self.body.failed) == len(self.body.running):
            self.body.failed = []  # all that competed have failed: they do so again


@dataclass(slots=True)
class InstanceFrame(ExecutionFrame):
    """The whole instance."""

    tasks: ListFrame | None = None
    """The walk through its tasks; None before it begins."""
    context: JSON = None
    """The value of `$context`."""
    deadline: float | None = None
    ended: Value | None = None
    """Its output before transformation, once its tasks are done."""
    again: float | None = None
    """When it runs again, if its definition says that it does."""


@dataclass(slots=True)
class ZigflowFrame(InstanceFrame):
    """The whole instance of a zigflow document, whose data are its state: `context`, `data` and `output`."""

    env: dict[str, JSON] = field(default_factory=dict)
    """The variables of the worker's environment that it may see."""
    queries: dict[str, str] = field(default_factory=dict)
    """The task that answers each query, by its place in the definition."""
