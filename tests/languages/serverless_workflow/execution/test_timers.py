"""What the timers of a run are for, which Temporal shows as their summaries."""

from datetime import timedelta

import pytest

from swf_temporal import CallFailed, simulate
from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import Timer
from swf_temporal.simulation.host import SimulatedHost
from swf_temporal.temporal import summaries

TRIP = """
id: trip
specVersion: "0.8"
functions: [{name: work, type: custom}]
events: [{name: Asked, type: asked, source: us, kind: produced}, {name: Told, type: told, source: them}]
retries: [{name: Again, delay: PT8S, maxAttempts: 2}]
timeouts: {workflowExecTimeout: {duration: PT1H}}
states:
  - {name: Nap, type: sleep, duration: PT1S, transition: Work}
  - name: Work
    type: operation
    timeouts: {actionExecTimeout: PT6S, stateExecTimeout: PT1M}
    actions: [{name: child, subFlowRef: child, sleep: {before: PT2S, after: PT3S}}]
    transition: Fork
  - name: Fork
    type: parallel
    timeouts: {branchExecTimeout: PT9S}
    branches: [{name: Left, actions: [{functionRef: work}]}]
    transition: Wait
  - {name: Wait, type: event, timeouts: {eventTimeout: PT10S}, onEvents: [{eventRefs: [Told]}], transition: Ask}
  - name: Ask
    type: operation
    actions:
      - name: ask
        eventRef: {produceEventRef: Asked, consumeEventRef: Told, consumeEventTimeout: PT11S}
        retryRef: Again
    onErrors: [{errorRef: "*", end: true}]
    end: true
"""
CHILD = """
id: child
specVersion: "0.8"
states: [{name: Begin, type: inject, data: {}, transition: Rest}, {name: Rest, type: sleep, duration: PT5S, end: true}]
"""
KEPT_ACTIVE = """
id: kept
specVersion: "0.8"
keepActive: true
timeouts: {workflowExecTimeout: {duration: PT1H, interrupt: false}}
states: [{name: Begin, type: inject, data: {}, end: true}]
"""
STATES_TRIED_AGAIN = """
id: again
schemaVersion: "0.6"
functions: [{name: work, operation: "api#work"}]
retries: [{name: once, delay: PT1S, maxAttempts: 1}]
states:
  - name: Try
    type: operation
    actions: [{functionRef: work}]
    onErrors: [{error: "*", retryRef: once}]
    end: true
"""
TASKS_TRIED_AGAIN = """
id: again
name: Again
version: "1.0"
functions: [{name: work, resource: work}]
tasks:
  - name: Try
    type: operation
    start: {kind: default}
    actions: [{functionRef: {refName: work}}]
    retry: [{expression: "$.error != null", interval: PT2S}]
    end: {kind: default}
"""
ACTIONS_TRIED_AGAIN = """
id: again
startsAt: Try
states:
  - name: Try
    type: OPERATION
    actionMode: SEQUENTIAL
    actions:
      - function: {name: work, type: custom}
        retry: [{match: "SYS.MatchAny", retryInterval: R/PT3S, nextState: Try}]
    end: true
"""


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, str]]:
    """Return the list to which each timer is added that a host is asked for: its seconds, and what it is for."""
    asked: list[tuple[float, str]] = []
    usual = SimulatedHost.sleep

    async def sleep(self: SimulatedHost, duration: timedelta, timer: Timer) -> None:
        asked.append((duration.total_seconds(), summaries.of_timer(timer)))
        await usual(self, duration, timer)

    monkeypatch.setattr(SimulatedHost, "sleep", sleep)
    return asked


def test_a_timer_says_what_it_is_for(timers: list[tuple[float, str]]) -> None:
    """What is slept for, what may take no longer, which events are awaited, and what is tried again."""
    simulate(TRIP, functions={"work": None}, definitions=[CHILD])
    assert timers == [
        (3600.0, "timeout: the workflow"),
        (1.0, "sleep: Nap"),
        (60.0, "timeout: Work"),
        (2.0, "sleep before: Work › child"),
        (6.0, "timeout: Work › child"),
        (5.0, "sleep: Rest"),
        (3.0, "sleep after: Work › child"),
        (9.0, "timeout: Fork › Left"),
        (10.0, "waiting: Wait › Told"),
        (11.0, "waiting: Ask › Told"),
        (8.0, "retry: Ask › ask"),
        (11.0, "waiting: Ask › Told"),
    ]


def test_a_timer_may_end_an_idle_run(timers: list[tuple[float, str]]) -> None:
    simulate(KEPT_ACTIVE)
    assert timers == [(3600.0, "timeout: the workflow")]


@pytest.mark.parametrize(("definition", "timer"), [
    (STATES_TRIED_AGAIN, (1.0, "retry: Try")), (TASKS_TRIED_AGAIN, (2.0, "retry: Try")),
    (ACTIONS_TRIED_AGAIN, (3.0, "retry: Try › work")),
], ids=["0.6", "May 2020", "November 2019"])  # fmt: skip
def test_another_attempt_says_what_it_is_one_at(
    definition: str, timer: tuple[float, str], timers: list[tuple[float, str]]
) -> None:
    attempts: list[JSON] = []

    def work(arguments: JSON) -> JSON:
        attempts.append(arguments)
        if len(attempts) == 1:
            raise CallFailed(name="Broken")
        return None

    assert simulate(definition, functions={"work": work}).status == "completed"
    assert timers == [timer]
