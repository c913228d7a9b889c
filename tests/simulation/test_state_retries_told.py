"""What the trace tells of another attempt at a whole state."""

from typing import Any

from swf_temporal import CallFailed, Simulation, simulate
from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import TraceKind


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
