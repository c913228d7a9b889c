"""The status of a workflow, also where the SDK has no word for it, as for a workflow that is paused."""

from typing import Any, Final

from temporalio.api.enums.v1 import WorkflowExecutionStatus as StatusNumber
from temporalio.client import WorkflowExecution, WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

_PREFIX: Final = "WORKFLOW_EXECUTION_STATUS_"

OPEN: Final = "CloseTime IS NULL"
"""The list filter that finds what has not ended: what runs, what is paused, and what has a status unknown here."""


async def running_execution(handle: WorkflowHandle[Any, Any]) -> WorkflowExecutionDescription | None:
    """Return what the server says of the workflow of *handle*; None if there is none, or it has ended."""
    try:
        found = await handle.describe()
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    return None if is_closed(found) else found


def is_closed(execution: WorkflowExecution) -> bool:
    """Tell whether it has ended: one that is paused, or has a status unknown here, has not."""
    return execution.close_time is not None


def _member_of_unknown(cls: Any, number: int) -> Any:
    member = int.__new__(cls, number)
    known = StatusNumber.DESCRIPTOR.values_by_number.get(number)
    member._name_ = str(number) if known is None else known.name.removeprefix(_PREFIX)
    member._value_ = number
    return member


# The SDK raises ValueError from every description and list that has a status newer than itself.
setattr(WorkflowExecutionStatus, "_missing_", classmethod(_member_of_unknown))  # noqa: B010 - mypy knows no such method
