"""Lanes: what any path of execution within an instance is asked for, in whatever language its steps are written.

A lane knows its place and its run. All that a step waits for goes through it: a moment, an attempt that is to be
repeated, work that has a deadline. What a step waits for besides, such as events and iterations, takes a lane.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from swf_temporal.base.errors import WorkflowFault
from swf_temporal.runtime.host import Timer, TimerPurpose, TraceEntry, TraceKind
from swf_temporal.runtime.joining import MISSING, within
from swf_temporal.runtime.retrying import AttemptsFrame, repeat
from swf_temporal.runtime.run import Run
from swf_temporal.runtime.trace import Tracer

T = TypeVar("T")


class LaneBase(Tracer):
    """One path of execution: a part of the definition that runs, one of several beside it, or an iteration."""

    __slots__ = ("branch", "path", "run", "state_path")

    def __init__(self, run: Run, state_path: str, path: str, branch: str | None = None) -> None:
        self.run = run
        """The instance: its clock, its ids, its inbox."""
        self.state_path = state_path
        """The path of the part of the definition that runs."""
        self.path = path
        """The path of execution, in which the numbers of iterations stand, too."""
        self.branch = branch
        """The name of the branch that it is, or is in."""

    # Time

    def moment_after(self, kept: float | None, seconds: float) -> float:
        """Return when *seconds* are over, as seconds of the epoch: the moment that was *kept*, if one was."""
        return self.run.time() + seconds if kept is None else kept

    async def in_time(
        self, deadline: float | None, work: Coroutine[Any, Any, T], late: Callable[[], WorkflowFault], part: str = ""
    ) -> T:
        """Return the result of *work*, or raise what *late* returns when *deadline* comes first.

        *part* is what of the step may take no longer, if that is not all of it.
        """
        if deadline is None:
            return await work
        result = await within(work, self.run.time_out_at(deadline, self.timer("timeout", part)))
        if result is MISSING:
            raise late()
        return result

    async def sleep_until(self, moment: float, purpose: TimerPurpose = "sleep", part: str = "") -> None:
        """Wait until *moment*. A suspension ends the wait: whoever goes on waits for the same moment."""
        await self.run.sleep_until(moment, self.timer(purpose, part))

    async def repeat(
        self,
        frame: AttemptsFrame,
        attempt: Callable[[], Awaitable[T]],
        delay_after: Callable[[T | WorkflowFault], Awaitable[float | None]],
        part: str = "",
    ) -> T:
        """Return the result of the first *attempt* that is not made again; raises its fault, if it met one.

        *delay_after* says of a result, or of a fault, how many seconds pass before the next one; None is that there is
        none. *part* is what is attempted of the step, if that is not all of it.
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

    # Telling

    def _add_entry(self, kind: TraceKind, name: str, detail: dict[str, Any]) -> None:
        in_branch = self.branch is not None
        self.run.add(TraceEntry(kind, self.path, self.state_path, name, self.run.host.now(), detail, in_branch))

    def locate(self, fault: WorkflowFault, action: str | None = None) -> WorkflowFault:
        """Return *fault* knowing where it happened, as far as it did not know yet."""
        fault.state = fault.state or self.state_path
        fault.branch = fault.branch or self.branch
        fault.action = fault.action or action
        return fault
