"""The status of a workflow, also where the SDK has no word for it, as for a workflow that is paused."""

from typing import Any, Final

from temporalio.api.enums.v1 import WorkflowExecutionStatus as StatusNumber
from temporalio.client import WorkflowExecution, WorkflowExecutionStatus

_PREFIX: Final = "WORKFLOW_EXECUTION_STATUS_"


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
