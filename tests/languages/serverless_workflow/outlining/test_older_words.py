"""Are states, or tasks, described in the words of the version that they are written in?"""

import json

from swf_temporal.languages.describing import Description
from swf_temporal.languages.loading import load
from tests.languages.serverless_workflow.outlining.described import describe

IN_0_6 = """\
id: poll
version: "1"
start: Rest
states:
  - {name: Rest, type: delay, timeDelay: PT1S, transition: Poll}
  - name: Poll
    type: subflow
    workflowId: ask
    repeat: {max: 2, expression: "${ .left > 0 }", checkBefore: false, continueOnError: true, stopOnEvents: [enough]}
    end: true
events: [{name: enough, source: /s, type: enough}]
"""
OF_DECEMBER = """\
id: loop
startsAt: Solve
states:
  - name: Solve
    type: OPERATION
    actions: [{function: solve}]
    loop: {inputCollection: $.all, timeDelay: PT1S, completionCondition: $.solved == true}
    transition: {nextState: Next}
  - {name: Next, type: SUBFLOW, workflowId: next, waitForCompletion: true, end: true}
"""
OF_NOVEMBER = """\
id: wait
startsAt: Wait
triggerDefs: [{name: x, type: x, source: s}, {name: y, type: y, source: s}, {name: z, type: z, source: s}]
states:
  - name: Wait
    type: EVENT
    events:
      - {eventExpression: (x OR y) AND z, timeout: PT1H, actions: [{function: solve}], nextState: Next}
      - {eventExpression: y, nextState: Next}
  - {name: Next, type: DELAY, timeDelay: PT1S, end: true}
"""
START = {"kind": "default"}
TASKS = {
    "id": "tasks",
    "name": "Tasks",
    "version": "1",
    "functions": [{"name": "f", "resource": "f", "type": "custom"}],
    "tasks": [
        {"name": "A", "type": "delay", "start": START, "timeDelay": "PT1S", "transition": {"nextTask": "B"}},
        {"name": "B", "type": "operation", "actions": [{"functionRef": {"refName": "f"}}], "end": {"kind": "default"}},
    ],
}  # fmt: skip


def _described(text: str) -> Description:
    return describe(load(text))


def _states(text: str, heading: str = "states") -> str:
    return next(part for part in _described(text).text().split("\n\n") if part.startswith(f"{heading}\n"))


def test_delays_and_subflows_of_0_6() -> None:
    """A delay is called that, and a subflow, with how often it is repeated."""
    assert _states(IN_0_6) == (
        "states\n  Rest: delay\n    waits PT1S\n    → Poll\n"
        "  Poll: subflow\n    runs workflow ask\n"
        "    repeated, while ${ .left > 0 } holds after each run, 2 times at most, until enough arrived,"
        " also after an error\n    → end"
    )
    diagram = _described(IN_0_6).mermaid()
    assert '"Rest (delay)"' in diagram
    assert '"Poll (subflow)"' in diagram


def test_loops_of_2019() -> None:
    """A state with a loop is one state, of its own type."""
    assert _states(OF_DECEMBER) == (
        "states\n  Solve: OPERATION\n    for each of $.all, sequential, PT1S apart, until $.solved == true\n"
        "    calls solve\n    → Next\n  Next: SUBFLOW\n    runs workflow next\n    → end"
    )
    assert _described(OF_DECEMBER).mermaid().count("Solve") == 1


def test_event_expressions_of_2019() -> None:
    assert _states(OF_NOVEMBER).startswith(
        "states\n  Wait: EVENT\n    waits for (x or y) and z, for PT1H\n      calls solve\n    waits for y\n"
        "    → Next, on (x or y) and z\n    → Next, on y\n"
    )


def test_tasks_of_may_2020() -> None:
    """Tasks are called that, also where it is told who calls a function; the parent of the draft has states."""
    assert (
        _states(json.dumps(TASKS), "tasks")
        == "tasks\n  A: delay\n    waits PT1S\n    → B\n  B: operation\n    calls f\n    → end"
    )
    assert "    called by B" in _described(json.dumps(TASKS)).text()
    of_parent = json.dumps(TASKS).replace("tasks", "states").replace("nextTask", "nextState")
    assert _states(of_parent).startswith("states\n  A: delay")
    assert "    called by B" in _described(of_parent).text()
