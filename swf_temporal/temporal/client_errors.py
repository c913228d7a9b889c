"""Errors of requests that a server refused."""

from typing import Final

from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.client_errors import (
    InboxFullError,
    InstanceEndedError,
    InstanceNotFoundError,
    InstancePausedError,
    ServerUnavailableError,
)
from swf_temporal.base.errors import UsageError

_FOR_GOOD: Final = frozenset({RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.UNIMPLEMENTED})
"""What a server answers to a request that would fail each time."""
NOT_PERMITTED: Final = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED})
"""What it answers to a caller that may not make the request."""


def not_there(error: RPCError, workflow_id: str) -> UsageError:
    """Return the error of a request about an instance that the server refused."""
    if error.status == RPCStatusCode.NOT_FOUND:
        if "already completed" in error.message:
            return has_ended(workflow_id)
        return InstanceNotFoundError(f"there is no instance {workflow_id!r}", instance=workflow_id)
    if "number of signal" in error.message or "for signal events" in error.message:
        return InboxFullError(
            f"{workflow_id!r} was sent more events than one execution accepts: {error.message}",
            "send it again later: the instance continues as new once its calls have ended and it keeps fewer events",
            instance=workflow_id,
        )
    if "Workflow Task in failed state" in error.message:
        text = f"{workflow_id!r} takes nothing now: its worker cannot run it, and tries again"
        return ServerUnavailableError(text, f"`swf status {workflow_id}` tells why")
    return refused_by_server(error, f"the server did not answer for {workflow_id!r}")


def is_paused(workflow_id: str) -> InstancePausedError:
    """Return the error of a question to an instance that is paused."""
    hint = f"`swf resume {workflow_id}` lets it go on"
    text = f"the instance {workflow_id!r} is paused, and answers once it is resumed"
    return InstancePausedError(text, hint, instance=workflow_id)


def refused_by_server(error: RPCError, what: str) -> UsageError:
    """Return the error of *what* the server did not do: ServerUnavailableError where it may do so later."""
    text = f"{what}: {error.message}"
    if error.status in _FOR_GOOD:
        return UsageError(text)
    if error.status in NOT_PERMITTED:
        return ServerUnavailableError(text, "see TEMPORAL_API_KEY, and who may use the namespace", is_refusal=True)
    return ServerUnavailableError(text)


def has_ended(workflow_id: str) -> InstanceEndedError:
    """Return the error of a request to an instance that has ended."""
    return InstanceEndedError(
        f"the instance {workflow_id!r} has ended already", "its result() tells how", instance=workflow_id
    )
