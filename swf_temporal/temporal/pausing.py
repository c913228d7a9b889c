"""Pausing and resuming instances: the server supports it, but the SDK has no methods for it."""

from uuid import uuid4  # noqa: TID251 - a client's

from temporalio.api.workflowservice.v1 import PauseWorkflowExecutionRequest, UnpauseWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.client_errors import InstanceError, ServerUnavailableError
from swf_temporal.base.errors import UsageError
from swf_temporal.temporal.client_errors import not_there


async def pause(client: Client, workflow_id: str, reason: str | None = None) -> None:
    """Pause an instance: it takes no further step until it is resumed.

    Raises UsageError if there is none, or it is paused already; ServerUnavailableError if the server does not allow it.
    """
    wanted = PauseWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_id=workflow_id,
        identity=client.identity,
        reason=reason or "",
        request_id=str(uuid4()),
    )
    try:
        await client.workflow_service.pause_workflow_execution(wanted, retry=True)
    except RPCError as error:
        if error.status == RPCStatusCode.UNIMPLEMENTED:
            hint = "its operator allows it by frontend.WorkflowPauseEnabled in the dynamic configuration"
            text = f"the server cannot pause workflows of the namespace {client.namespace!r}"
            raise PausingNotAllowedError(text, hint, is_refusal=True) from None
        raise _refused(error, workflow_id, "is paused already") from None


async def resume(client: Client, workflow_id: str, reason: str | None = None) -> None:
    """Resume a paused instance. Raises UsageError if there is none, or it is not paused."""
    wanted = UnpauseWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_id=workflow_id,
        identity=client.identity,
        reason=reason or "",
        request_id=str(uuid4()),
    )
    try:
        await client.workflow_service.unpause_workflow_execution(wanted, retry=True)
    except RPCError as error:
        raise _refused(error, workflow_id, "is not paused") from None


class PausingNotAllowedError(ServerUnavailableError):
    """The server does not allow that workflows are paused."""


class PauseConflictError(InstanceError):
    """The instance to pause is paused already, or the one to resume is not paused."""


def _refused(error: RPCError, workflow_id: str, what: str) -> UsageError:
    if error.status == RPCStatusCode.FAILED_PRECONDITION:
        hint = "`swf status` shows its state"
        return PauseConflictError(f"the instance {workflow_id!r} {what}", hint, instance=workflow_id)
    return not_there(error, workflow_id)
