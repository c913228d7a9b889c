"""The attempts at a call, as the worker that made them tells: each failed one with its time, error and delay.

Temporal keeps the failure of the last attempt alone. So each attempt that fails reports all failed ones: in its
failure, beside the fault, which the history keeps; and in a heartbeat, from which the next attempt has them,
whichever worker makes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from temporalio import activity
from temporalio.exceptions import ApplicationError

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.records import MalformedRecord, Record

MAX_ATTEMPTS: Final = 20
"""The number of failed attempts that are reported: the latest."""
_MAX_TEXT: Final = 300
"""The length limit of a name and of a message in such a report, in characters."""


@dataclass(slots=True)
class FailedAttempt(Record):
    number: int
    began: str
    """When it began, by ISO 8601."""
    ended: str
    error: str
    """The name of its error."""
    message: str = ""
    delay: float | None = None
    """The seconds before the next attempt; None if there is none."""
    worker: str = ""
    """The identity of its worker."""

    @property
    def took(self) -> timedelta:
        return datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.began)


def reported(values: Sequence[Any]) -> list[FailedAttempt]:
    """Return the failed attempts in *values*, the details of a heartbeat or what a failure has beside its fault."""
    try:
        return [FailedAttempt.from_json(one) for one in values[0]] if values else []
    except (MalformedRecord, TypeError, ValueError, LookupError):  # another program's
        return []


def attempts_in(failure: BaseException | None) -> list[FailedAttempt]:
    """Return the failed attempts that a call's *failure* reports, its own last."""
    return reported(failure.details[1:]) if isinstance(failure, ApplicationError) else []


def now() -> datetime:
    """Return the time of this machine: attempts are made on a worker."""
    return datetime.now(UTC)  # noqa: TID251 - an activity's


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def _identity() -> str:
    """Return the identity of this worker; empty if the activity runs without one, as in a test."""
    try:
        return activity.client().identity
    except RuntimeError:
        return ""


class Attempts:
    """The failed attempts at the call that the running activity makes."""

    def __init__(self) -> None:
        info = activity.info()
        self._is_local = info.is_local
        self._given = info.heartbeat_details
        self._failed = reported(self._given)

    def beat(self) -> None:
        """Send a heartbeat, without losing what is reported."""
        activity.heartbeat(*self._given)

    def note(self, number: int, began: datetime, fault: WorkflowFault, delay: float | None) -> JSON:
        """Report to the next attempt that one has failed with *fault*; return what its failure reports."""
        since, until = (one.isoformat(timespec="milliseconds") for one in (began, now()))
        self._failed.append(
            FailedAttempt(number, since, until, _cut(fault.name), _cut(fault.message), delay, _identity())
        )
        del self._failed[:-MAX_ATTEMPTS]
        told: JSON = [one.to_json() for one in self._failed]
        if delay is not None and not self._is_local:
            self._given = [told]
            self.beat()
        return told
