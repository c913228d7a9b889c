"""The activity options in the metadata of a zigflow document."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from swf_temporal.base.calls import PRIORITIES
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.languages.dsl.execution.lane import CallOptions, seconds_of
from swf_temporal.languages.dsl.model.node import DurationParts
from swf_temporal.languages.dsl.model.zigflow import OPTIONS, ActivityOptions
from swf_temporal.runtime.retrying import RetryRule

OF_STATUS: Final = "zigflow"
"""The condition of retries that is about the status of an answer."""
_FINAL_STATUS: Final = 501
_SERVER_ERRORS: Final = range(500, 600)
_TRIED_AGAIN: Final = (408, 429)
_ATTEMPT: Final = 15.0
"""The seconds that an attempt of an activity may take by default."""
_DELAY, _LONGEST_DELAY, _FACTOR, _ATTEMPTS = 1.0, 60.0, 2.0, 5


@dataclass(frozen=True, slots=True)
class ActivityRules:
    """How the activities of a task are run."""

    call_options: CallOptions
    external: Mapping[str, JSON]
    """The same for an activity of another worker, by the names that Temporal has."""


def options_of(of_document: Mapping[str, Any], of_task: Mapping[str, Any]) -> ActivityOptions:
    """Return the options in the metadata of a task, and in those of the document."""
    document, task = of_document.get(OPTIONS) or {}, of_task.get(OPTIONS) or {}
    policy = {**(document.get("retryPolicy") or {}), **(task.get("retryPolicy") or {})}
    given = {**document, **task, **({"retryPolicy": policy} if policy else {})}
    return ActivityOptions.model_validate({key: value for key, value in given.items() if value is not None})


def rules_of(options: ActivityOptions, timeout: Mapping[str, Any] | None) -> ActivityRules:
    """Return the rules for these *options*, where each attempt may take the *timeout* of the workflow."""
    policy = options.retry_policy
    delay = _or(None if policy is None else policy.initial_interval, _DELAY)
    longest = _or(None if policy is None else policy.maximum_interval, _LONGEST_DELAY)
    factor = _FACTOR if policy is None or policy.backoff_coefficient is None else policy.backoff_coefficient
    attempts = _ATTEMPTS if policy is None or policy.maximum_attempts is None else policy.maximum_attempts
    never = () if policy is None or policy.non_retryable_error_types is None else policy.non_retryable_error_types
    rule = RetryRule(
        delay=delay,
        multiplier=factor,
        max_delay=max(longest, delay),
        max_attempts=attempts or None,
        never=tuple((name, None) for name in never),
        condition=OF_STATUS,
    )
    attempt = _ATTEMPT if timeout is None else seconds_of(DurationParts.model_validate(dict(timeout)))
    total = options.schedule_to_close
    priority = None if options.priority is None or options.priority.priority_key is None else options.priority
    key = None if priority is None or priority.priority_key is None else min(priority.priority_key, max(PRIORITIES))
    external: dict[str, JSON] = {
        "startToCloseTimeout": _written(_or(options.start_to_close, attempt)),
        "retryPolicy": {
            "initialInterval": _written(delay),
            "maximumInterval": _written(max(longest, delay)),
            "backoffCoefficient": factor,
            "maximumAttempts": attempts,
            "nonRetryableErrorTypes": list(never),
        },
    }
    for name, one in (
        ("scheduleToCloseTimeout", total),
        ("scheduleToStartTimeout", options.schedule_to_start),
        ("heartbeatTimeout", options.heartbeat),
    ):
        if one is not None:
            external[name] = _written(seconds_of(one))
    limit = None if total is None else timedelta(seconds=seconds_of(total))
    return ActivityRules(CallOptions(rule, limit, key), external)


def is_tried_again(fault: WorkflowFault) -> bool:
    """Return whether a call that failed with *fault* is made again, as far as the status of the answer shows it."""
    status = fault.status
    if status is None:
        return fault.retryable
    return status in _TRIED_AGAIN or (status in _SERVER_ERRORS and status != _FINAL_STATUS)


def _or(given: DurationParts | None, otherwise: float) -> float:
    return otherwise if given is None else seconds_of(given)


def _written(seconds: float) -> str:
    return f"PT{seconds:g}S"
