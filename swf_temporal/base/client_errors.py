"""Errors of requests to a server about instances, and what `result()` raises for one that gave no output.

SwfError
├── UsageError
│   ├── ServerUnavailableError     the server does not answer, or not at the moment; later the same may succeed
│   │   └── MailboxFullError       a mailbox has no room for an event now
│   ├── InvalidInputError          an input is not JSON
│   ├── InvalidEventError          what was to be sent is not an event
│   ├── TooLargeToSendError        data of more bytes than can be sent
│   └── InstanceError              of one instance, whose id is `instance`
│       ├── InstanceNotFoundError  there is none of that id
│       ├── InstanceEndedError     it has ended already
│       ├── InstancePausedError    it is paused, and answers nothing
│       ├── AlreadyStartedError    one of that id is running, or was started before
│       ├── ReservedIdError        nobody may choose that id
│       ├── NeverTakenError        its definition describes no such event
│       ├── InboxFullError         it has no room for an event now
│       └── NoAnswerError          no worker answered for it in time
└── WorkflowFault
    └── RunEnded                   it failed, or was cancelled or terminated
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from swf_temporal.base.errors import UsageError, WorkflowFault

HowEnded = Literal["failed", "cancelled", "terminated", "timed-out"]
"""The ends of an instance that gives no output."""


class ServerUnavailableError(UsageError):
    """The server does not answer, or does not do what it is asked at the moment. Later the same may succeed.

    `is_refusal` tells whether that takes a change of the caller's credentials or permissions.
    """

    def __init__(self, message: str, hint: str | None = None, *, is_refusal: bool = False) -> None:
        super().__init__(message, hint)
        self.is_refusal = is_refusal


class MailboxFullError(ServerUnavailableError):
    """A mailbox has no room for an event now: it has to process, or to give away, what it has."""


class InvalidInputError(UsageError):
    """The input of an instance is not one JSON value."""


class InvalidEventError(UsageError):
    """What was to be sent is not an event, or its data is not JSON."""


class TooLargeToSendError(UsageError):
    """Data of more bytes than can be sent: it has `size` bytes, and `limit` could be."""

    def __init__(self, message: str, hint: str | None = None, *, size: int, limit: int) -> None:
        super().__init__(message, hint)
        self.size = size
        self.limit = limit


class InstanceError(UsageError):
    """An error of a request about one instance, whose id is `instance`."""

    def __init__(self, message: str, hint: str | None = None, *, instance: str) -> None:
        super().__init__(message, hint)
        self.instance = instance


class InstanceNotFoundError(InstanceError):
    """There is no instance of that id, or not any more: a server forgets those that ended long ago."""


class InstanceEndedError(InstanceError):
    """An instance that has ended already."""


class InstancePausedError(InstanceError):
    """An instance that is paused: it answers nothing until it is resumed."""


class AlreadyStartedError(InstanceError):
    """An instance of that id is running, or was started before where that may be done once."""


class ReservedIdError(InstanceError):
    """An id of a form that is reserved."""


class NeverTakenError(InstanceError):
    """An event that an instance never takes: its definition describes none like it. `event` is what was sent."""

    def __init__(
        self, message: str, hint: str | None = None, *, instance: str, event: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, hint, instance=instance)
        self.event = event


class InboxFullError(InstanceError):
    """An event that an instance has no room for now: it keeps many that no state has taken."""


class NoAnswerError(InstanceError):
    """No worker answered for an instance within `patience`."""

    def __init__(self, message: str, hint: str | None = None, *, instance: str, patience: timedelta) -> None:
        super().__init__(message, hint, instance=instance)
        self.patience = patience


class RunEnded(WorkflowFault):
    """An instance that ended without an output: `how` says in which way, `instance` is its id.

    The facts are those of the run's own fault, if it failed with one: its `name`, `code`, `message`, `state` and so on;
    `fault` is that fault. Otherwise the name is `how`. Its text, `str()`, says where it happened, too.
    """

    default_name = "RunEnded"

    def __init__(
        self, text: str, how: HowEnded, fault: WorkflowFault | None = None, *, instance: str | None = None
    ) -> None:
        facts = {"message": text, "name": how} if fault is None else fault.to_json()
        facts.pop("kind", None)
        super().__init__(facts.pop("message"), **facts)
        self.args = (text,)
        self.how = how
        self.fault = fault
        self.instance = instance
