"""The reason why a workflow is stuck: its latest workflow task failed, and is being retried."""

from contextlib import suppress

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import Client, WorkflowExecutionDescription
from temporalio.exceptions import FailureError
from temporalio.service import RPCError

_LATEST = 10
"""The number of latest events to check: a failed task is among the last."""


async def why_task_failed(
    client: Client, described: WorkflowExecutionDescription, *, has_begun: bool = True
) -> str | None:
    """Return why the workflow task that is being retried failed; None if none is, or the reason is not known.

    A workflow that has not begun may have recorded what it looked up: its task was tried before.
    """
    error = await error_of_task(client, described, has_begun=has_begun)
    return error.message if isinstance(error, FailureError) else None if error is None else str(error)


async def error_of_task(
    client: Client, described: WorkflowExecutionDescription, *, has_begun: bool = True
) -> BaseException | None:
    """Return the error of the workflow task that is being retried, like `why_task_failed`."""
    task = described.raw_description.pending_workflow_task
    if not described.raw_description.HasField("pending_workflow_task") or (has_begun and task.attempt <= 1):
        return None
    request = GetWorkflowExecutionHistoryReverseRequest(
        namespace=client.namespace,
        execution=WorkflowExecution(workflow_id=described.id, run_id=described.run_id),
        maximum_page_size=_LATEST,
    )
    with suppress(RPCError):  # it has just ended, or the caller may not read histories
        found = await client.workflow_service.get_workflow_execution_history_reverse(request)
        for event in found.history.events:
            if event.HasField("workflow_task_failed_event_attributes"):
                return await client.data_converter.decode_failure(event.workflow_task_failed_event_attributes.failure)
    return None
