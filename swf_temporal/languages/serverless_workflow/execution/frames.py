"""Frames: the stored progress of each path of execution of an instance.

Frames are typed records and nest as paths do: an instance holds the walk through its states, the walk holds the running
state, the state its body, and so on down to a single action. A path updates its frame as it runs; a suspended instance
is restored from it, and what its frames record as done is not done again. A frame is created when the part that it
describes begins. Flags record what was done; times are in seconds since the epoch and fixed when first computed.

Frames outlive releases (see docs/compatibility.md): a field keeps its meaning forever, and a new one has a default.

An instance's data is kept in several frames: as a state began with it, as its actions have changed it, and as
compensation has. `InstanceFrame.latest_data` is the latest of them: what follows a state that was interrupted, by an
error or by the workflow's timeout, begins with it. Each frame asks those inside it; a type of state provides the
`latest` of its body.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record, nested
from swf_temporal.languages.serverless_workflow.execution.step import Step
from swf_temporal.runtime import progress
from swf_temporal.runtime.host import CallAttempts
from swf_temporal.runtime.progress import EventsFrame, Front, TimedFrame, Value, WaitingFrame
from swf_temporal.runtime.retrying import AttemptsFrame


@dataclass(slots=True)
class ActionResult(Record):
    """The result of an action, and its place in the data."""

    path: list[str | int] | None = None
    """None without toStateData."""
    value: JSON = None


@dataclass(slots=True)
class CallFrame(Record):
    """A call or sub-workflow that continues in the next execution."""

    arguments: JSON = None
    """The arguments, if the host makes the attempts one by one."""
    attempts: CallAttempts | None = None
    """The progress of those attempts."""
    config_key: str | None = None
    """The service chosen from those with the same name."""


@dataclass(slots=True)
class ActionFrame(WaitingFrame):
    holds: bool | None = None
    """Whether its condition holds; None until evaluated."""
    before: float | None = None
    """The end of the sleep before its invocation."""
    after: float | None = None
    """The end of the sleep after its invocation."""
    done: bool = False
    """Whether its invocation is done."""
    result: Value | None = None
    """The result of its invocation, if there was one."""
    id: str | None = None
    """The id of the call or sub-workflow that is in progress or has failed; another attempt at it reuses the id."""
    call: CallFrame | None = None
    attempts: AttemptsFrame | None = None
    """The attempts at a sub-workflow or an exchange of events."""
    retries: AttemptsFrame | None = None
    """The attempts at a function that is called again because of its results."""
    produced: bool = False
    """Whether this attempt has produced its event."""
    answer_deadline: float | None = None
    """The time until which it waits for the event that answers it."""

    def forget_deadlines(self) -> None:
        """Reset its timeouts."""
        self.deadline = self.answer_deadline = None

    def forget_attempts(self) -> None:
        """Reset its attempts."""
        self.attempts = self.retries = self.call = None


@dataclass(slots=True)
class BesideFrame(Record):
    action: ActionFrame | None = None
    """Its progress, while it is running."""
    done: bool = False
    effect: ActionResult | None = None
    """Its result, once it is done; None if it was skipped."""


@dataclass(slots=True)
class SequenceFrame(Record):
    """Actions that run sequentially or in parallel."""

    at: int = 0
    """The number of actions that are done."""
    data: Value | None = None
    """The data with their results."""
    action: ActionFrame | None = None
    """The running action."""
    beside: dict[int, BesideFrame] = field(default_factory=dict)
    """The parallel actions, by index."""


@dataclass(slots=True)
class EntryFrame(SequenceFrame):
    """An entry of an event state, after its events arrived."""

    merged: bool = False
    """Whether the payloads of its events were merged into the data."""


@dataclass(slots=True)
class RepeatFrame(Record):
    """Actions that are repeated (`repeat`)."""

    times: int = 0
    """The number of completed rounds."""
    data: Value | None = None
    """The data after the last completed round."""
    round: SequenceFrame | None = None
    """The current round."""

    @property
    def latest(self) -> Value | None:
        """The data with the results of all actions that are done."""
        return (None if self.round is None else self.round.data) or self.data


def forget_calls(frame: Record) -> None:
    """Forget the ids of the calls in *frame*, which were cancelled, so that the execution makes new ones."""
    for action in nested(frame, ActionFrame):
        action.id = None


@dataclass(slots=True)
class PartFrame(SequenceFrame, TimedFrame):
    """One iteration of a foreach, or one branch of a parallel state."""

    effects: list[ActionResult] = field(default_factory=list)
    """The results of its actions, for the data of the state."""
    done: bool = False
    """Whether it is complete: then only this and `effects`, or `output`, are kept; neither if it was skipped."""
    deadline: float | None = None
    """The time at which the branch times out."""
    before: float | None = None
    """The time at which the iteration begins, if there is a pause between iterations."""
    walk: "WalkFrame | None" = None
    """The walk through its states, if it contains states."""
    output: Value | None = None
    """The output, in place of `effects`, if it contains states or its state has an output collection."""

    def forget_deadlines(self) -> None:
        self.deadline = None


class Body:
    """The body of a state. Each type of state with progress has a subclass."""

    __slots__ = ()

    @property
    def latest(self) -> Value | None:
        """The state's data as changed by its actions; None before, and if their results are merged at a join."""
        return None

    @property
    def parts(self) -> Iterator[tuple[str, str | None, PartFrame]]:
        """Its iterations and branches, each with its suffix to the path of the state and the name of a branch."""
        return iter(())

    def begun_anew(self) -> "StateBody | None":
        """Return the body with which another attempt at the state starts."""
        return None


@dataclass(slots=True)
class OperationBody(SequenceFrame, Body):
    KIND: ClassVar[str] = "operation"
    repeated: RepeatFrame | None = None

    @property
    def latest(self) -> Value | None:
        return self.data if self.repeated is None else self.repeated.latest


@dataclass(slots=True)
class SleepBody(Record, Body):
    KIND: ClassVar[str] = "sleep"
    until: float | None = None


@dataclass(slots=True)
class SwitchBody(WaitingFrame, Body):
    KIND: ClassVar[str] = "switch"


@dataclass(slots=True)
class CallbackBody(WaitingFrame, Body):
    """The body of a callback state: its action, and the wait for the answer."""

    KIND: ClassVar[str] = "callback"
    actions: SequenceFrame = field(default_factory=SequenceFrame)

    @property
    def latest(self) -> Value | None:
        return self.actions.data


@dataclass(slots=True)
class EventsBody(EventsFrame, Body):
    complete: bool = False
    """Whether it has all its events."""
    actions: EntryFrame | None = None
    """The entry whose actions are running."""
    data: Value | None = None
    """The data with its events, and with the results of earlier entries."""

    @property
    def latest(self) -> Value | None:
        return (None if self.actions is None else self.actions.data) or self.data


@dataclass(slots=True)
class EventBody(EventsBody):
    KIND: ClassVar[str] = "event"
    entries: int = 0
    """The number of entries that are done."""

    def begun_anew(self) -> "StateBody":
        return EventBody(taken=self.taken, fixed=self.fixed, complete=self.complete)


@dataclass(slots=True)
class EventExpressionBody(EventsBody):
    """The body of an event state of the draft of November 2019."""

    KIND: ClassVar[str] = "event expression"
    entry: int = 0
    """The entry whose expression was met, if it is complete."""
    waits: dict[str, float] = field(default_factory=dict)
    """The deadlines of entries that have one, by the number of the entry."""

    def forget_deadlines(self) -> None:
        """Reset the deadlines of entries."""
        self.waits.clear()

    def begun_anew(self) -> "StateBody":
        return EventExpressionBody(taken=self.taken, fixed=self.fixed, complete=self.complete, entry=self.entry)


@dataclass(slots=True)
class ForeachFront(Front):
    """The completed iterations of a foreach state, from the first without gaps."""

    data: Value | None = None
    """The data with the results of these iterations, if the state keeps no outputs."""
    in_turn: bool = False
    """Whether iterations are sequential: then the data also has the results of the running one."""
    over: bool = False
    """Whether the outputs of iterations, in the front or not, let no further iteration begin."""

    @property
    def results(self) -> JSON:
        """The results of these iterations, as far as they are kept here."""
        return self.outputs if self.data is None else self.data.value


@dataclass(slots=True)
class ForeachBody(Record, Body):
    KIND: ClassVar[str] = "foreach"
    front: ForeachFront | None = None
    """Set once its iterations begin."""
    iterations: dict[int, PartFrame] = field(default_factory=dict)
    """The iterations that are not in the front."""
    begun: float | None = None
    """The time at which the latest iteration begins, if there is a pause between iterations."""

    @property
    def latest(self) -> Value | None:
        return self.front.data if self.front is not None and self.front.in_turn else None

    @property
    def parts(self) -> Iterator[tuple[str, str | None, PartFrame]]:
        return ((f"[{index}]", None, part) for index, part in self.iterations.items())


@dataclass(slots=True)
class ParallelBody(Record, Body):
    KIND: ClassVar[str] = "parallel"
    branches: dict[str, PartFrame] = field(default_factory=dict)

    @property
    def parts(self) -> Iterator[tuple[str, str | None, PartFrame]]:
        return ((f"/{name}", name, part) for name, part in self.branches.items())


StateBody: TypeAlias = (
    OperationBody | SleepBody | SwitchBody | CallbackBody | EventBody | EventExpressionBody | ForeachBody | ParallelBody
)


@dataclass(slots=True)
class CompensationFrame(Record):
    """A compensation: the chains of states for the entries of the compensation log, one after the other."""

    walk: "WalkFrame | None" = None
    """The running chain."""
    data: Value | None = None
    """The data after the chains that are done."""
    done: bool = False
    """Whether the compensation is complete."""

    def latest_data(self, data: JSON) -> JSON:
        """Return the data as changed by the compensation, which began with *data*."""
        if self.walk is not None:
            return self.walk.latest_data
        return data if self.data is None else self.data.value

    def set_latest_data(self, data: JSON) -> None:
        if self.walk is None:
            self.data = Value(data)
        else:
            self.walk.latest_data = data


@dataclass(slots=True)
class StateFrame(TimedFrame):
    """One state, with what surrounds its body."""

    entered: bool = False
    """Whether its start was added to the trace."""
    deadline: float | None = None
    """The time at which `stateExecTimeout` ends it."""
    single: float | None = None
    """The time at which the `single` of that timeout ends it."""
    input: Value | None = None
    """The data that its input filter selected; None if that is all that it was entered with."""
    body: StateBody | None = None
    attempts: AttemptsFrame | None = None
    """The attempts at a state that is retried as a whole."""
    left: Step | None = None
    """The result of its body, once it is done and `body` removed: the unfiltered data, and the exit."""
    output: Value | None = None
    """The data of `left` after the output filter, once it was applied."""
    recorded: bool = False
    """Whether it is in the compensation log."""
    compensation: CompensationFrame | None = None
    """The compensation that its transition or end asks for."""
    events: int = 0
    """The number of events of its transition or end that were produced."""
    since: float | None = None
    """The time at which it was entered: `now` in its expressions, so that a later execution evaluates them equally."""

    def forget_deadlines(self) -> None:
        """Reset its timeouts."""
        self.deadline = self.single = None

    def forget_attempts(self) -> None:
        """Reset its attempts."""
        self.attempts = None

    @property
    def _latest(self) -> Value | None:
        """The data of the running body; None if that is the data that the state was entered with."""
        return (None if self.body is None else self.body.latest) or self.input

    def latest_data(self, data: JSON) -> JSON:
        """Return the data of the state, entered with *data*, as changed by its actions or by compensation."""
        if self.left is not None:
            data = self.left.data
        elif (latest := self._latest) is not None:
            data = latest.value
        return data if self.compensation is None else self.compensation.latest_data(data)

    def end_with(self, data: JSON) -> None:
        """Record that the walk ends here with *data*: if what follows fails, the state is not run again."""
        if self.left is not None:
            self.left.data, self.output = data, Value(data)

    def set_latest_data(self, data: JSON) -> bool:
        """Store *data* where `latest_data` reads it; return False if that is in the frame of the walk."""
        if self.compensation is not None:
            self.compensation.set_latest_data(data)
        elif self.left is not None:
            self.left.data, self.output = data, None
        elif (latest := self._latest) is not None:
            latest.value = data
        else:
            return False
        return True


@dataclass(slots=True)
class WalkFrame(progress.WalkFrame):
    run: StateFrame | None = None
    """The progress of the running state."""
    moved: bool = False
    """Whether the walk has left the state it began with."""

    @property
    def latest_data(self) -> JSON:
        """The data as changed by the running state."""
        return self.data if self.run is None else self.run.latest_data(self.data)

    @latest_data.setter
    def latest_data(self, data: JSON) -> None:
        if self.run is None or not self.run.set_latest_data(data):
            self.data = data


@dataclass(slots=True)
class DetachedBranchFrame(Record):
    """A branch that its state does not wait for, and that has not ended yet."""

    state: str
    """The path of the state."""
    branch: str | None
    lane: str
    """The path of execution that it was started on."""
    scope: str
    """The path of the scope of its states."""
    data: JSON
    """The data that it began with."""
    variables: dict[str, JSON]
    """The variables of the iterations in which it was started."""
    part: PartFrame = field(default_factory=PartFrame)


@dataclass(slots=True)
class InstanceFrame(Record):
    begun: bool = False
    """Whether its input was checked against the schema."""
    deadline: float | None = None
    """The time at which the workflow's timeout ends it."""
    expired: bool = False
    """Whether the workflow timed out."""
    walk: WalkFrame | None = None
    """The walk from the start state."""
    before: WalkFrame | None = None
    """The walk from the `runBefore` state of the timeout."""
    running: list[DetachedBranchFrame] = field(default_factory=list)
    """The detached branches that are running."""
    ended: Value | None = None
    """The data that the walk ended with, once only detached branches are running."""
    cancelled: CompensationFrame | None = None
    """The compensation after a cancellation, once it was cancelled."""
    again: bool = False
    """For an instance that is kept active: whether its first round is over."""
    idle: bool = False
    """For an instance that is kept active and does not start with an event: whether its only round is over."""
    correlation: dict[str, JSON] = field(default_factory=dict)
    """The attributes that events have set."""
    completed: list[str] = field(default_factory=list)
    """The completed states that can be undone, by their paths."""
    error: JSON = None
    """The error caught last, as expressions see it."""
    noted: dict[str, JSON] = field(default_factory=dict)
    """Further facts of the run in `$WORKFLOW`, if the language version has them."""

    @property
    def walk_under_way(self) -> WalkFrame | None:
        """The instance's own walk, or that of `runBefore`; None before it begins."""
        return self.before or self.walk

    @property
    def innermost_walk(self) -> WalkFrame | None:
        """The walk whose state is running, which may be that of a compensation."""
        walk = self.walk_under_way
        undoing = self.cancelled or (None if walk is None or walk.run is None else walk.run.compensation)
        return walk if undoing is None else undoing.walk or walk

    def latest_data(self, data: JSON) -> JSON:
        """Return the data as changed by the running state or compensation; *data*, the input, before it begins."""
        walk = self.walk_under_way
        data = data if walk is None else walk.latest_data
        return data if self.cancelled is None else self.cancelled.latest_data(data)

    def set_latest_data(self, data: JSON) -> None:
        """Store *data* where `latest_data` reads it."""
        if self.cancelled is not None:
            self.cancelled.set_latest_data(data)
        elif self.walk_under_way is not None:
            self.walk_under_way.latest_data = data
