"""Errors of requests to a server about instances, and what `result()` raises if an instance has no output.

SwfError
├── UsageError
│   ├── ServerUnavailableError     the server does not answer, or not at the moment; the same may succeed later
│   │   └── MailboxFullError       a mailbox has no room for an event now
│   ├── InvalidInputError          an input is not JSON
│   ├── InvalidEventError          the value to send is not an event
│   ├── TooLargeToSendError        the data is larger than can be sent
│   └── InstanceError              of one instance, whose id is `instance`
│       ├── InstanceNotFoundError  no instance has that id
│       ├── InstanceEndedError     it has ended already
│       ├── InstancePausedError    it is paused, and answers no requests
│       ├── AlreadyStartedError    an instance with that id is running, or was started before
│       ├── ReservedIdError        the id is reserved: a caller cannot choose it
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
"""The ways in which an instance ends without an output."""


class ServerUnavailableError(UsageError):
    """The server does not answer, or does not carry out the request at the moment. The same may succeed later.

    `is_refusal` says that this requires a change of the caller's credentials or permissions.
    """

    def __init__(self, message: str, hint: str | None = None, *, is_refusal: bool = False) -> None:
        super().__init__(message, hint)
        self.is_refusal = is_refusal


class MailboxFullError(ServerUnavailableError):
    """A mailbox has no room for an event now: it has to process or forward those that it has."""


class InvalidInputError(UsageError):
    """The input of an instance is not one JSON value."""


class InvalidEventError(UsageError):
    """The value to send is not an event, or its data is not JSON."""


class TooLargeToSendError(UsageError):
    """The data is larger than can be sent: it has `size` bytes, and the limit is `limit`."""

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
    """No instance has that id, or not any more: a server forgets those that ended long ago."""


class InstanceEndedError(InstanceError):
    """The instance has ended already."""


class InstancePausedError(InstanceError):
    """The instance is paused: it answers no requests until it is resumed."""


class AlreadyStartedError(InstanceError):
    """An instance with that id is running, or was started before and may be started only once."""


class ReservedIdError(InstanceError):
    """The id has a form that is reserved."""


class NeverTakenError(InstanceError):
    """The instance never takes the event: its definition describes none like it. `event` is what was sent."""

    def __init__(
        self, message: str, hint: str | None = None, *, instance: str, event: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, hint, instance=instance)
        self.event = event


class InboxFullError(InstanceError):
    """The instance has no room for the event now: it keeps many that no state has taken."""


class NoAnswerError(InstanceError):
    """No worker answered for the instance within `patience`."""

    def __init__(self, message: str, hint: str | None = None, *, instance: str, patience: timedelta) -> None:
        super().__init__(message, hint, instance=instance)
        self.patience = patience


class RunEnded(WorkflowFault):
    """An instance ended without an output: `how` says in which way, `instance` is its id.

    If the run failed with a fault, `fault` is that, and `name`, `code`, `message`, `state` and so on are the same.
    Otherwise the name is `how`. Its text, `str()`, also says where it happened.
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
