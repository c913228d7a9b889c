"""Frames: how far each path of execution of an instance is, as it is stored.

Frames are typed records and nest as paths do: an instance holds the walk through its states, the walk holds the state
that is running, the state its body, and so on down to a single action. A path writes its frame as it goes; a suspended
instance is made from it again, and whatever its frames say is done is not done again. A frame is made when what it is
of begins. A flag says what was done; a moment is in seconds of the epoch, and fixed when it is first asked for.

Frames outlive releases (see docs/compatibility.md): a field keeps its meaning for ever, and a new one has a default.

An instance's data stands in several frames: where a state begins, where its actions have got to, and where undoing has.
`InstanceFrame.latest_data` is the latest of them, with which whatever follows a state begins that was broken off, by an
error or by the timeout of the workflow. Each frame asks those inside it; what a type of state has is the `latest` of
its body.
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
    """What an action yielded, and where in the data it goes."""

    path: list[str | int] | None = None
    """None where no toStateData says where."""
    value: JSON = None


@dataclass(slots=True)
class CallFrame(Record):
    """A call, or a sub-workflow, that is the same one in the next execution."""

    arguments: JSON = None
    """Of a call whose attempts the host makes one by one."""
    attempts: CallAttempts | None = None
    """How far those are."""
    config_key: str | None = None
    """The service among those of one name that it chose."""


@dataclass(slots=True)
class ActionFrame(WaitingFrame):
    holds: bool | None = None
    """Whether its condition does; None until that was asked."""
    before: float | None = None
    """Until when it sleeps before its invocation."""
    after: float | None = None
    """Until when it sleeps after its invocation."""
    done: bool = False
    """Whether its invocation is."""
    result: Value | None = None
    """What its invocation yielded, if it yielded anything."""
    id: str | None = None
    """The id of the call, or the sub-workflow, that is under way or has failed: made again, it is the same one."""
    call: CallFrame | None = None
    attempts: AttemptsFrame | None = None
    """Of a sub-workflow or an exchange of events."""
    retries: AttemptsFrame | None = None
    """Of a function that is called again because of its results."""
    produced: bool = False
    """Whether this attempt has produced its event."""
    answer_deadline: float | None = None
    """Until when it waits for the event that answers it."""

    def forget_deadlines(self) -> None:
        """Forget when its timeouts end."""
        self.deadline = self.answer_deadline = None

    def forget_attempts(self) -> None:
        """Forget the attempts that were made."""
        self.attempts = self.retries = self.call = None


@dataclass(slots=True)
class BesideFrame(Record):
    action: ActionFrame | None = None
    """How far it is, while it is under way."""
    done: bool = False
    effect: ActionResult | None = None
    """Its result, once it is done; None if it was skipped."""


@dataclass(slots=True)
class SequenceFrame(Record):
    """Actions that run one after the other, or at once."""

    at: int = 0
    """How many are done."""
    data: Value | None = None
    """The data with their results."""
    action: ActionFrame | None = None
    """The one under way."""
    beside: dict[int, BesideFrame] = field(default_factory=dict)
    """Those that run at once."""


@dataclass(slots=True)
class EntryFrame(SequenceFrame):
    """An entry of an event state, whose events came."""

    merged: bool = False
    """Whether the payloads of its events are in the data."""


@dataclass(slots=True)
class RepeatFrame(Record):
    """A sub-workflow that is run again and again."""

    times: int = 0
    """How often it was run to an end."""
    data: Value | None = None
    """The data that it came to."""
    round: SequenceFrame | None = None
    """The run under way."""

    @property
    def latest(self) -> Value | None:
        """The data with the results of all actions that are done."""
        return (None if self.round is None else self.round.data) or self.data


def forget_calls(frame: Record) -> None:
    """Forget the ids of the calls in *frame*, which were cancelled: what goes on makes others in the same execution."""
    for action in nested(frame, ActionFrame):
        action.id = None


@dataclass(slots=True)
class PartFrame(SequenceFrame, TimedFrame):
    """One iteration of a foreach, or one branch of a parallel state."""

    effects: list[ActionResult] = field(default_factory=list)
    """The results of its actions, for the data of the state."""
    done: bool = False
    """Whether it is complete: then only this and `effects`, or `output`, are left; neither if it was passed over."""
    deadline: float | None = None
    """When the branch times out."""
    before: float | None = None
    """When the iteration begins, where there is a pause between iterations."""
    walk: "WalkFrame | None" = None
    """Of one that holds states: the walk through them."""
    output: Value | None = None
    """What it came to, in place of `effects`: of one that held states, and of one with an output collection."""

    def forget_deadlines(self) -> None:
        self.deadline = None


class Body:
    """The body of a state. Each type of state that has progress has a class for it."""

    __slots__ = ()

    @property
    def latest(self) -> Value | None:
        """The state's data, as its actions have left it; None before, and where their results are merged at a join."""
        return None

    @property
    def parts(self) -> Iterator[tuple[str, str | None, PartFrame]]:
        """Its iterations and branches: what follows the path of the state in theirs, and the name of a branch."""
        return iter(())

    def begun_anew(self) -> "StateBody | None":
        """Return the body as another attempt at the state finds it."""
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
    """A callback state: its action, and the wait for the answer."""

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
    """The entry whose actions are under way."""
    data: Value | None = None
    """The data with its events, and with the results of the entries before."""

    @property
    def latest(self) -> Value | None:
        return (None if self.actions is None else self.actions.data) or self.data


@dataclass(slots=True)
class EventBody(EventsBody):
    KIND: ClassVar[str] = "event"
    entries: int = 0
    """How many of its entries are done with."""

    def begun_anew(self) -> "StateBody":
        return EventBody(taken=self.taken, fixed=self.fixed, complete=self.complete)


@dataclass(slots=True)
class EventExpressionBody(EventsBody):
    """An event state of the draft of November 2019."""

    KIND: ClassVar[str] = "event expression"
    entry: int = 0
    """Which entry came true, if it is complete."""
    waits: dict[str, float] = field(default_factory=dict)
    """Until when each entry waits that does not wait without end, by its number."""

    def forget_deadlines(self) -> None:
        """Forget until when entries wait."""
        self.waits.clear()

    def begun_anew(self) -> "StateBody":
        return EventExpressionBody(taken=self.taken, fixed=self.fixed, complete=self.complete, entry=self.entry)


@dataclass(slots=True)
class ForeachFront(Front):
    """The iterations of a foreach state that are complete, from the first on."""

    data: Value | None = None
    """Of a state without outputs to keep: its data with the results of these iterations."""
    in_turn: bool = False
    """Whether one iteration follows the other: then the data has the results of the one under way, too."""
    over: bool = False
    """Whether what iterations came to, in the front or not, lets no further one begin."""

    @property
    def results(self) -> JSON:
        """What they came to, as far as it stands here."""
        return self.outputs if self.data is None else self.data.value


@dataclass(slots=True)
class ForeachBody(Record, Body):
    KIND: ClassVar[str] = "foreach"
    front: ForeachFront | None = None
    """There once its iterations begin."""
    iterations: dict[int, PartFrame] = field(default_factory=dict)
    """Those that the front has not."""
    begun: float | None = None
    """When the latest iteration begins, if there is a pause between them."""

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
    """A compensation: the chains of states that the compensation log leads to, one after the other."""

    walk: "WalkFrame | None" = None
    """The chain under way."""
    data: Value | None = None
    """The data after the chains that are done."""
    done: bool = False
    """Whether everything is undone."""

    def latest_data(self, data: JSON) -> JSON:
        """Return the data as undoing has left it, which began with *data*."""
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
    """Whether its begin was added to the trace."""
    deadline: float | None = None
    """When `stateExecTimeout` ends it."""
    single: float | None = None
    """When the `single` of that timeout does."""
    input: Value | None = None
    """What its filter selected of the data that it was entered with; None if that is all."""
    body: StateBody | None = None
    attempts: AttemptsFrame | None = None
    """Of a state that is run once more as a whole."""
    left: Step | None = None
    """Once its body is done, which is gone then: with which data, and by which exit. No output filter was applied."""
    output: Value | None = None
    """What the output filter made of that data, once it did."""
    recorded: bool = False
    """Whether it stands in the compensation log."""
    compensation: CompensationFrame | None = None
    """The compensation that leaving it asks for."""
    events: int = 0
    """How many of the events that leaving it produces are produced."""
    since: float | None = None
    """When it was entered: what its expressions see as `now`, so that they yield the same in a later execution."""

    def forget_deadlines(self) -> None:
        """Forget when its timeouts end."""
        self.deadline = self.single = None

    def forget_attempts(self) -> None:
        """Forget the attempts that were made."""
        self.attempts = None

    @property
    def _latest(self) -> Value | None:
        """The data of the body that is under way; None if that is what the state was entered with."""
        return (None if self.body is None else self.body.latest) or self.input

    def latest_data(self, data: JSON) -> JSON:
        """Return the data of the state, which was entered with *data*, as its actions or undoing have left it."""
        if self.left is not None:
            data = self.left.data
        elif (latest := self._latest) is not None:
            data = latest.value
        return data if self.compensation is None else self.compensation.latest_data(data)

    def end_with(self, data: JSON) -> None:
        """Take note that the walk ends here with *data*: what follows may fail, and then the state is not run again."""
        if self.left is not None:
            self.left.data, self.output = data, Value(data)

    def set_latest_data(self, data: JSON) -> bool:
        """Have *data* where `latest_data` finds it; return False if that is where the state was entered with it."""
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
    """How far it is."""
    moved: bool = False
    """Whether the walk has left the state it began with."""

    @property
    def latest_data(self) -> JSON:
        """The data as the running state has left it."""
        return self.data if self.run is None else self.run.latest_data(self.data)

    @latest_data.setter
    def latest_data(self, data: JSON) -> None:
        if self.run is None or not self.run.set_latest_data(data):
            self.data = data


@dataclass(slots=True)
class DetachedBranchFrame(Record):
    """A branch that its state did not wait for, and that has not ended yet."""

    state: str
    """The path of the state."""
    branch: str | None
    lane: str
    """The path of execution that it was started on."""
    scope: str
    """The path of what holds its states."""
    data: JSON
    """The data that it began with."""
    variables: dict[str, JSON]
    """Those of the iterations that it was started in."""
    part: PartFrame = field(default_factory=PartFrame)


@dataclass(slots=True)
class InstanceFrame(Record):
    begun: bool = False
    """Whether its input was compared with the schema."""
    deadline: float | None = None
    """When the workflow's own timeout ends it."""
    expired: bool = False
    """Whether it did."""
    walk: WalkFrame | None = None
    """The walk from the start state."""
    before: WalkFrame | None = None
    """The walk from the `runBefore` state of the timeout."""
    running: list[DetachedBranchFrame] = field(default_factory=list)
    """The branches that were left running beside that walk."""
    ended: Value | None = None
    """The data that the walk ended with, once branches alone are running."""
    cancelled: CompensationFrame | None = None
    """There once it was cancelled."""
    again: bool = False
    """Of one that is kept active: whether this is not its first round."""
    idle: bool = False
    """Of one that is kept active and starts with no event: whether its only round is over."""
    correlation: dict[str, JSON] = field(default_factory=dict)
    """The attributes that events have fixed."""
    completed: list[str] = field(default_factory=list)
    """The states that were completed and can be undone, by their paths."""
    error: JSON = None
    """The error that was caught last, as expressions see it."""
    noted: dict[str, JSON] = field(default_factory=dict)
    """What else expressions see as `$WORKFLOW` of what happened on the way, where the language version has it."""

    @property
    def walk_under_way(self) -> WalkFrame | None:
        """The instance's own walk, or the one before its end; None before it begins."""
        return self.before or self.walk

    @property
    def innermost_walk(self) -> WalkFrame | None:
        """The walk whose state is running: that of what is being undone, if anything is."""
        walk = self.walk_under_way
        undoing = self.cancelled or (None if walk is None or walk.run is None else walk.run.compensation)
        return walk if undoing is None else undoing.walk or walk

    def latest_data(self, data: JSON) -> JSON:
        """Return the data as the running state, or undoing, has left it; *data*, the input, before it begins."""
        walk = self.walk_under_way
        data = data if walk is None else walk.latest_data
        return data if self.cancelled is None else self.cancelled.latest_data(data)

    def set_latest_data(self, data: JSON) -> None:
        """Have *data* where `latest_data` finds it."""
        if self.cancelled is not None:
            self.cancelled.set_latest_data(data)
        elif self.walk_under_way is not None:
            self.walk_under_way.latest_data = data
