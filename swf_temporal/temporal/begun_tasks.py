"""A workflow takes no step that no workflow task has begun.

Theory of operation. A worker reads an instance that it has not in memory from the history that comes with a task. The
task may be a query alone, and the history may then end with an event that is newer than the last workflow task: a
signal, a timer that has fired, a call that has ended. The SDK gives such an event to the workflow at once, with the
time of the last workflow task and its answer to whether to continue as new, and without what else comes until the next
workflow task begins. What the workflow does then is recorded as done by that task: a replay has the task's own time and
answer and all that came, decides otherwise, and the instance is stuck.

The SDK does not say for which task it gives an event. The server does: the step is that of the workflow task in
progress, if that has begun at the time that the workflow is told. It is asked once for each reading of an instance,
where the last step of it is a new one. A step that has not begun is refused: the query fails, the instance is dropped,
and it is read again when its workflow task begins. Our clients ask again then (`temporal/querying.py`).
"""

import asyncio
from datetime import timedelta
from typing import Final

from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest
from temporalio.bridge.proto.workflow_activation import WorkflowActivation, WorkflowActivationJob
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import Client
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner

from swf_temporal.temporal.converter import is_contextual
from swf_temporal.temporal.querying import ASK_AGAIN
from swf_temporal.temporal.wrapping import WrappingInstance, WrappingRunner

_EVENTS: Final = frozenset(
    {
        "signal_workflow",
        "fire_timer",
        "resolve_activity",
        "resolve_child_workflow_execution_start",
        "resolve_child_workflow_execution",
        "resolve_signal_external_workflow",
        "resolve_request_cancel_external_workflow",
        "resolve_nexus_operation_start",
        "resolve_nexus_operation",
        "cancel_workflow",
    }
)
"""What is told of an event in the history. An update is not: the server hands it to a workflow task alone."""

_PATIENCE: Final = timedelta(seconds=5)
"""The time limit for the server's answer."""


class BegunTasksRunner(WrappingRunner):
    """Runs workflows as another runner does, without the steps that no workflow task has begun."""

    def __init__(self, runner: WorkflowRunner, client: Client) -> None:
        super().__init__(runner)
        self._client = client
        self._is_contextual = is_contextual(client.data_converter)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        inner, loop = super().create_instance(det), asyncio.get_running_loop()
        return _Instance(inner, self._client, loop, is_contextual=self._is_contextual)


class _Instance(WrappingInstance):
    def __init__(
        self, inner: WorkflowInstance, client: Client, loop: asyncio.AbstractEventLoop, *, is_contextual: bool
    ) -> None:
        super().__init__(inner, is_contextual=is_contextual)
        self._client = client
        self._loop = loop
        self._is_read = False
        """Whether it has been read from a history, and has taken no new step since."""

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow take its next step, if a workflow task has begun it."""
        if act.is_replaying:
            self._is_read = self._is_read or not _is_query(act)
        elif self._is_read and not _is_debugged() and any(map(_is_event, act.jobs)):
            if not self._has_begun(act):
                refused = WorkflowActivationCompletion()
                refused.failed.failure.message = ASK_AGAIN
                return refused
            self._is_read = False
        return super().activate(act)

    def _has_begun(self, act: WorkflowActivation) -> bool:
        """Ask the server whether the workflow task is in progress that *act* is of. Raises RPCError."""
        info = self.get_info()
        request = DescribeWorkflowExecutionRequest(namespace=info.namespace)
        request.execution.workflow_id, request.execution.run_id = info.workflow_id, info.run_id
        asking = self._client.workflow_service.describe_workflow_execution(request, timeout=_PATIENCE)
        described = asyncio.run_coroutine_threadsafe(asking, self._loop).result()
        if described.HasField("pending_workflow_task"):
            began: object = described.pending_workflow_task.started_time
            return began == act.timestamp
        # Either the task is over, and has added to the history, or the server never says: the SDK's for tests does not.
        return described.workflow_execution_info.history_length <= act.history_length


def _is_debugged() -> bool:
    """Tell whether this is the thread of the worker's event loop, in which the SDK's debugging mode has all steps."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _is_query(act: WorkflowActivation) -> bool:
    return any(job.HasField("query_workflow") for job in act.jobs)


def _is_event(job: WorkflowActivationJob) -> bool:
    return job.WhichOneof("variant") in _EVENTS and not job.resolve_activity.is_local
