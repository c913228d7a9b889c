"""Frames of actions: how far they are, and what they came to. See `frames`."""

from dataclasses import dataclass, field

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record, nested
from swf_temporal.runtime.attempts import AttemptsFrame
from swf_temporal.runtime.frames import WaitingFrame
from swf_temporal.runtime.host import CallAttempts
from swf_temporal.runtime.progress import Value


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
