"""Task queues of the server, and whether workers serve them."""

import asyncio
from typing import Final

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

_ATTEMPTS: Final = 20
_PAUSE: Final = 0.05
"""A worker that has just been started needs a moment to ask for tasks."""


async def why_unserved(client: Client, task_queue: str) -> str | None:
    """Return a message if no worker serves *task_queue*; None if one does, did within minutes, or it is not known."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    for _ in range(_ATTEMPTS):
        try:
            found = await client.workflow_service.describe_task_queue(request)
        except RPCError:  # the caller may not ask
            return None
        if found.pollers:
            return None
        await asyncio.sleep(_PAUSE)
    return f"no worker is serving the task queue {task_queue!r}: its instances wait for one"
