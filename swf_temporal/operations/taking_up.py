"""Whether a worker takes a new instance up."""

import asyncio
import logging
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from swf_temporal.base.errors import UsageError
from swf_temporal.temporal.client import Handle, result
from swf_temporal.temporal.failed_tasks import why_task_failed
from swf_temporal.temporal.statuses import is_closed, is_paused

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client

_TAKEN_UP = 4
"""The number of events in a history after the first workflow task."""
_STARTED_WITHIN = 2.0
"""Seconds in which a worker should have taken up what was started."""

_log = logging.getLogger("swf")


async def was_taken_up(client: "Client", workflow_id: str) -> bool:
    """Tell whether a worker takes the instance up within a short time.

    Raises RunEnded if it fails at once, and UsageError if the worker that was asked cannot run it.
    """
    handle = client.temporal.get_workflow_handle(workflow_id)
    for _ in range(int(_STARTED_WITHIN / 0.05)):
        found = await handle.describe()
        if found.status is WorkflowExecutionStatus.FAILED:
            await result(handle)
        if (why := await why_task_failed(client.temporal, found)) is not None:
            hint = f"it goes on once a worker can run it; to give it up: swf terminate {shlex.quote(workflow_id)}"
            raise UsageError(why, hint)
        if (found.history_length or 0) >= _TAKEN_UP:
            return True
        await asyncio.sleep(0.05)
    return False


@asynccontextmanager
async def warned_if_not_taken_up(handle: Handle) -> AsyncIterator[None]:
    """Log a warning, within the context, of what an instance waits for: that it is resumed, or for its first worker."""

    async def look() -> None:
        await asyncio.sleep(_STARTED_WITHIN)
        with suppress(RPCError):
            found = await handle.describe()
            if is_paused(found):
                _log.warning("%r is paused: `swf resume %s` lets it go on", handle.id, shlex.quote(handle.id))
            elif not is_closed(found) and (found.history_length or 0) < _TAKEN_UP:
                _log.warning(
                    "no worker has taken up %r yet: is one serving the task queue %r?", handle.id, found.task_queue
                )

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.wait([looking])
