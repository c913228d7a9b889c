"""Attempts at calls, activities of others, and values that records share."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, PayloadTooLarge, WorkflowFault
from swf_temporal.runtime.external_activities import (
    ActivityOptions,
    ExternalRetryPolicy,
    is_external_activity,
    parse_activity,
)
from swf_temporal.runtime.inbox import SAME, with_copies, without_copies
from swf_temporal.runtime.joining import SuspendRequested
from swf_temporal.runtime.performing import MAX_PAYLOAD_BYTES, check_size, size_of
from swf_temporal.runtime.retrying import AttemptsFrame, repeat


class Work:
    def __init__(self) -> None:
        self.frame = AttemptsFrame()
        self.outcomes: list[object] = [CallFailed("no"), 0, 1]
        self.waits: list[float] = []
        self.is_suspended = False

    async def attempt(self) -> object:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def again_at(self, outcome: object) -> float | None:
        return None if outcome == 1 else 10.0 * self.frame.number

    async def pause(self, moment: float) -> None:
        self.waits.append(moment)
        if self.is_suspended:
            raise SuspendRequested


async def test_a_fault_and_a_result_may_be_tried_again() -> None:
    """The number of the attempt goes up, and no moment is left of the waits that are over."""
    work = Work()
    assert await repeat(work.frame, work.attempt, work.again_at, work.pause) == 1
    assert (work.frame, work.waits) == (AttemptsFrame(3), [10.0, 20.0])


async def test_a_fault_that_is_not_tried_again_is_raised() -> None:
    work, fault = Work(), CallFailed("no")

    async def never(_: object) -> None:
        return None

    work.outcomes = [fault]
    with pytest.raises(WorkflowFault) as caught:
        await repeat(work.frame, work.attempt, never, work.pause)
    assert caught.value is fault


async def test_a_wait_goes_on_until_the_same_moment() -> None:
    work = Work()
    work.is_suspended = True
    with pytest.raises(SuspendRequested):
        await repeat(work.frame, work.attempt, work.again_at, work.pause)
    work.frame, work.is_suspended = AttemptsFrame.from_json(work.frame.to_json()), False
    assert await repeat(work.frame, work.attempt, work.again_at, work.pause) == 1
    assert work.waits == [10.0, 10.0, 20.0]


def _function(operation: JSON, type_: str = "custom", **metadata: JSON) -> Function:
    return Function("charge", type_, operation, None, metadata)


@pytest.mark.parametrize(("operation", "activity", "queue"), [
    ("temporal:Charge", "Charge", None),
    (" temporal: Charge @ cards ", "Charge", "cards"),
    ("temporal:charge@shop.example@cards", "charge@shop.example", "cards"),
])  # fmt: skip
def test_an_operation_names_an_activity_and_a_task_queue(operation: str, activity: str, queue: str | None) -> None:
    """The last at sign stands before the task queue; without one, the activity runs on the workflow's own."""
    assert parse_activity(_function(operation)) == ActivityOptions(activity, queue)


@pytest.mark.parametrize("function", [
    _function("temporal:Charge", "rest"), _function("charge"), _function({"temporal:": "Charge"}), _function(None),
])  # fmt: skip
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


@pytest.mark.parametrize(("written", "policy"), [
    ({}, ExternalRetryPolicy()),
    ({"initialInterval": "PT1S", "maximumInterval": "PT1S", "backoffCoefficient": 1, "maximumAttempts": 0,
      "nonRetryableErrorTypes": ["Bad", "Worse"]},
     ExternalRetryPolicy(timedelta(seconds=1), timedelta(seconds=1), 1, 0, ("Bad", "Worse"))),
    ({"maximumInterval": "PT1S"}, ExternalRetryPolicy(maximum_interval=timedelta(seconds=1))),
    ({"initialInterval": "PT2S"}, ExternalRetryPolicy(initial_interval=timedelta(seconds=2))),
    ({"backoffCoefficient": 1.5}, ExternalRetryPolicy(backoff_coefficient=1.5)),
])  # fmt: skip
def test_a_retry_policy_says_only_what_is_written(written: JSON, policy: ExternalRetryPolicy) -> None:
    terms = parse_activity(_function("temporal:Charge", retryPolicy=written))
    assert terms is not None
    assert terms.policy == policy


def test_a_payload_may_be_as_large_as_a_server_takes() -> None:
    check_size(MAX_PAYLOAD_BYTES, "one step can carry")
    check_size(5, "a function can return", 5)
    with pytest.raises(PayloadTooLarge, match=r"^2,031,617 bytes of data are more than the 2,031,616 that it takes$"):
        check_size(MAX_PAYLOAD_BYTES + 1, "it takes")
    assert size_of({"a": [1, 2]}) == len('{"a":[1,2]}')


def test_very_many_bytes_are_not_counted_to_the_last() -> None:
    assert size_of("ü" * 10) == len('"') * 2 + len("\\u00fc") * 10
    shared: JSON = [1]
    for _ in range(60):
        shared = [shared, shared]
    assert size_of(shared) > MAX_PAYLOAD_BYTES


LARGE: list[JSON] = [{"number": number} for number in range(40)]
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.sampled_from([LARGE, {"of": LARGE}, [], {}]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=4),
)


@given(st.dictionaries(st.text("abc", max_size=2), VALUES, max_size=4))
def test_a_record_is_what_it_was_once_it_is_read(record: dict[str, Any]) -> None:
    """What stands twice is written once, and nothing else of the record changes; the record itself does not at all."""
    before = json.dumps(record)
    written = json.dumps(without_copies(record))
    assert json.dumps(record) == before
    assert written.count('{"number": 39}') <= 1
    read = dict(with_copies(json.loads(written)))
    read.pop(SAME, None)
    assert read == record


def test_what_was_shared_is_shared_again() -> None:
    """It is one value in the run that goes on, so that the next record has it once, too."""
    read = with_copies(json.loads(json.dumps(without_copies({"a": LARGE, "b": [{"c": LARGE}]}))))
    assert read["a"] is read["b"][0]["c"]


def test_long_texts_are_written_once() -> None:
    text = "x" * 1000
    record = {"a": {"b": text}, "c": {"b": text, "d": 1}}
    written = json.dumps(without_copies(record))
    assert written.count(text) == 1
    assert {**with_copies(json.loads(written)), SAME: None} == {**record, SAME: None}


def test_a_record_without_repetitions_is_left_alone() -> None:
    small: list[JSON] = [1]
    record: dict[str, Any] = {"a": small, "b": [small], "c": LARGE}
    assert without_copies(record) is record
