"""What else may be said of a start, in the SDK's words."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from temporalio.common import (
        Priority,
        RetryPolicy,
        SearchAttributes,
        TypedSearchAttributes,
        VersioningOverride,
        WorkflowIDConflictPolicy,
        WorkflowIDReusePolicy,
    )

HEADERS: Final = "headers"
"""In the memo of an instance: the headers of the request that started it, by name."""
IDENTITY: Final = "identity"
"""There too: who sent that request."""
BUSINESS_KEY: Final = "businessKey"
"""There too: by what the sender knows the instance."""
IDEMPOTENCY_KEY: Final = "idempotencyKey"
"""There too, where the sender has chosen the id of the instance: a digest of the key that such requests repeat."""


class StartOptions(TypedDict, total=False):
    """Options of `Client.start` that go to the server as they are: those of `start_workflow` of the SDK."""

    memo: "Mapping[str, Any]"
    search_attributes: "TypedSearchAttributes | SearchAttributes"
    execution_timeout: timedelta
    run_timeout: timedelta
    task_timeout: timedelta
    id_reuse_policy: "WorkflowIDReusePolicy"
    id_conflict_policy: "WorkflowIDConflictPolicy"
    retry_policy: "RetryPolicy"
    priority: "Priority"
    start_delay: timedelta
    static_summary: str
    static_details: str
    versioning_override: "VersioningOverride"
    rpc_metadata: "Mapping[str, str | bytes]"
    rpc_timeout: timedelta


NAMES: Final = frozenset(StartOptions.__annotations__)


def turns_of(priority: int | None, fairness_key: str | None, fairness_weight: float | None) -> StartOptions:
    """Return the options by which a server orders the tasks of an instance among those of others."""
    from temporalio.common import Priority  # noqa: PLC0415 - heavy, and only where something is started

    return {"priority": Priority(priority, fairness_key, fairness_weight)}
