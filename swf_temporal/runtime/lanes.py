"""Lanes: the operations of any path of execution within an instance, in whatever language its steps are written.

A lane knows its place and its run. Steps wait by its methods: for a point in time, for an attempt that is to be
repeated, for work that has a deadline. Functions for other waits, such as events and iterations, take a lane.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.runtime.host import Timer, TimerPurpose, TraceEntry, TraceKind
from swf_temporal.runtime.joining import MISSING, within
from swf_temporal.runtime.retrying import AttemptsFrame, repeat
from swf_temporal.runtime.run import Run
from swf_temporal.runtime.trace import Tracer

T = TypeVar("T")


class LaneBase(Tracer):
    """One path of execution: a running part of the definition, a branch of it, or an iteration."""

    __slots__ = ("branch", "path", "run", "state_path")

    def __init__(self, run: Run, state_path: str, path: str, branch: str | None = None) -> None:
        self.run = run
        """The instance: its clock, its ids, its inbox."""
        self.state_path = state_path
        """The path of the part of the definition that runs."""
        self.path = path
        """The path of execution, which includes the numbers of iterations."""
        self.branch = branch
        """The name of the branch that it is, or is in."""

    # Time

    def moment_after(self, kept: float | None, seconds: float) -> float:
        """Return the time in *seconds* from now, in seconds since the epoch, or the one that was *kept* before."""
        return self.run.time() + seconds if kept is None else kept

    async def in_time(
        self, deadline: float | None, work: Coroutine[Any, Any, T], late: Callable[[], WorkflowFault], part: str = ""
    ) -> T:
        """Return the result of *work*, or raise what *late* returns if *deadline* comes first.

        *part* is the part of the step that has the deadline, if that is not the whole step.
        """
        if deadline is None:
            return await work
        result = await within(work, self.run.time_out_at(deadline, self.timer("timeout", part)))
        if result is MISSING:
            raise late()
        return result

    async def sleep_until(self, moment: float, purpose: TimerPurpose = "sleep", part: str = "") -> None:
        """Wait until *moment*. A suspension ends the wait; the resumed run waits for the same moment."""
        await self.run.sleep_until(moment, self.timer(purpose, part))

    async def repeat(
        self,
        frame: AttemptsFrame,
        attempt: Callable[[], Awaitable[T]],
        delay_after: Callable[[T | WorkflowFault], Awaitable[float | None]],
        part: str = "",
    ) -> T:
        """Return the result of the first *attempt* that is not retried; raise its fault, if it failed.

        *delay_after* returns the seconds before the next attempt, for a result or a fault; None ends the attempts.
        *part* is the part of the step that is attempted, if that is not the whole step.
        """

        async def again_at(outcome: T | WorkflowFault) -> float | None:
            delay = await delay_after(outcome)
            return None if delay is None else self.run.time() + delay

        async def pause(moment: float) -> None:
            await self.sleep_until(moment, "retry", part)
            self.run.checkpoint()

        return await repeat(frame, attempt, again_at, pause)

    def timer(self, purpose: TimerPurpose, part: str = "") -> Timer:
        return Timer(purpose, self.state_path, part)

    # Trace and errors

    def _add_entry(self, kind: TraceKind, name: str, detail: dict[str, Any], data: JSON = None) -> None:
        in_branch = self.branch is not None
        self.run.add(TraceEntry(kind, self.path, self.state_path, name, self.run.host.now(), detail, in_branch, data))

    def locate(self, fault: WorkflowFault, action: str | None = None) -> WorkflowFault:
        """Return *fault* with the place where it happened, unless it has one."""
        fault.state = fault.state or self.state_path
        fault.branch = fault.branch or self.branch
        fault.action = fault.action or action
        return fault
