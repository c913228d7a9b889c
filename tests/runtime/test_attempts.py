"""Attempts are made until an outcome is not tried again, in whichever execution."""

import pytest

from swf_temporal.base.errors import CallFailed, WorkflowFault
from swf_temporal.runtime.joining import SuspendRequested
from swf_temporal.runtime.retrying import AttemptsFrame, repeat


class Work:
    def __init__(self) -> None:
        self.frame = AttemptsFrame()
        self.outcomes: list[object] = [CallFailed("no"), 0, 1]
        self.waits: list[float] = []
        self.is_suspended = False

    async def attempt(self) -> object:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def again_at(self, outcome: object) -> float | None:
        return None if outcome == 1 else 10.0 * self.frame.number

    async def pause(self, moment: float) -> None:
        self.waits.append(moment)
        if self.is_suspended:
            raise SuspendRequested


async def test_a_fault_and_a_result_may_be_tried_again() -> None:
    """The number of the attempt goes up, and no moment is left of the waits that are over."""
    work = Work()
    assert await repeat(work.frame, work.attempt, work.again_at, work.pause) == 1
    assert (work.frame, work.waits) == (AttemptsFrame(3), [10.0, 20.0])


async def test_a_fault_that_is_not_tried_again_is_raised() -> None:
    work, fault = Work(), CallFailed("no")

    async def never(_: object) -> None:
        return None

    work.outcomes = [fault]
    with pytest.raises(WorkflowFault) as caught:
        await repeat(work.frame, work.attempt, never, work.pause)
    assert caught.value is fault


async def test_a_wait_goes_on_until_the_same_moment() -> None:
    work = Work()
    work.is_suspended = True
    with pytest.raises(SuspendRequested):
        await repeat(work.frame, work.attempt, work.again_at, work.pause)
    work.frame, work.is_suspended = AttemptsFrame.from_json(work.frame.to_json()), False
    assert await repeat(work.frame, work.attempt, work.again_at, work.pause) == 1
    assert work.waits == [10.0, 10.0, 20.0]
