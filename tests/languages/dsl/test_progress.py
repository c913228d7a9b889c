"""The progress of an instance survives a suspension at each of its steps, and is read again as it was written."""

import json
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.records import MalformedRecord, Record, nested
from swf_temporal.languages.dsl.execution.frames import (
    CallBody,
    DoBody,
    ForBody,
    ForkBody,
    InstanceFrame,
    ListenBody,
    ListFrame,
    SubscriptionFrame,
    TaskFrame,
    TryBody,
    WaitBody,
)
from swf_temporal.runtime.progress import Value, forget_deadlines
from swf_temporal.runtime.retrying import AttemptsFrame
from swf_temporal.simulation.scenario import Scenario
from tests.corpus import CORPUS, ROOT
from tests.simulation.test_scenarios import _essence, _suspended

SCENARIOS = [one for one in CORPUS if one.file == ROOT / "dsl/progress.yaml"]
"""Scenarios in which every kind of frame lives for several steps."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.claim)
def test_survives_a_suspension_at_each_step(scenario: Scenario) -> None:
    undisturbed, steps = _suspended(scenario, 0)
    assert steps > 5
    for step in range(1, steps + 1):
        again, _ = _suspended(scenario, step)
        assert _essence(again) == _essence(undisturbed), f"suspended at step {step}"


def task(body: Any = None, **rest: Any) -> TaskFrame:
    return TaskFrame(1.0, body=body, **rest)


EVENT: JSON = {"specversion": "1.0", "id": "1", "source": "s", "type": "t"}
BODIES: list[Any] = [
    CallBody("do/0/a#1"),
    CallBody(arguments=Value(None), function=task(DoBody(ListFrame(1, {"n": 1})))),
    CallBody(subscription=SubscriptionFrame("s", 9.0, {"r": 1}, [1], [2], ListFrame(0, 2, task()), is_over=True)),
    DoBody(ListFrame(2, [1], task())),
    ForBody([1, 2], {"n": 1}, 1, ListFrame(0, None, task(WaitBody(5.0)))),
    ForkBody({0: task(CallBody("b#1"))}, {2: Value(None)}, [0], {"type": "x"}),
    ListenBody(
        begun=True, expected={"k": 1}, fits={"e": ["0"]}, given_back=["e"], consumed=[1], pending=[EVENT],
        pending_all=[EVENT], step=ListFrame(0, 1), until=["0"], is_over=True, taken={"0": EVENT}, fixed=["k"],
        deadline=3.0, awaited=True,
    ),
    TryBody(AttemptsFrame(2, 4.0), 1.0, 2.0, ListFrame(0, 1), {"type": "x"}, ListFrame(1, 2, task(WaitBody(6.0)))),
    WaitBody(7.5),
]  # fmt: skip


def whole(body: Any) -> InstanceFrame:
    """Return the progress of an instance in whose task, which is extended, *body* is under way."""
    one = task(
        body, extended=1, extension=ListFrame(0, 1, task()), input=Value(1), deadline=2.0, raw_output=Value(2),
        output=Value(None), then="end",
    )  # fmt: skip
    return InstanceFrame(
        1, "/do/0/a", {"type": "e"}, tasks=ListFrame(0, 1, one), context=[1], deadline=8.0, ended=Value(3), again=9.0
    )


@pytest.mark.parametrize("body", BODIES, ids=lambda one: one.KIND)
def test_a_frame_is_read_as_it_was_written(body: Record) -> None:
    assert InstanceFrame.from_json(json.loads(json.dumps(whole(body).to_json()))) == whole(body)


@pytest.mark.parametrize("body", BODIES, ids=lambda one: one.KIND)
def test_what_a_newer_release_adds_to_a_frame_is_passed_over(body: Record) -> None:
    written = whole(body).to_json()
    written["tasks"]["task"]["body"]["newer"] = written["newer"] = {"kind": "list"}
    assert InstanceFrame.from_json(written) == whole(body)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"kind": "call", "id": 5}, "body.id"),
        ({"kind": "call", "subscription": {"name": "s", "pending": {}}}, "body.subscription.pending"),
        ({"kind": "call", "arguments": 1}, "body.arguments"),
        ({"kind": "do"}, "body has no 'tasks'"),
        ({"kind": "for", "items": {}, "data": 1}, "body.items"),
        ({"kind": "for", "items": [], "data": 1, "index": "1"}, "body.index"),
        ({"kind": "fork", "running": {"x": {}}}, "body.running"),
        ({"kind": "fork", "failed": ["0"]}, "body.failed"),
        ({"kind": "listen", "fits": {"e": [0]}}, "body.fits.e"),
        ({"kind": "listen", "is_over": 1}, "body.is_over"),
        ({"kind": "try", "attempts": []}, "body.attempts"),
        ({"kind": "try", "handler": {"at": 0}}, "body.handler has no 'data'"),
        ({"kind": "wait", "until": "5"}, "body.until"),
        ({"kind": "while"}, "body is not of one of the kinds"),
        (7, "body has to be"),
    ],
)
def test_a_frame_that_no_release_writes_is_refused(body: Any, place: str) -> None:
    written = whole(WaitBody(1.0)).to_json()
    written["tasks"]["task"]["body"] = body
    with pytest.raises(MalformedRecord) as refused:
        InstanceFrame.from_json(written)
    assert f"tasks.task.{place}" in str(refused.value)


def test_what_is_retried_gets_its_time_and_its_attempts_anew() -> None:
    """That of a race, too, which all branches have lost; a branch that alone has lost stays out of it."""
    attempts, lost = TryBody(AttemptsFrame(3, 4.0), 1.0, 2.0), ForkBody({0: task(), 1: task()}, failed=[1, 0])
    undecided = ForkBody({0: task(attempts, deadline=5.0), 1: task(lost), 2: task()}, failed=[2])
    frame = whole(undecided)
    forget_deadlines(frame)
    for one in nested(frame, TaskFrame):
        one.forget_attempts()
    assert attempts == TryBody()
    assert [one.deadline for one in nested(frame, TaskFrame)] == [None] * 7
    assert (lost.failed, undecided.failed) == ([], [2])
