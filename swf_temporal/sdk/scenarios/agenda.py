"""The agenda of an instance and its sub-workflows: what is due, and when.

It is released one thing at a time, by the keys of the simulation's clock; so a function that is called has to wait for
its turn, and both hosts decide alike what is first.
"""

import asyncio
from dataclasses import dataclass, field
from itertools import count

from swf_temporal.simulation.clock import DueKey


@dataclass(slots=True, eq=False)
class Member:
    """An instance: the main one, or a sub-workflow."""

    workflow_id: str
    place: tuple[int, ...] = ()
    parent_run: str | None = None
    seq: int = 0
    """Its number among what the parent asked for."""
    policy: int = 0
    """What becomes of it when its parent closes."""
    run_id: str | None = None
    """Its latest execution, once it has begun."""
    ended: str | None = None
    """How it ended, if it has."""
    ended_at: int = 0
    is_reported: bool = False
    """Whether its parent knows of its end."""
    is_cancelled: bool = False
    """Whether it was asked to cancel, and knows it."""
    news: int = 0
    """How often something came to it."""
    closing: list[tuple[str, str, int]] = field(default_factory=list)
    """What is under way because it asked to be closed: forgotten if the server would not have it."""


@dataclass(slots=True, eq=False)
class PendingCall:
    """A call of a function, or an event that is to be sent, until it has an answer."""

    member: Member
    run_id: str
    seq: int
    end: int | None = None
    """When its time is over, in microseconds."""
    attempt: int = 1
    """The number of the attempt that is made, not counting those that were lost."""
    asked: int = 0
    """The number of Temporal's attempt that waits for its turn."""
    is_over: bool = False
    """Whether its answer is not wanted any more."""
    turn: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True, eq=False)
class Due:
    key: DueKey
    kind: str
    """A `timer` fires, a `call` has its turn, the time of an `activity` or of a `child` is over."""
    member: Member
    run_id: str
    seq: int


class Agenda:
    """All that is due, and the calls that wait for their turn or for their answer."""

    def __init__(self) -> None:
        self.now = 0
        """Microseconds since the run began."""
        self._step = 0
        self._numbers = count(1)
        self._due: dict[tuple[str, str, int], Due] = {}
        """By kind, run and number."""
        self._calls: dict[tuple[str, int], PendingCall] = {}
        self._calls_by_id: dict[tuple[str, str], PendingCall] = {}

    def next(self) -> Due | None:
        return min(self._due.values(), key=lambda one: one.key, default=None)

    def step(self) -> None:
        """Begin the next step: what is asked for from now on comes after what was asked for before."""
        self._step += 1

    def add(self, kind: str, member: Member, run_id: str, seq: int, after: int) -> None:
        """Write down what is due after so much time, unless it is written down already."""
        key = DueKey(self.now + after, self._step, member.place, next(self._numbers))
        self._due.setdefault((kind, run_id, seq), Due(key, kind, member, run_id, seq))

    def add_call(self, member: Member, run_id: str, seq: int, activity_id: str, limit: int | None) -> None:
        """Write down a call that waits for its turn, and has so much time for all of its attempts."""
        if (run_id, seq) in self._calls:
            return  # the workflow task is done again
        call = PendingCall(member, run_id, seq, None if limit is None else self.now + limit)
        self._calls[run_id, seq] = self._calls_by_id[run_id, activity_id] = call
        self.add("call", member, run_id, seq, 0)
        if limit is not None:
            self.add("activity", member, run_id, seq, limit)

    def call(self, run_id: str, activity_id: str) -> PendingCall | None:
        """Return the call that an activity is to answer, or None if the answer is not wanted any more."""
        return self._calls_by_id.get((run_id, activity_id))

    def release(self, due: Due) -> None:
        """Take out *due*, which happens: a call has its turn, or is not waited for any more."""
        self.drop(due.kind, due.run_id, due.seq)
        if due.kind == "activity":
            self.drop_call(due.run_id, due.seq)
        elif due.kind == "call":
            self._calls[due.run_id, due.seq].turn.set()

    def park(self, call: PendingCall, after: int) -> bool:
        """Let *call* have its next turn after so much time; return whether its answer is wanted at all."""
        call.turn.clear()
        if not call.is_over:
            self.add("call", call.member, call.run_id, call.seq, after)
        return not call.is_over

    def drop(self, kind: str, run_id: str, seq: int) -> None:
        """Forget what will not happen."""
        self._due.pop((kind, run_id, seq), None)

    def drop_call(self, run_id: str, seq: int) -> None:
        """Forget a call: its answer is not wanted any more."""
        self.drop("call", run_id, seq)
        self.drop("activity", run_id, seq)
        call = self._calls.get((run_id, seq))
        if call is not None:
            call.is_over = True

    def drop_run(self, run_id: str | None) -> None:
        """Forget all of an execution, which has closed, and release its calls."""
        self._due = {key: one for key, one in self._due.items() if one.run_id != run_id}
        self._release_calls([call for call in self._calls.values() if call.run_id == run_id])

    def close(self) -> None:
        """Release all calls: their answers are not wanted any more."""
        self._release_calls(list(self._calls.values()))

    def _release_calls(self, calls: list[PendingCall]) -> None:
        for call in calls:
            self.drop_call(call.run_id, call.seq)
            call.turn.set()
