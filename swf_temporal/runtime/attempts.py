"""Attempts at one thing, one after the other, until an outcome is not tried again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.records import Record

T = TypeVar("T")


@dataclass(slots=True)
class AttemptsFrame(Record):
    number: int = 1
    """The attempt that is under way, or waited for: counted from 1."""
    again: float | None = None
    """When that begins, as seconds of the epoch, while it is waited for."""
    counts: dict[str, int] = field(default_factory=dict)
    """Where there are several reasons to try again: how often each was one, by its number."""


async def repeat(
    frame: AttemptsFrame,
    attempt: Callable[[], Awaitable[T]],
    again_at: Callable[[T | WorkflowFault], Awaitable[float | None]],
    pause: Callable[[float], Awaitable[None]],
) -> T:
    """Return the result of the first *attempt* that is not tried again; raises its fault, if it met one.

    *again_at* says of a result, or of a fault, when the next attempt begins, in seconds of the epoch; None is never.
    *pause* waits for that moment.
    """
    while True:
        if frame.again is not None:
            await pause(frame.again)
            frame.again = None
        try:
            result = await attempt()
        except WorkflowFault as fault:
            again = await again_at(fault)
            if again is None:
                raise
        else:
            again = await again_at(result)
            if again is None:
                return result
        frame.number += 1
        frame.again = again
