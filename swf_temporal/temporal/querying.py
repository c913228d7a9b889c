"""Queries that came too early, and are asked again: before a workflow task had begun (`temporal/begun_tasks.py`)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from temporalio.client import WorkflowQueryFailedError

Answer = TypeVar("Answer")

ASK_AGAIN: Final = "the instance is about to take its next step: ask again"
"""What a query is told that came too early."""

_TRIES: Final = 50
_PAUSE: Final = 0.1
"""Seconds until a query is asked again: by then the workflow task has usually begun."""


async def answer_of(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Return what *ask* comes to, a query, which is asked again where it came too early. Raises what it raises."""
    for _ in range(_TRIES):
        try:
            return await ask()
        except WorkflowQueryFailedError as error:
            if error.message != ASK_AGAIN:
                raise
        await asyncio.sleep(_PAUSE)
    return await ask()
