"""Time in simulations: delays, cycles, and what comes at once."""

import asyncio
import gc
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from swf_temporal import CallFailed, Simulation, simulate
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import StepLimitExceeded
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.clock import MAX_STEPS, MAX_TIMES_THE_SAME, StateHistory
from swf_temporal.simulation.context import SimulationContext


def _course() -> StateHistory:
    course = StateHistory()
    course.begin("w")
    return course


def _given_up(course: StateHistory, steps: Iterator[tuple[str, JSON]]) -> tuple[int, str]:
    """Return after how many *steps*, all of them in one moment, the course is given up, and what is told."""
    for number, (state, data) in enumerate(steps):
        try:
            course.enter(state, data, 0.0)
        except StepLimitExceeded as fault:
            return number, fault.message
    raise AssertionError("it was not given up")


def test_long_loops_come_to_their_end() -> None:
    loop = {
        "id": "counts", "specVersion": "0.8",
        "states": [{"name": "Add", "type": "inject", "data": {"n": "${ .n + 1 }"}, "transition": "Enough"},
                   {"name": "Enough", "type": "switch",
                    "dataConditions": [{"condition": "${ .n >= 4000 }", "end": True}],
                    "defaultCondition": {"transition": "Add"}}],
    }  # fmt: skip
    run = simulate(loop, {"n": 0})
    assert (run.status, run.output) == ("completed", {"n": 4000})


def test_the_same_data_again_and_again_is_a_cycle() -> None:
    """The states before a cycle do not hide it, and are not named with it when they are long past."""
    course = _course()
    for number in range(40):
        course.enter(f"before {number}", {}, 0.0)
    steps, message = _given_up(course, (("ABC"[n % 3], {"third": n % 3}) for n in count()))
    assert MAX_TIMES_THE_SAME * 3 <= steps <= MAX_TIMES_THE_SAME * 3 + 200
    assert message.endswith(
        " began with the same data 500 times without waiting for anything, in a cycle: states 'A', 'B' and 'C'"
    )


COUNTING = {"name": "A", "type": "inject", "data": {"n": "${ .n + 1 }"}, "transition": "B"}
POLLING = {"name": "A", "type": "operation", "actions": [{"functionRef": "poll"}], "transition": "B"}
WAITING = {"name": "B", "type": "sleep", "duration": "PT5S", "transition": "A"}


@pytest.mark.parametrize(
    "states", [[COUNTING, {**COUNTING, "name": "B", "transition": "A"}], [POLLING, WAITING], [COUNTING, WAITING]]
)
def test_what_goes_on_is_given_up(states: list[dict[str, Any]]) -> None:
    """A loop that counts, and one that asks again and again, end after a number of steps that can be set."""
    functions = [{"name": "poll", "operation": "poll.json#poll"}]
    loop = {"id": "loop", "specVersion": "0.8", "functions": functions, "states": states}
    answers = {"poll": {"status": "RUNNING"}}
    for most, run in (
        (MAX_STEPS, simulate(loop, {"n": 0}, functions=answers)),
        (100, simulate(loop, {"n": 0}, functions=answers, max_steps=100)),
    ):
        assert run.error is not None
        assert run.error.name == "StepLimitExceeded"
        assert run.error.message.startswith(f"{most:,} states and retries ran, which is the limit set by max_steps: ")
        assert run.error.message.endswith(": lately states 'A' and 'B'")


def test_states_that_wait_are_no_cycle() -> None:
    course, entered = _course(), 0
    for moment in range(2 * MAX_STEPS):
        course.enter("A", {}, float(moment))
        entered += 1
    assert entered == 2 * MAX_STEPS


def test_a_large_cycle_is_named_in_part() -> None:
    _, message = _given_up(_course(), ((str(n % 25), {}) for n in count()))
    assert "states '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' and 15 more" in message


def _failing(_arguments: JSON) -> JSON:
    raise CallFailed("still busy", code=503)


def _context(**retry: Any) -> SimulationContext:
    """Return a context in which one call fails for good, however often it is tried again."""
    definition = load(
        {"id": "retrying", "specVersion": "0.8", "functions": [{"name": "work", "type": "custom", "operation": "work"}],
         "retries": [{"name": "again", "maxAttempts": 5, **retry}],
         "states": [{"name": "Work", "type": "operation", "actions": [{"functionRef": "work", "retryRef": "again"}],
                     "end": True}]}
    )  # fmt: skip
    return SimulationContext([definition], {"work": _failing}, [], {})


@pytest.mark.parametrize(("retry", "jitter", "delays"), [
    ({"delay": "PT10S", "increment": "PT2S"}, [0.5] * 4, [10, 12, 14, 16]),
    ({"delay": "PT10S", "multiplier": 2}, [0.5] * 4, [10, 20, 40, 80]),
    ({"delay": "PT10S", "multiplier": 4, "jitter": "PT1S", "maxDelay": "PT100S"}, [1, 0, 0.5, 0], [11, 43, 100, 100]),
])  # fmt: skip
def test_examples_of_the_specification(retry: dict[str, Any], jitter: list[float], delays: list[float]) -> None:
    context = _context(**retry)
    context.jitter = lambda _key: lambda attempt: jitter[attempt - 1]
    run = context.run({})
    assert [entry.detail["delay"] for entry in run.trace if entry.kind is TraceKind.ACTION_RETRIED] == delays
    assert run.delays == tuple(("work", timedelta(seconds=delay)) for delay in delays)
    assert run.elapsed == timedelta(seconds=sum(delays))


def test_jitter_is_the_same_in_every_simulation() -> None:
    first, second = (_context(delay="PT10S", jitter=0.5).run({}) for _ in range(2))
    assert first.elapsed == second.elapsed != timedelta(seconds=40)


CORRELATED = [{"contextAttributeName": "order"}]
DEFINITION = {
    "id": "orders", "version": "1.0.0", "specVersion": "0.8",
    "events": [{"name": "Asked", "type": "asked", "source": "s", "kind": "produced"},
               {"name": "Paid", "type": "paid", "source": "s", "correlation": CORRELATED},
               {"name": "Sent", "type": "sent", "source": "s", "correlation": CORRELATED}],
    "states": [{"name": "Both", "type": "parallel",
                "branches": [{"name": name,
                              "actions": [{"eventRef": {"triggerEventRef": "Asked",
                                                        "resultEventRef": name}}]} for name in ("Paid", "Sent")],
                "end": True}],
}  # fmt: skip


def test_the_first_fixes_what_belongs_to_the_instance() -> None:
    """Of two events that come at once the second belongs to another instance, if the first says so, and is kept."""
    others = CloudEvent("2", "s", "sent", {"sent": "another's"}, {"order": "2"})
    waits = 0
    kept: list[str] = []

    def deliver(interpretation: Run, entry: TraceEntry) -> None:
        nonlocal waits
        if entry.kind is TraceKind.STATE_LEFT:
            kept.extend(event.id for event in interpretation.inbox.kept)
        waits += entry.kind is TraceKind.EVENT_AWAITED
        if waits == 2 and entry.kind is TraceKind.EVENT_AWAITED:
            for event in (CloudEvent("1", "s", "paid", {"paid": True}, {"order": "1"}), others):
                asyncio.get_running_loop().call_soon(interpretation.deliver, event)

    own = CloudEvent("3", "s", "sent", {"sent": "own"}, {"order": "1"})
    context = SimulationContext([load(DEFINITION)], {}, [own], {})
    context.on_trace = deliver
    assert context.run({}).output == {"paid": True, "sent": "own"}
    assert kept == ["2"]


def _retries(run: Simulation) -> list[tuple[str, dict[str, Any]]]:
    return [(one.name, dict(one.detail)) for one in run.trace if one.kind is TraceKind.STATE_RETRIED]


def test_attempts_at_a_state_are_counted_together() -> None:
    """Before 0.7 each entry of onErrors counts its own attempts, and the trace counts those of the state."""
    definition = """
id: shop
schemaVersion: "0.6"
functions: [{name: ship, operation: "shop.json#ship"}]
retries: [{name: busy, delay: PT1M, multiplier: 2, maxAttempts: 2}, {name: late, delay: PT1H, maxAttempts: 1}]
states:
  - name: Ship
    type: operation
    actions: [{functionRef: ship}]
    onErrors:
      - {error: busy, code: "503", retryRef: busy, transition: Failed}
      - {error: late, code: "504", retryRef: late, transition: Failed}
    end: true
  - {name: Failed, type: inject, data: {failed: true}, end: true}
"""
    statuses = [503, 504, 503, 503]

    def ship(_: JSON) -> JSON:
        raise CallFailed(status=statuses.pop(0))

    run = simulate(definition, functions={"ship": ship})
    assert (run.output, statuses) == ({"failed": True}, [])
    assert _retries(run) == [
        ("Ship", {"attempt": 1, "error": "CallFailed", "delay": 60.0}),
        ("Ship", {"attempt": 2, "error": "CallFailed", "delay": 3600.0}),
        ("Ship", {"attempt": 3, "error": "CallFailed", "delay": 120.0}),
    ]


def test_attempts_at_a_task_are_counted_together() -> None:
    """In the draft of May 2020 each retry counts its own attempts, and the trace counts those of the task."""
    definition = """
    id: poll
    name: Poll
    version: "1.0"
    functions: [{name: poll, resource: poll}]
    tasks:
      - name: Poll
        type: operation
        start: {kind: default}
        actions: [{functionRef: {refName: poll}}]
        retry:
          - {expression: "$.error != null", interval: PT1M, multiplier: PT2M, maxAttempts: 2}
          - {expression: "$.state == 'pending'", interval: PT1H, maxAttempts: 1}
        end: {kind: default}
    """
    answers: list[JSON] = [None, {"state": "pending"}, None, {"state": "pending"}]

    def poll(_: JSON) -> JSON:
        answer = answers.pop(0)
        if answer is None:
            raise CallFailed(name="Busy")
        return answer

    run = simulate(definition, functions={"poll": poll})
    assert (run.output, answers) == ({"state": "pending"}, [])
    assert _retries(run) == [
        ("Poll", {"attempt": 1, "error": "Busy", "delay": 60.0}),
        ("Poll", {"attempt": 2, "error": None, "delay": 3600.0}),
        ("Poll", {"attempt": 3, "error": "Busy", "delay": 180.0}),
    ]


def test_nothing_is_left_when_a_simulation_has_ended(caplog: pytest.LogCaptureFixture) -> None:
    """Of two timers that are due at once, the second has not had its turn when the first ends the run."""
    race = {"fork": {"compete": True, "branches": [{"one": {"wait": "PT0S"}}, {"other": {"wait": "PT0S"}}]}}
    document = {"dsl": "1.0.3", "namespace": "test", "name": "race", "version": "1.0.0"}
    assert simulate({"document": document, "do": [{"race": race}]}, {}).status == "completed"
    gc.collect()  # asyncio tells of a task when it is deleted
    assert caplog.messages == []
