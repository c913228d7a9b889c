"""In which words definitions of each version are described, and drawn."""

import json
import re

import pytest

from swf_temporal.drawing.outline import Outline, OutlinePart
from swf_temporal.languages.describing import Description, diagram_of
from swf_temporal.languages.loading import load
from swf_temporal.languages.serverless_workflow.outlining import facts_of_retries
from tests.languages.serverless_workflow.models import load_model
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


SHOP = """
id: shop
name: Shop
version: "1.0"
functions: [{name: work, resource: work}]
tasks:
  - name: Work
    type: operation
    start: {kind: scheduled, schedule: {interval: 2020-03-20T09:00:00Z/PT6H}}
    actions: [{functionRef: {refName: work}, timeout: PT2M}]
    retry:
      - {expression: "name eq 'Busy'", interval: PT1M, multiplier: PT2M, maxAttempts: 3}
      - {expression: "name eq 'Late'"}
      - {expression: "name eq 'Broken'", maxAttempts: 0}
    transition: {nextTask: Each, expression: "$.user.title eq 'MANAGER'"}
  - name: Each
    type: foreach
    inputCollection: $.list
    inputParameter: $.one
    max: 2
    timeDelay: PT1S
    tasks: [{name: Do, type: delay, start: {kind: default}, timeDelay: PT1M, end: {kind: terminate}}]
    end: {kind: default}
"""


def test_what_only_this_draft_has_is_told() -> None:
    """When a start is active, how a task is tried again, what a transition asks for, and pauses between iterations."""
    lines = describe(load(SHOP)).text().splitlines()
    assert "  starts in Work, in 2020-03-20T09:00:00Z/PT6H only" in lines
    start = lines.index("  Work: operation")
    assert lines[start + 1 : start + 11] == [
        "    calls work, for PT2M at most",
        "    again 3 times at most if name eq 'Busy', after PT1M and PT2M more each time",
        "    again 1 time at most if name eq 'Late'", "    never again if name eq 'Broken'",
        "    → Each, only if $.user.title eq 'MANAGER'", "  Each: foreach",
        "    each of $.list as $.one, parallel, 2 at once, PT1S apart", "    Do: delay", "      waits PT1M",
        "      → the end of all paths",
    ]  # fmt: skip


def told(retry: str, more: str = "") -> list[tuple[str | None, list[float] | None, str]]:
    """Return name, delays and words of what is told of a workflow with *retry*."""
    workflow = load_model(
        f"id: a\nretries: [{retry}]\n{more}\nstates: [{{name: S, type: inject, data: {{}}, end: true}}]\n"
    )
    return [(one["name"], one.get("delays"), one["words"]) for one in facts_of_retries(workflow)]


@pytest.mark.parametrize(("written", "delays", "words"), [
    ("delay: PT0.5S, maxAttempts: 3", [0.5, 0.5], "3 attempts in all, after 500 ms, 500 ms"),
    ("maxAttempts: 1", [], "not retried"),
    ("delay: PT1M, multiplier: 3", [60, 180, 540, 1620, 4860],
     "without limit, after 1 min, 3 min, 9 min, 27 min, 1 h 21 min …"),
    ("delay: PT1S, increment: PT2S, maxAttempts: 9, maxDelay: PT6S", [1, 3, 5, 6, 6],
     "9 attempts in all, after 1 s, 3 s, 5 s, 6 s, 6 s …, never more than 6 s"),
    ("delay: PT1S, jitter: 0.2, maxAttempts: 2", [1], "2 attempts in all, after 1 s, each up to 20% sooner or later"),
    ("delay: PT1S, jitter: PT0.5S, maxAttempts: 2", [1],
     "2 attempts in all, after 1 s, each up to 500 ms sooner or later"),
])  # fmt: skip
def test_retry(written: str, delays: list[float], words: str) -> None:
    assert told(f"{{name: r, {written}}}") == [("r", delays, words)]


def test_auto_retries() -> None:
    assert told("", "autoRetries: true") == [
        (None, [1, 2, 4, 8, 16], "without limit, after 1 s, 2 s, 4 s, 8 s, 16 s …")
    ]


ARROW = re.compile(r"^ +(\[\*\]|\w+) --> (\[\*\]|\w+)(?: : (.*))?$")
DECLARED = re.compile(r'^ +state "([^"]*)" as (\w+)$')
OTHER = re.compile(r"^ +(state \w+ \{|\}|--|note right of \w+|end note)$")


def test_order_example(orders: Description) -> None:
    """The order example is drawn with its conditions, its branches and the way that it takes on an error."""
    assert orders.mermaid().splitlines() == [
        "stateDiagram-v2", '    state "Check stock (foreach)" as s1', "    note right of s1",
        "        each of $#123; .items #125; as line, parallel", "        calls checkStock", "    end note",
        '    state "Is everything there (switch)" as s2', '    state "Wait for confirmation (event)" as s3',
        "    note right of s3", "        waits for orderConfirmed", "        eventTimeout P1D", "    end note",
        '    state "Reserve and charge (parallel)" as s4', "    state s4 {", '        state "goods" as s4b1',
        "        state s4b1 {", '            state "reserve#58; calls reserveItem" as s4b1a1',
        "            [*] --> s4b1a1", "            s4b1a1 --> [*]", "        }", "        --",
        '        state "money" as s4b2', "        state s4b2 {",
        '            state "charge#58; calls chargeCard, retried by patiently" as s4b2a1', "            [*] --> s4b2a1",
        "            s4b2a1 --> [*]", "        }", "    }", "    note right of s4",
        "        until all of these are complete", "    end note", '    state "Let the parcel be packed (sleep)" as s5',
        "    note right of s5", "        waits PT1S", "    end note", '    state "Ship (operation)" as s6',
        "    note right of s6", "        calls createShipment", "        calls notifyCustomer", "    end note",
        '    state "Tell the customer we are sorry (operation)" as s7', "    note right of s7",
        "        calls notifyCustomer", "    end note", "    [*] --> s1", "    s1 --> s2",
        "    s2 --> s7 : something is missing", "    s2 --> s3 : otherwise", "    s3 --> s4", "    s4 --> s5",
        "    s4 --> s7 : ┄ on error payment declined ┄", "    s5 --> s6", "    s6 --> [*] : produces orderShipped",
        "    s7 --> [*]",
    ]  # fmt: skip


def test_every_state_type(every: Description) -> None:
    """A diagram has every state, and every arrow in it leads from one that is declared to another."""
    lines = every.mermaid().splitlines()
    declared = {match[2]: match[1] for line in lines if (match := DECLARED.match(line))}
    assert [declared[f"s{number}"] for number, _ in enumerate(every.facts["parts"], start=1)] == [
        f"{state['name']} ({state['kind']})" for state in every.facts["parts"]
    ]
    ends = {end for line in lines if (match := ARROW.match(line)) for end in match.groups()[:2]}
    assert ends == {*declared, "[*]"} - {"s6b1", "s6b2"}
    assert "    s2 --> s10 : ┄ undone by ┄" in lines
    assert "    s2 --> [*] : ┄ on error *, the end of all paths ┄" in lines


def test_every_line_is_of_the_grammar(every: Description) -> None:
    in_note = False
    for line in every.mermaid().splitlines()[1:]:
        in_note = (in_note or line.strip().startswith("note right of")) and line.strip() != "end note"
        assert in_note or ARROW.match(line) or DECLARED.match(line) or OTHER.match(line), line
        label = (match := ARROW.match(line)) and match[3]
        assert not re.search(r"[:\"{}<>]|(?<!#\d\d)(?<!#\d\d\d);", label or "")


def test_texts_are_escaped_and_cut() -> None:
    """What means something to Mermaid is written as a code, and a long text is cut before that."""
    name = "end note; %% " + "x" * 90
    assert f'state "end#32;note#59; #37;#37; {"x" * 46}…" as s1' in diagram_of(
        Outline((OutlinePart(name, "inject", name),))
    )
