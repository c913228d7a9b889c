"""What is under way for an instance, as the server knows it?"""

from collections.abc import Iterator
from datetime import UTC
from typing import Any

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription


def under_way(execution: WorkflowExecutionDescription) -> dict[str, list[Any]]:
    """Return the calls that have no result yet and the ids of sub-workflows that run; nothing where there are none."""
    described = execution.raw_description
    found: dict[str, list[Any]] = {
        "calls": [_call(pending) for pending in described.pending_activities],
        "subflows": [child.workflow_id for child in described.pending_children],
    }
    return {kind: those for kind, those in found.items() if those}


def lines_of(facts: dict[str, Any]) -> Iterator[str]:
    """Yield what a person reads of that."""
    for call in facts.get("calls", ()):
        then = f" at {call['next']}" if "next" in call else ""
        after = f", after {call['lastFailure']}" if "lastFailure" in call else ""
        yield f"  calls {call['function']} ({call['id']}), attempt {call['attempt']}{then}{after}"
    for workflow_id in facts.get("subflows", ()):
        yield f"  runs {workflow_id}"


def _call(pending: PendingActivityInfo) -> dict[str, Any]:
    call: dict[str, Any] = {
        "id": pending.activity_id,
        "function": pending.activity_type.name,
        "attempt": pending.attempt,
    }
    rests = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED and pending.attempt > 1
    if rests and pending.HasField("scheduled_time"):
        call["next"] = pending.scheduled_time.ToDatetime(tzinfo=UTC).isoformat(timespec="seconds")
    if pending.HasField("last_failure"):
        call["lastFailure"] = pending.last_failure.message
    return call
