"""Further options of a start, with the SDK's names."""

from collections.abc import Mapping
from datetime import timedelta
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, TypedDict, Union, get_args, get_origin, get_type_hints

from swf_temporal.base.arguments import check_kind

if TYPE_CHECKING:
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
"""The memo key of the headers of the request that started an instance, by name."""
IDENTITY: Final = "identity"
"""The memo key of the sender of that request."""
BUSINESS_KEY: Final = "businessKey"
"""The memo key of the sender's own name for the instance."""
IDEMPOTENCY_KEY: Final = "idempotencyKey"
"""The memo key of a digest of the request's idempotency key, if the sender has chosen the id of the instance."""


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


def check_options(given: Mapping[str, Any]) -> None:
    """Raise UsageError if one of the options *given* is not of its kind."""
    if not given:
        return
    from temporalio import common  # noqa: PLC0415 - heavy, and only where something is started

    kinds = get_type_hints(StartOptions, localns={"Mapping": Mapping, **vars(common)})
    for name, value in given.items():
        wanted = kinds[name]
        ways = get_args(wanted) if isinstance(wanted, UnionType) or get_origin(wanted) is Union else (wanted,)
        check_kind(name, value, *(get_origin(way) or way for way in ways))


def turns_of(priority: int | None, fairness_key: str | None, fairness_weight: float | None) -> StartOptions:
    """Return the options that determine the order of an instance's tasks among those of others."""
    from temporalio.common import Priority  # noqa: PLC0415 - heavy, and only where something is started

    return {"priority": Priority(priority, fairness_key, fairness_weight)}
