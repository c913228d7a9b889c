"""The activity that a function `temporal:ACTIVITY@QUEUE` names, and its options.

The form is our own. It may name any activity of the cluster, in whatever language it is written; its options are in the
function's metadata, under the names that Temporal gives them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.durations import parse_duration

PREFIX = "temporal:"
_OF_WORKFLOW = "workflow:"
"""Follows the prefix if the name is one of a workflow, not of an activity."""

_TIMEOUTS = ("startToCloseTimeout", "scheduleToStartTimeout", "scheduleToCloseTimeout", "heartbeatTimeout")
_OF_ACTIVITIES = ("scheduleToStartTimeout", "heartbeatTimeout")
_POLICY = "retryPolicy"
_INTERVALS = ("initialInterval", "maximumInterval")
_POLICY_KEYS = (*_INTERVALS, "backoffCoefficient", "maximumAttempts", "nonRetryableErrorTypes")
OPTIONS = (*_TIMEOUTS, _POLICY)
"""The keys of the metadata that are options."""


class InvalidActivityOptions(ValueError):  # noqa: N818 - named for what it is about
    """A function of this form that cannot be run. `path` is the place in the function's definition."""

    def __init__(self, message: str, *path: str) -> None:
        self.path = path
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class ExternalRetryPolicy:
    """The retry policy of Temporal; None means Temporal's default."""

    initial_interval: timedelta | None = None
    maximum_interval: timedelta | None = None
    backoff_coefficient: float | None = None
    maximum_attempts: int | None = None
    never: tuple[str, ...] = ()
    """The types of errors that are not tried again."""


@dataclass(frozen=True, slots=True)
class ActivityOptions:
    """An existing activity and the options to run it with."""

    activity: str
    task_queue: str | None = None
    """None means the workflow's own."""
    start_to_close: timedelta | None = None
    schedule_to_start: timedelta | None = None
    schedule_to_close: timedelta | None = None
    heartbeat: timedelta | None = None
    policy: ExternalRetryPolicy | None = None
    """Replaces the definition's retries."""
    is_workflow: bool = False
    """Whether it is a workflow, run as a child."""

    @property
    def word(self) -> str:
        return "workflow" if self.is_workflow else "activity"


def is_external_activity(function: Function) -> bool:
    operation = function.operation
    return function.type == "custom" and isinstance(operation, str) and operation.strip().startswith(PREFIX)


def parse_activity(function: Function) -> ActivityOptions | None:
    """Return the options of *function*, or None if it is not of this form. Raises InvalidActivityOptions."""
    if not is_external_activity(function):
        return None
    operation = str(function.operation)
    name = operation.strip().removeprefix(PREFIX)
    is_workflow = name.startswith(_OF_WORKFLOW)
    name = name.removeprefix(_OF_WORKFLOW)
    activity, at, queue = name.rpartition("@") if "@" in name else (name, "", "")
    activity, queue = activity.strip(), queue.strip()
    if not activity or (at and not queue):
        missing = "task queue" if activity else "workflow" if is_workflow else "activity"
        form = "temporal:workflow:NAME@QUEUE" if is_workflow else "temporal:ACTIVITY@QUEUE"
        raise InvalidActivityOptions(f"the operation {operation!r} names no {missing}: it is {form}", "operation")
    for key in _OF_ACTIVITIES if is_workflow else ():
        if key in function.metadata:
            why = f"{key} applies to activities, and {activity!r} is a workflow"
            raise InvalidActivityOptions(why, "metadata", key)
    start_to_close, schedule_to_start, schedule_to_close, heartbeat = (
        _length(function.metadata, key, "metadata") for key in _TIMEOUTS
    )
    return ActivityOptions(
        activity,
        queue or None,
        start_to_close,
        schedule_to_start,
        schedule_to_close,
        heartbeat,
        _policy(function.metadata[_POLICY]) if _POLICY in function.metadata else None,
        is_workflow,
    )


def _policy(value: JSON) -> ExternalRetryPolicy:
    if not isinstance(value, dict):
        raise InvalidActivityOptions(
            f"{_POLICY} must be an object with some of {', '.join(_POLICY_KEYS)}", "metadata", _POLICY
        )
    unknown = next((key for key in value if key not in _POLICY_KEYS), None)
    if unknown is not None:
        raise InvalidActivityOptions(
            f"{_POLICY} has no {unknown!r}; it has {', '.join(_POLICY_KEYS)}", "metadata", _POLICY
        )
    initial, maximum = (_length(value, key, "metadata", _POLICY) for key in _INTERVALS)
    if initial and maximum and maximum < initial:
        raise InvalidActivityOptions("maximumInterval is shorter than initialInterval", "metadata", _POLICY)
    attempts = value.get("maximumAttempts")
    if attempts is not None and (not isinstance(attempts, int) or isinstance(attempts, bool) or attempts < 0):
        raise InvalidActivityOptions(
            f"maximumAttempts is {attempts!r}, and must be a whole number; 0 is for no limit", "metadata", _POLICY
        )
    backoff = value.get("backoffCoefficient")
    if backoff is not None and (not isinstance(backoff, int | float) or isinstance(backoff, bool) or backoff < 1):
        raise InvalidActivityOptions(
            f"backoffCoefficient is {backoff!r}, and must be a number of at least 1", "metadata", _POLICY
        )
    never = value.get("nonRetryableErrorTypes", [])
    if not isinstance(never, list) or not all(isinstance(name, str) for name in never):
        raise InvalidActivityOptions("nonRetryableErrorTypes must be an array of strings", "metadata", _POLICY)
    return ExternalRetryPolicy(initial, maximum, backoff, attempts, tuple(str(name) for name in never))


def _length(values: Mapping[str, JSON], key: str, *path: str) -> timedelta | None:
    if key not in values:
        return None
    try:
        length = parse_duration(str(values[key]))
    except ValueError:
        length = timedelta()
    if length <= timedelta():
        raise InvalidActivityOptions(
            f"{key} is {values[key]!r}, and must be a duration in ISO 8601 such as PT30S", *path, key
        )
    return length
