"""Questions to the workers of many instances, of which some may have none."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from swf_temporal.base.errors import UsageError

_Answer = TypeVar("_Answer")

_AT_ONCE: Final = 200
"""How many instances are asked at the same time: the silent ones keep no place from the others of a usual list."""
_PATIENCE: Final = 3.0
"""Seconds without any answer after which the rest is not waited for."""


async def answers_of(
    instances: Sequence[str], ask: Callable[[str], Awaitable[_Answer]], patience: float = _PATIENCE
) -> list[_Answer | None]:
    """Return what *ask* returns of each instance; None where it raises UsageError.

    As soon as there was no answer for some seconds, it is None for all that are left.
    """
    free = asyncio.Semaphore(_AT_ONCE)

    async def answer(instance: str) -> _Answer | None:
        async with free:
            try:
                return await ask(instance)
            except UsageError:
                return None

    asked = [asyncio.ensure_future(answer(one)) for one in instances]
    waiting = set(asked)
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
    finally:
        for one in waiting:
            one.cancel()
        if waiting:
            await asyncio.wait(waiting)
    return [None if one.cancelled() else one.result() for one in asked]
