"""Walks: from one state of a scope to the next. They are re-entrant, so that scopes nest to any depth."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from swf_temporal.runtime.run import Run

T = TypeVar("T")


async def walk(run: Run, step: Callable[[], Awaitable[T | None]]) -> T:
    """Take one *step* after the other until one returns what the walk comes to; a frame says which is next.

    Between two steps a run can be suspended, and its host gets control.
    """
    while True:
        run.checkpoint()
        await run.pacing.give_way(1)
        ended = await step()
        if ended is not None:
            return ended
