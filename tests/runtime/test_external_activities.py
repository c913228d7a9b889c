"""The activity that an operation names, and the terms on which it is run."""

from datetime import timedelta

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.runtime.external_activities import (
    ActivityOptions,
    ExternalRetryPolicy,
    is_external_activity,
    parse_activity,
)


def _function(operation: JSON, type_: str = "custom", **metadata: JSON) -> Function:
    return Function("charge", type_, operation, None, metadata)


@pytest.mark.parametrize(
    ("operation", "activity", "queue"),
    [
        ("temporal:Charge", "Charge", None),
        (" temporal: Charge @ cards ", "Charge", "cards"),
        ("temporal:charge@shop.example@cards", "charge@shop.example", "cards"),
    ],
)
def test_an_operation_names_an_activity_and_a_task_queue(operation: str, activity: str, queue: str | None) -> None:
    """The last at sign stands before the task queue; without one, the activity runs on the workflow's own."""
    assert parse_activity(_function(operation)) == ActivityOptions(activity, queue)


@pytest.mark.parametrize(
    "function",
    [_function("temporal:Charge", "rest"), _function("charge"), _function({"temporal:": "Charge"}), _function(None)],
)
def test_other_functions_name_none(function: Function) -> None:
    assert not is_external_activity(function)
    assert parse_activity(function) is None


def test_terms_stand_in_the_metadata() -> None:
    terms = parse_activity(
        _function(
            "temporal:Charge", startToCloseTimeout="PT1S", scheduleToStartTimeout="PT2S", scheduleToCloseTimeout="PT3S",
            heartbeatTimeout="PT4S", team="payments",
        )
    )  # fmt: skip
    one, two, three, four = (timedelta(seconds=number) for number in (1, 2, 3, 4))
    assert terms == ActivityOptions("Charge", None, one, two, three, four)


@pytest.mark.parametrize(
    ("written", "policy"),
    [
        ({}, ExternalRetryPolicy()),
        ({"initialInterval": "PT1S", "maximumInterval": "PT1S", "backoffCoefficient": 1, "maximumAttempts": 0,
          "nonRetryableErrorTypes": ["Bad", "Worse"]},
         ExternalRetryPolicy(timedelta(seconds=1), timedelta(seconds=1), 1, 0, ("Bad", "Worse"))),
        ({"maximumInterval": "PT1S"}, ExternalRetryPolicy(maximum_interval=timedelta(seconds=1))),
        ({"initialInterval": "PT2S"}, ExternalRetryPolicy(initial_interval=timedelta(seconds=2))),
        ({"backoffCoefficient": 1.5}, ExternalRetryPolicy(backoff_coefficient=1.5)),
    ],
)  # fmt: skip
def test_a_retry_policy_says_only_what_is_written(written: JSON, policy: ExternalRetryPolicy) -> None:
    terms = parse_activity(_function("temporal:Charge", retryPolicy=written))
    assert terms is not None
    assert terms.policy == policy
