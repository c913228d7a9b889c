"""Errors of requests to a server."""

from typing import Final

from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.errors import UsageError

_FOR_GOOD: Final = frozenset({RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.UNIMPLEMENTED})
"""What a server answers to a request that would fail each time."""


class ServerUnavailableError(UsageError):
    """The server does not answer, or does not do what it is asked at the moment. Later the same may succeed."""


class MailboxFullError(ServerUnavailableError):
    """A mailbox has no room for an event now: it has to process, or to give away, what it has."""


class NotThereError(UsageError):
    """An error: there is no instance with that id."""


class HasEndedError(UsageError):
    """An instance that has ended already."""


class AlreadyStartedError(UsageError):
    """An instance of that id is running, or was started before where that may be done once."""

    def __init__(self, message: str, hint: str | None = None, *, instance: str) -> None:
        super().__init__(message, hint)
        self.instance = instance


class ReservedIdError(UsageError):
    """An id that nobody may choose."""


class NeverTakenError(UsageError):
    """An event that an instance never takes: its definition describes none like it."""


class InboxFullError(UsageError):
    """An event that an instance has no room for now: it keeps many that no state has taken."""


class NoAnswerError(UsageError):
    """No worker answered for an event in time."""


def not_there(error: RPCError, workflow_id: str) -> UsageError:
    """Return the error of a request about an instance that the server refused."""
    if error.status == RPCStatusCode.NOT_FOUND:
        if "already completed" in error.message:
            return has_ended(workflow_id)
        return NotThereError(f"there is no instance {workflow_id!r}", "see `swf list`")
    if "number of signal" in error.message or "for signal events" in error.message:
        return InboxFullError(
            f"{workflow_id!r} was sent more events than one execution accepts: {error.message}",
            "send it again later: the instance continues as new once its calls have ended and it keeps fewer events",
        )
    return refused_by_server(error, f"the server did not answer for {workflow_id!r}")


def refused_by_server(error: RPCError, what: str) -> UsageError:
    """Return the error of *what* the server did not do: ServerUnavailableError where it may do so later."""
    kind = UsageError if error.status in _FOR_GOOD else ServerUnavailableError
    return kind(f"{what}: {error.message}")


def has_ended(workflow_id: str) -> HasEndedError:
    """Return the error of a request to an instance that has ended."""
    return HasEndedError(f"the instance {workflow_id!r} has ended already", "`swf result` shows its result")
