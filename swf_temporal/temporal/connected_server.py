"""A server that answers: its client, and the address of its UI."""

import asyncio
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from swf_temporal.base.errors import UsageError
from swf_temporal.base.importing import MAX_PORT
from swf_temporal.temporal.constants import DEFAULT_PORT, DEFAULT_UI_PORT

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


_UI_AFTER = DEFAULT_UI_PORT - DEFAULT_PORT
_LOCAL = ("localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers, with the address of its UI."""

    client: Client
    ui: str | None

    @property
    def address(self) -> str:
        """Its address, with the port."""
        return self.client.service_client.config.target_host

    def link(self, workflow_id: str, run_id: str | None = None) -> str | None:
        """Return the address of a run in the UI."""
        if self.ui is None:
            return None
        where = f"{self.ui}/namespaces/{self.client.namespace}/workflows/{quote(workflow_id, safe='')}"
        return f"{where}/{run_id}/history" if run_id else where


def server_of(client: Client) -> Server:
    """Return the server of *client*, with its UI if it is a development server with the UI at the usual port."""
    host, _, port = client.service_client.config.target_host.rpartition(":")
    ui_port = int(port) + _UI_AFTER if port.isdigit() else 0
    if host not in _LOCAL or not 0 < ui_port <= MAX_PORT or is_free(ui_port):
        return Server(client, None)
    return Server(client, f"http://{host}:{ui_port}")


def is_free(port: int) -> bool:
    """Return whether nothing listens on *port*. Raises UsageError if this user may not listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise UsageError(f"this user may not listen on port {port}", "choose one above 1023") from None
        except OSError:
            return False
    return True
