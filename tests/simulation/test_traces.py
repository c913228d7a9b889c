"""What is told of a run: every entry of its trace, with its place and what belongs to it."""

from typing import Any

import pytest

from swf_temporal import CallFailed, Simulation, simulate
from swf_temporal.base.data import JSON
from swf_temporal.languages.direktiv.codes import RETRIES_EXCEEDED
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.simulate import events_of

TRIP = """
id: trip
specVersion: "0.8"
functions: [{name: book, operation: "api#book"}, {name: cancel, operation: "api#cancel"}]
errors: [{name: full, code: "409"}]
retries: [{name: Twice, delay: PT1M, maxAttempts: 3}]
events:
  - {name: paid, type: com.example.paid, source: bank}
  - {name: gone, type: com.example.gone, source: trips, kind: produced}
states:
  - name: Book
    type: operation
    compensatedBy: Cancel
    actions:
      - name: hotel
        functionRef: {refName: book, arguments: {what: hotel}}
        retryRef: Twice
        sleep: {after: PT5M}
      - {name: guide, condition: "${ .guided }", functionRef: book}
    transition: Pay
  - name: Pay
    type: event
    onEvents: [{eventRefs: [paid]}]
    transition: Remind
  - name: Remind
    type: switch
    eventConditions: [{eventRef: paid, transition: Fly}]
    defaultCondition: {transition: Fly}
    timeouts: {eventTimeout: PT2H}
  - name: Fly
    type: parallel
    branches: [{name: out, actions: [{name: plane, functionRef: {refName: book, arguments: {what: plane}}}]}]
    onErrors:
      - errorRef: full
        transition: {nextState: Home, compensate: true, produceEvents: [{eventRef: gone, data: "${ .place }"}]}
    end: true
  - {name: Home, type: inject, data: {home: true}, end: true}
  - {name: Cancel, type: operation, usedForCompensation: true, actions: [{functionRef: cancel}]}
"""
ASKING = """
id: asking
specVersion: "0.8"
dataInputSchema: {schema: {type: object, required: [name]}, failOnValidationErrors: false}
functions: [{name: work, operation: "api#work"}]
events:
  - {name: question, type: com.example.question, source: us, kind: produced}
  - {name: answer, type: com.example.answer, source: them}
retries: [{name: Twice, delay: PT1M, maxAttempts: 2}]
states:
  - name: Ask
    type: operation
    actions:
      - name: letter
        eventRef: {produceEventRef: question, consumeEventRef: answer, consumeEventTimeout: PT1M}
        retryRef: Twice
    onErrors: [{errorRef: "*", transition: Delegate}]
    end: true
  - {name: Delegate, type: operation, actions: [{name: child, subFlowRef: child}], transition: Each}
  - name: Each
    type: foreach
    mode: sequential
    inputCollection: "${ [1, 2] }"
    actions: [{name: step, functionRef: work, sleep: {before: "PT${ .item }S"}}]
    transition: Sleep
  - {name: Sleep, type: sleep, duration: "PT${ .length }S", transition: Fail}
  - name: Fail
    type: operation
    stateDataFilter: {input: "${ ., .length }"}
    actions: [{name: last, functionRef: work}]
    end: true
"""
CHILD = """
id: child
specVersion: "0.8"
states: [{name: Only, type: inject, data: {length: 7}, end: {continueAs: next}}]
"""
TWICE = """
id: twice
name: Twice
version: "1.0"
functions: [{name: work, resource: work}]
tasks:
  - name: Try
    type: operation
    start: {kind: default}
    actions: [{functionRef: {refName: work}}]
    retry: [{expression: "$.error != null", interval: PT1M}]
    transition: {nextTask: Both}
  - name: Both
    type: parallel
    branches:
      - name: late
        tasks:
          - name: Bid
            type: inject
            start: {kind: scheduled, schedule: {interval: 2020-01-01T00:00:00Z/P1Y}}
            end: {kind: default}
    end: {kind: default}
"""
NEXT = """
id: next
specVersion: "0.8"
states: [{name: Last, type: inject, data: {length: 8}, end: true}]
"""


def _told(run: Simulation) -> list[tuple[Any, ...]]:
    entries = ((one.kind.value, one.lane, one.state, one.name, dict(one.detail)) for one in run.trace)
    return [(kind, lane, state, name, *([detail] if detail else [])) for kind, lane, state, name, detail in entries]


def test_everything_that_happens_is_told() -> None:
    """Calls and attempts at them, events that come and do not, errors, undoing and events that go out."""
    attempts: list[JSON] = []

    def book(arguments: dict[str, JSON]) -> JSON:
        attempts.append(arguments)
        if arguments["what"] == "plane":
            raise CallFailed(code=409, status=409, message="no seat")
        if len(attempts) == 1:
            raise CallFailed(code=503, status=503, message="busy")
        return {"booked": True}

    full = {"code": "409", "message": "no seat"}
    paid = {"id": "p-7", "type": "com.example.paid", "source": "bank", "data": {"amount": 3}}
    run = simulate(TRIP, {"place": "Rome", "guided": False}, functions={"book": book, "cancel": None}, events=[paid])
    gone = {"id": run.produced_events[0]["id"], "type": "com.example.gone", "source": "trips", "data": "Rome"}
    assert _told(run) == [
        ("workflow-started", "", "", "trip"),
        ("state-entered", "Book", "Book", "Book", {"type": "operation"}),
        ("action-started", "Book", "Book", "hotel", {"function": "book", "arguments": {"what": "hotel"}}),
        ("action-retried", "Book", "Book", "hotel",
         {"attempt": 1, "error": "CallFailed", "message": "busy", "delay": 60.0}),
        ("action-completed", "Book", "Book", "hotel", {"result": {"booked": True}}),
        ("sleeping", "Book", "Book", "after hotel", {"duration": "PT5M"}),
        ("action-skipped", "Book", "Book", "guide"),
        ("state-left", "Book", "Book", "Book"),
        ("state-entered", "Pay", "Pay", "Pay", {"type": "event"}),
        ("event-awaited", "Pay", "Pay", "paid"),
        ("event-taken", "Pay", "Pay", "paid", paid),
        ("state-left", "Pay", "Pay", "Pay"),
        ("state-entered", "Remind", "Remind", "Remind", {"type": "switch"}),
        ("event-awaited", "Remind", "Remind", "paid", {"until": "2024-01-01T02:06:00+00:00"}),
        ("event-timed-out", "Remind", "Remind", "paid"),
        ("state-left", "Remind", "Remind", "Remind"),
        ("state-entered", "Fly", "Fly", "Fly", {"type": "parallel"}),
        ("action-started", "Fly/out", "Fly", "plane", {"function": "book", "arguments": {"what": "plane"}}),
        ("action-failed", "Fly/out", "Fly", "plane", {"function": "book", "error": "CallFailed", **full}),
        ("error-caught", "Fly", "Fly", "CallFailed", full),
        ("compensating", "Fly", "Fly", "Book", {"by": "Cancel"}),
        ("state-entered", "Cancel", "Cancel", "Cancel", {"type": "operation"}),
        ("action-started", "Cancel", "Cancel", "cancel", {"function": "cancel", "arguments": None}),
        ("action-completed", "Cancel", "Cancel", "cancel", {"result": None}),
        ("state-left", "Cancel", "Cancel", "Cancel"),
        ("event-produced", "Fly", "Fly", "gone", gone),
        ("state-left", "Fly", "Fly", "Fly"),
        ("state-entered", "Home", "Home", "Home", {"type": "inject"}),
        ("state-left", "Home", "Home", "Home"),
        ("workflow-completed", "", "", "trip"),
    ]  # fmt: skip


def test_asking_and_failing_are_told() -> None:
    calls: list[JSON] = []

    def work(arguments: JSON) -> JSON:
        calls.append(arguments)
        if len(calls) == 3:
            raise CallFailed(code="x", message="broken")
        return {"done": len(calls)}

    broken = {"code": "x", "message": "broken"}
    late = {"code": "TimedOut", "message": "event 'answer' did not come in time"}
    run = simulate(ASKING, {}, functions={"work": work}, definitions=[CHILD, NEXT])
    first, second = (
        {"id": one["id"], "type": "com.example.question", "source": "us", "data": {}} for one in run.produced_events
    )
    assert _told(run) == [
        ("workflow-started", "", "", "asking"),
        ("schema-mismatch", "", "", "input", {"violations": ["$: 'name' is a required property"]}),
        ("state-entered", "Ask", "Ask", "Ask", {"type": "operation"}),
        ("action-started", "Ask", "Ask", "letter", {"event": "question"}),
        ("event-produced", "Ask", "Ask", "question", first),
        ("event-awaited", "Ask", "Ask", "answer", {"until": "2024-01-01T00:01:00+00:00"}),
        ("event-timed-out", "Ask", "Ask", "answer"),
        ("action-retried", "Ask", "Ask", "letter", {"attempt": 1, "error": "TimedOut", "message": late["message"]}),
        ("event-produced", "Ask", "Ask", "question", second),
        ("event-awaited", "Ask", "Ask", "answer", {"until": "2024-01-01T00:03:00+00:00"}),
        ("event-timed-out", "Ask", "Ask", "answer"),
        ("action-failed", "Ask", "Ask", "letter", {"event": "question", "error": "TimedOut", **late}),
        ("error-caught", "Ask", "Ask", "TimedOut", late),
        ("state-left", "Ask", "Ask", "Ask"),
        ("state-entered", "Delegate", "Delegate", "Delegate", {"type": "operation"}),
        ("action-started", "Delegate", "Delegate", "child", {"subflow": "child"}),
        ("action-completed", "Delegate", "Delegate", "child", {"result": {"length": 8}}),
        ("state-left", "Delegate", "Delegate", "Delegate"),
        ("state-entered", "Each", "Each", "Each", {"type": "foreach"}),
        ("sleeping", "Each[0]", "Each", "before step", {"duration": "PT1S"}),
        ("action-started", "Each[0]", "Each", "step", {"function": "work", "arguments": None}),
        ("action-completed", "Each[0]", "Each", "step", {"result": {"done": 1}}),
        ("sleeping", "Each[1]", "Each", "before step", {"duration": "PT2S"}),
        ("action-started", "Each[1]", "Each", "step", {"function": "work", "arguments": None}),
        ("action-completed", "Each[1]", "Each", "step", {"result": {"done": 2}}),
        ("state-left", "Each", "Each", "Each"),
        ("state-entered", "Sleep", "Sleep", "Sleep", {"type": "sleep"}),
        ("sleeping", "Sleep", "Sleep", "Sleep", {"duration": "PT8S"}),
        ("state-left", "Sleep", "Sleep", "Sleep"),
        ("state-entered", "Fail", "Fail", "Fail", {"type": "operation"}),
        ("several-outputs", "Fail", "Fail", "Fail", {"count": 2}),
        ("action-started", "Fail", "Fail", "last", {"function": "work", "arguments": None}),
        ("action-failed", "Fail", "Fail", "last", {"function": "work", "error": "CallFailed", **broken}),
        ("workflow-failed", "", "", "CallFailed", broken),
    ]


def test_going_on_as_another_is_told() -> None:
    assert _told(simulate(CHILD, {}, definitions=[NEXT])) == [
        ("workflow-started", "", "", "child"),
        ("state-entered", "Only", "Only", "Only", {"type": "inject"}),
        ("state-left", "Only", "Only", "Only"),
        ("workflow-continued", "", "", "next"),
        ("workflow-started", "", "", "next"),
        ("state-entered", "Last", "Last", "Last", {"type": "inject"}),
        ("state-left", "Last", "Last", "Last"),
        ("workflow-completed", "", "", "next"),
    ]


def test_what_was_taken_in_vain_is_told() -> None:
    definition = """
    id: vain
    specVersion: "0.8"
    events: [{name: Read, type: read, source: s}, {name: Never, type: never, source: s}]
    states:
      - {name: Begin, type: inject, data: {}, transition: All}
      - name: All
        type: event
        exclusive: false
        onEvents: [{eventRefs: [Read, Never]}]
        timeouts: {eventTimeout: PT1H}
        end: true
    """
    run = simulate(definition, {}, events=[{"type": "read", "source": "s", "data": 1}])
    assert _told(run)[-4:] == [
        ("event-timed-out", "All", "All", "Never"),
        ("event-given-back", "All", "All", "Read"),
        ("state-left", "All", "All", "All"),
        ("workflow-completed", "", "", "vain"),
    ]


def test_nothing_is_awaited_that_came_before() -> None:
    read: JSON = {"name": "read", "type": "read", "source": "s"}
    pass_by: JSON = {"name": "Begin", "type": "inject", "data": {}, "transition": "Wait"}
    wait: JSON = {
        "name": "Wait", "type": "event", "exclusive": False, "timeouts": {"eventTimeout": "PT1H"}, "end": True,
        "onEvents": [{"eventRefs": ["read", "more", "last", "never"]}],
    }  # fmt: skip
    others: list[JSON] = [{"name": name, "type": name, "source": "s"} for name in ("more", "last", "never")]
    definition: Any = {"id": "early", "specVersion": "0.8", "events": [read, *others], "states": [pass_by, wait]}
    early, later = (events_of([{"id": name, "type": name, "source": "s"}]) for name in ("read", "more"))
    ended = SimulationContext([load(definition)], {}, later, {}, early=early).run({})
    told = [(entry.kind, entry.name) for entry in ended.trace if entry.kind.startswith("event")]
    assert told == [
        ("event-taken", "read"),
        ("event-awaited", "more, last, never"),
        ("event-taken", "more"),
        ("event-awaited", "last, never"),
        ("event-timed-out", "last, never"),
        ("event-given-back", "read"),
        ("event-given-back", "more"),
    ]


def test_a_run_that_is_to_be_suspended_begins_no_wait() -> None:
    states: JSON = [{"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["go"]}], "end": True}]
    events: JSON = [{"name": "go", "type": "go", "source": "s"}]
    definition: Any = {"id": "go", "specVersion": "0.8", "events": events, "states": states}
    context = SimulationContext([load(definition)], {}, events_of([{"type": "go", "source": "s"}]), {})
    told: list[str] = []

    def suspend(run: Run, entry: TraceEntry) -> None:
        told.append(entry.kind)
        if entry.kind is TraceKind.STATE_ENTERED:
            run.suspend()

    def resumed(progress: dict[str, Any]) -> dict[str, Any]:
        told.append("suspended")
        return progress

    context.on_trace, context.resumed = suspend, resumed
    assert context.run({}).status == "completed"
    assert told[1:5] == ["state-entered", "suspended", "event-awaited", "event-taken"]


def test_another_attempt_at_a_whole_state_is_told() -> None:
    """In the draft of May 2020 a task is run again as a whole, and what starts at certain times may not be active."""
    attempts: list[JSON] = []

    def work(arguments: JSON) -> JSON:
        attempts.append(arguments)
        if len(attempts) == 1:
            raise CallFailed(name="Busy", message="busy")
        return None

    told = _told(simulate(TWICE, functions={"work": work}))
    assert ("state-retried", "Try", "Try", "Try", {"attempt": 1, "error": "Busy", "delay": 60.0}) in told
    inactive = {"interval": "2020-01-01T00:00:00Z/P1Y"}
    assert ("not-active", "Both/late", "Both", "Both/late", inactive) in told


def test_a_change_of_the_data_is_told() -> None:
    definition = """
    id: changed
    specVersion: "0.8"
    states:
      - {name: Put, type: inject, data: {b: 2}, transition: Nap}
      - {name: Nap, type: sleep, duration: PT1H, end: true}
    """
    context = SimulationContext([load(definition)], {}, [], {})

    def change(run: Run, entry: TraceEntry) -> None:
        if entry.kind is TraceKind.SLEEPING and run.is_new:
            run.change({"a": None, "c": {"d": 3}})

    context.on_trace = change
    simulation = context.run({"a": 1})
    assert simulation.output == {"b": 2, "c": {"d": 3}}
    changed = [entry for entry in simulation.trace if entry.kind is TraceKind.DATA_CHANGED]
    assert [(one.name, one.detail) for one in changed] == [("Nap", {"patch": {"a": None, "c": {"d": 3}}})]


def test_a_fault_knows_its_branch() -> None:
    definition = """
    id: forked
    specVersion: "0.8"
    functions: [{name: work, type: custom}]
    states:
      - name: Fork
        type: parallel
        branches:
          - {name: Left, actions: [{functionRef: work}]}
          - {name: Right, actions: [{functionRef: {refName: work, arguments: "${ .a.b.c }"}}]}
        end: true
    """
    fault = simulate(definition, {"a": 1}, functions={"work": 1}).fault
    assert fault is not None
    assert (fault.state, fault.branch, fault.action) == ("Fork", "Right", "work")


def test_a_fault_knows_its_branch_of_states() -> None:
    definition = """
    id: forked
    name: Forked
    version: "1.0"
    functions: [{name: work, resource: work}]
    tasks:
      - name: Fork
        type: parallel
        start: {kind: default}
        branches:
          - name: Left
            tasks: [{name: Wait, type: inject, data: {}, start: {kind: default}, end: {kind: default}}]
          - name: Right
            tasks:
              - name: Work
                type: operation
                start: {kind: default}
                actions: [{functionRef: {refName: work}}]
                end: {kind: default}
        end: {kind: default}
    """

    def work(_: JSON) -> JSON:
        raise CallFailed(name="Broken")

    fault = simulate(definition, {}, functions={"work": work}).fault
    assert fault is not None
    assert (fault.state, fault.branch, fault.action) == ("Fork/Right/Work", "Right", "work")


def test_what_nobody_waits_for_is_told_without_a_result() -> None:
    """A call that is not waited for has begun and is done with; its result is not known, and not even null."""
    definition = """
    id: unseen
    specVersion: "0.8"
    functions: [{name: work, type: custom}]
    states: [{name: Work, type: operation, actions: [{functionRef: {refName: work, invoke: async}}], end: true}]
    """
    run = simulate(definition, {}, functions={"work": {"worked": True}})
    assert ("action-completed", "Work", "Work", "work") in _told(run)


def test_secrets_are_told_as_they_are_written() -> None:
    """Arguments that use secrets are told as the definition writes them, never with what they hold."""
    definition = """
    id: careful
    specVersion: "0.8"
    secrets: [TOKEN]
    functions: [{name: work, type: custom}]
    states:
      - name: Work
        type: operation
        actions: [{functionRef: {refName: work, arguments: {token: "${ $SECRETS.TOKEN }"}}}]
        end: true
    """
    run = simulate(definition, {}, functions={"work": None}, secrets={"TOKEN": "hush"})
    assert run.calls == (("work", {"token": "hush"}),)
    started = {"function": "work", "arguments": {"token": "${ $SECRETS.TOKEN }"}}
    assert ("action-started", "Work", "Work", "work", started) in _told(run)
    assert "hush" not in str(_told(run))


def test_the_priority_of_a_call_is_told() -> None:
    """A call has the priority that its function's metadata say, if that is one; older runs may have anything there."""
    functions = [
        {"name": "urgent", "type": "custom", "metadata": {"priority": 1}},
        {"name": "usual", "type": "custom", "metadata": {"team": "orders"}},
    ]
    actions = [{"functionRef": "urgent"}, {"functionRef": "usual"}]
    states = [{"name": "Work", "type": "operation", "actions": actions, "end": True}]
    run = simulate(
        load({"id": "hurry", "specVersion": "0.8", "functions": functions, "states": states}),
        functions={"urgent": None, "usual": None},
    )
    assert [detail for kind, *_, detail in _told(run) if kind == "action-started"] == [
        {"function": "urgent", "arguments": None, "priority": 1},
        {"function": "usual", "arguments": None},
    ]


def test_the_end_of_a_workflows_time_is_told() -> None:
    definition = """
    id: slow
    specVersion: "0.8"
    timeouts: {workflowExecTimeout: {duration: PT1H, runBefore: Late}}
    states: [{name: Nap, type: sleep, duration: PT2H, end: true}, {name: Late, type: inject, data: {}, end: true}]
    """
    run = simulate(definition, {})
    assert [entry[:4] for entry in _told(run)][2:5] == [
        ("sleeping", "Nap", "Nap", "Nap"),
        ("workflow-timed-out", "", "", "slow"),
        ("state-entered", "Late", "Late", "Late"),
    ]
    begun = run.trace[0].at
    assert [(entry.at - begun).total_seconds() for entry in run.trace[2:5]] == [0, 3600, 3600]


def test_undoing_after_a_cancellation_is_told() -> None:
    """What undoes belongs to no state that is running; the states that it leads through are told as ever."""
    definition = """
    id: undone
    specVersion: "0.8"
    metadata: {compensateOnCancel: true}
    events: [{name: Never, type: never, source: s}]
    states:
      - {name: Book, type: inject, data: {}, compensatedBy: Undo, transition: Wait}
      - {name: Wait, type: event, onEvents: [{eventRefs: [Never]}], end: true}
      - {name: Undo, type: inject, usedForCompensation: true, data: {undone: true}}
    """
    run = SimulationContext([load(definition)], {}, [], {}, cancelling=True).run({})
    assert _told(run)[-3:] == [
        ("compensating", "", "Book", "Book", {"by": "Undo"}),
        ("state-entered", "Undo", "Undo", "Undo", {"type": "inject"}),
        ("state-left", "Undo", "Undo", "Undo"),
    ]


def test_what_an_instance_says_of_itself_is_told() -> None:
    run = simulate({"states": [{"id": "a", "type": "noop", "log": "begun", "metadata": {"step": "jq(.n)"}}]}, {"n": 1})
    assert _told(run)[1:4] == [
        ("state-entered", "a", "a", "a", {"type": "noop"}),
        ("logged", "a", "a", "a", {"value": "begun"}),
        ("metadata-set", "a", "a", "a", {"value": {"step": 1}}),
    ]
    assert (run.logs, run.metadata) == (("begun",), {"step": 1})


NOVEMBER = """
id: diverted
startsAt: Try
states:
  - name: Try
    type: OPERATION
    actionMode: SEQUENTIAL
    actions:
      - function: {name: work, type: custom}
        retry: [{match: "Broken", retryInterval: R1/PT3S, nextState: Other}]
    end: true
  - {name: Other, type: DELAY, timeDelay: PT1S, end: true}
"""
DIREKTIV = """
id: /failing
functions: [{id: work, type: knative-workflow, image: work}]
states:
  - id: try
    type: action
    action: {function: work, retries: {max_attempts: 1, delay: PT1S, codes: ["*"]}}
    catch: [{error: "*", transition: other}]
  - {id: other, type: noop}
"""
OF_CHILD = """
id: parent
specVersion: "0.8"
states: [{name: Try, type: operation, actions: [{subFlowRef: failing}], end: true}]
"""
FAILING: Any = {
    "id": "failing", "specVersion": "0.8", "functions": [{"name": "work", "type": "custom"}],
    "states": [{"name": "Work", "type": "operation", "actions": [{"functionRef": "work"}], "end": True}],
}  # fmt: skip


@pytest.mark.parametrize(("definition", "failed"), [
    (NOVEMBER, [("Try", "work", {"function": "work", "error": "Broken", "code": "broken"})]),
    (DIREKTIV, [("try", "work", {"function": "work", "error": RETRIES_EXCEEDED, "code": RETRIES_EXCEEDED})]),
    (OF_CHILD, [("Try", "failing", {"subflow": "failing", "error": "Broken", "code": "broken"})]),
], ids=["November 2019", "Direktiv", "a sub-workflow"])  # fmt: skip
def test_an_action_that_failed_for_good_is_told_once(definition: str, failed: list[Any]) -> None:
    def work(_: JSON) -> JSON:
        raise CallFailed("it broke", name="Broken", code="broken")

    run = simulate(definition, {}, functions={"work": work}, definitions=[FAILING])
    told = [(one.state, one.name, dict(one.detail)) for one in run.trace if one.kind is TraceKind.ACTION_FAILED]
    messages = [detail.pop("message") for _, _, detail in told]
    assert (told, all(messages)) == (failed, True)
