"""Frames: how far each path of execution of an instance is, as it is stored.

Frames are plain JSON and nest as paths do: an instance holds the walk through its states, the walk holds the state
that is running, the state its body, and so on down to a single action. A path writes its frame as it goes; a suspended
instance is made from it again, and whatever its frames say is done is not done again. All keys are optional, since a
frame begins empty.

Frames outlive releases (see docs/compatibility.md). A key keeps its meaning for ever; a new key must be one that an
older release may pass over; what is not known is carried along unchanged, because frames are read and written in place.

An instance's data stands in a frame where work on it begins (`WalkFrame.data`) and where that work has got to
(`SequenceFrame.data`, `CompensationFrame.data`); the latest of them is what `progress.latest_data` finds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, cast

from swf_temporal.data import JSON
from swf_temporal.runtime.outputs import Front
from swf_temporal.runtime.progress import Value

Deadline: TypeAlias = Literal[
    "deadline", "single", "action timeout", "result timeout", "until", "before", "after",
]  # fmt: skip
"""The keys under which moments stand, as seconds of the epoch: they are fixed when they are first asked for."""

ActionResult: TypeAlias = list[Any]
"""`[path, value]`; the path is None where no toStateData says where the value goes, the value where there is none."""


class Frame(TypedDict, total=False):
    """The base of all frames, for functions that read and write none of their keys."""


class WaitingFrame(Frame, total=False):
    """A frame of something that waits for events."""

    awaited: bool
    """Whether the wait was added to the trace: it is once, however often the instance is suspended meanwhile."""


_Timeouts = TypedDict("_Timeouts", {"action timeout": float, "result timeout": float}, total=False)
"""The deadlines of an action, and of the event that answers it. Classes have no such names."""


class ActionFrame(WaitingFrame, _Timeouts, total=False):
    """One action."""

    condition: bool
    """Whether its condition held."""
    before: float
    """Until when it sleeps before its invocation."""
    after: float
    """Until when it sleeps after its invocation."""
    result: JSON
    """What its invocation yielded: there once it is done."""
    silent: bool
    """Whether it yielded nothing, which is not the same as null."""
    attempts: dict[str, Any]
    """Of a call whose attempts the host makes one by one: what the host kept, the call's `id` and its `arguments`."""
    call: str
    """Of a call, or of a sub-workflow, that may outlast an execution: its id, while it is under way."""
    attempt: int
    """Of a sub-workflow or an exchange of events: the number of the attempt under way, counted from 1."""
    again: float
    """When that attempt begins, if it is not the first."""
    tries: dict[str, int]
    """Of retries that depend on a result: how often each had the function called again, by its number."""
    produced: bool
    """Whether this attempt has produced its event."""
    effect: ActionResult | None
    """The result of an action that runs beside others: all that is left of its frame once it is done."""


class SequenceFrame(Frame, total=False):
    """Actions that run one after the other. Actions that run at once have a frame each: see `parallel_action`."""

    at: int
    """How many are done."""
    data: JSON
    """The data with their results."""
    action: ActionFrame
    """The one under way."""
    merged: bool
    """Of an entry of an event state: whether the payloads of its events are in the data."""


class IterationFrame(SequenceFrame, total=False):
    """One iteration of a foreach, or one branch of a parallel state."""

    effects: list[ActionResult]
    """The results of its actions, for the data of the state."""
    done: bool
    """Whether it is complete: then only this and `effects`, or `output`, are left; neither if it was passed over."""
    deadline: float
    """When the branch times out."""
    before: float
    """When the iteration begins, where there is a pause between iterations."""
    walk: "WalkFrame"
    """Of one that holds states: the walk through them."""
    output: JSON
    """What it came to, in place of `effects`: of one that held states, and of one with an output collection."""


@dataclass(slots=True)
class ForeachFront(Front):
    """The iterations of a foreach state that are complete, from the first on."""

    data: Value | None = None
    """Of a state without outputs to keep: its data with the results of these iterations."""
    over: bool = False
    """Whether what iterations came to, in the front or not, lets no further one begin."""

    @property
    def results(self) -> JSON:
        """What they came to, as far as it stands here."""
        return self.outputs if self.data is None else self.data.value


class TimedFrame(Frame, total=False):
    """A frame of something with a deadline of its own."""

    deadline: float
    """When that is over."""


class RepeatFrame(Frame, total=False):
    """A sub-workflow that is run again and again."""

    times: int
    """How often it was run to an end."""
    data: JSON
    """The data that it came to."""
    round: SequenceFrame
    """The run under way."""


class BodyFrame(SequenceFrame, total=False):
    """The body of a state. Which keys it has depends on the state's type."""

    awaited: bool
    """As in `WaitingFrame`."""
    deadline: float
    """Of event, switch and callback states: until when they wait for an event."""
    until: float
    """Of a sleep state: until when it sleeps."""
    taken: dict[str, Any]
    """Of an event state: the events it took, as records, by the names of their definitions."""
    fixed: list[str]
    """Of an event state: the correlation keys that these events fixed."""
    complete: bool
    """Of an event state: whether it has all its events."""
    entry: int
    """Of an event state: how many of its entries are done with; of one with event expressions, which came true."""
    waits: "dict[str, TimedFrame]"
    """Of an event state with event expressions: until when each entry waits, by its number."""
    has_front: bool
    begun: float
    """Of a foreach with a pause between iterations: when the latest of them begins."""
    actions: SequenceFrame
    """Of an event state: the actions of the entry under way."""
    repeated: RepeatFrame
    """Of a sub-workflow that is repeated."""


class CompensationFrame(Frame, total=False):
    """A compensation: the chains of states that the compensation log leads to, one after the other."""

    walk: "WalkFrame"
    """The chain under way."""
    data: JSON
    """The data after the chains that are done."""
    done: bool
    """Whether everything is undone."""


class StateFrame(Frame, total=False):
    """One state, with what surrounds its body."""

    entered: bool
    """Whether its begin was added to the trace."""
    deadline: float
    """When `stateExecTimeout` ends it."""
    single: float
    """When the `single` of that timeout does."""
    body: BodyFrame
    retried: dict[str, int]
    """How often it was run once more, by the number of what asked for it."""
    again: float
    """When it is run once more, while that is waited for."""
    left: list[Any]
    """`[exit, data]`, once it is being left by a way that takes steps of its own: by which, and with which data."""
    recorded: bool
    """Whether it stands in the compensation log."""
    compensation: CompensationFrame
    """The compensation that leaving it asks for."""
    events: int
    """How many of the events that leaving it produces are produced."""


class WalkFrame(Frame, total=False):
    """A walk through states, from one to the next."""

    state: str
    """The name of the state that is running."""
    data: JSON
    """The data that it began with."""
    run: StateFrame
    """How far it is."""
    moved: bool
    """Whether the walk has left the state it began with."""


class LeftRunningFrame(IterationFrame, total=False):
    """A branch that its state did not wait for, and that has not ended yet."""

    state: str
    """The path of the state."""
    branch: str
    lane: str
    """The path of execution that it was started on."""
    scope: str
    """The path of what holds its states."""
    data: JSON
    """The data that it began with."""
    variables: dict[str, JSON]
    """Those of the iterations that it was started in."""


class UndoingFrame(Frame, total=False):
    """A frame of something that may compensate: a state that is left, or an instance that was cancelled."""

    compensation: CompensationFrame


class InstanceFrame(Frame, total=False):
    """The whole instance. An instance that has not begun has none of these."""

    begun: bool
    """Whether its input was compared with the schema."""
    deadline: float
    """When the workflow's own timeout ends it."""
    expired: bool
    """Whether it did."""
    walk: WalkFrame
    """The walk from the start state."""
    before: WalkFrame
    """The walk from the `runBefore` state of the timeout."""
    running: list[LeftRunningFrame]
    """The branches that were left running beside that walk."""
    ended: JSON
    """The data that the walk ended with, once branches alone are running."""
    cancelled: UndoingFrame
    """There once it was cancelled."""
    again: bool
    """Of one that is kept active: whether this is not its first round."""
    idle: bool
    """Of one that is kept active and starts with no event: whether its only round is over."""


def parallel_action(frame: SequenceFrame, index: int) -> ActionFrame:
    """Return the frame of one of the actions that run at once."""
    return cast("ActionFrame", _inner(frame, f"action {index}"))


def branch(frame: BodyFrame, name: str) -> IterationFrame:
    """Return the frame of a branch of a parallel state."""
    return cast("IterationFrame", _inner(frame, f"branch {name}"))


def iteration(frame: BodyFrame, index: int) -> IterationFrame:
    """Return the frame of an iteration of a foreach."""
    return cast("IterationFrame", _inner(frame, str(index)))


def complete_iteration(frame: BodyFrame, index: int) -> IterationFrame | None:
    """Return the frame of an iteration of a foreach if that is complete."""
    part = cast("dict[str, IterationFrame]", frame).get(str(index))
    return part if part is not None and "done" in part else None


def forget_iteration(frame: BodyFrame, index: int) -> None:
    """Drop the frame of an iteration whose result is in the front."""
    del cast("dict[str, Any]", frame)[str(index)]


def parts_of(frame: BodyFrame) -> Iterator[tuple[str | None, int, IterationFrame]]:
    """Yield the frames of branches, each with its name, and of iterations, each with None and its number."""
    for key, inner in cast("dict[str, Any]", frame).items():
        if key.startswith("branch "):
            yield key.removeprefix("branch "), 0, inner
        elif key.isdigit():
            yield None, int(key), inner


def keep_result(frame: IterationFrame | ActionFrame, result: IterationFrame | ActionFrame) -> None:
    """Leave nothing of *frame* but *result*: how its path got there matters no more."""
    kept = cast("dict[str, Any]", frame)
    kept.clear()
    kept.update(result)


def forget_deadlines(frame: Frame) -> None:
    """Forget when the timeouts in *frame*, and in those inside it, end: they begin anew when it goes on."""
    kept = cast("dict[str, Any]", frame)
    for timeout in _ENDS:
        kept.pop(timeout, None)
    for key, inner in kept.items():
        if isinstance(inner, dict) and key not in _NOT_FRAMES:
            forget_deadlines(cast("Frame", inner))


_ENDS: tuple[Deadline, ...] = ("deadline", "single", "action timeout", "result timeout")
_NOT_FRAMES = frozenset({"data", "result", "taken", "attempts"})
"""Keys under which there are objects of the workflow's own, or of the host."""


def _inner(frame: Frame, key: str) -> Any:
    return cast("dict[str, Any]", frame).setdefault(key, {})
