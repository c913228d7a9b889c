"""What hosts are asked for, and what becomes of faults."""

from datetime import timedelta
from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, SchemaMismatch, WorkflowFault
from swf_temporal.languages.loading import load
from swf_temporal.languages.serverless_workflow.execution.events import as_read
from swf_temporal.languages.serverless_workflow.model.workflow import Event
from swf_temporal.runtime.host import CallAttempts, FunctionCall, SubflowCall, Timer, TraceEntry
from swf_temporal.runtime.performing import subflow_fault
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.host import SimulatedHost
from swf_temporal.simulation.result import Simulation

WORK: dict[str, Any] = {"name": "work", "type": "custom"}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[FunctionCall]:
    """All calls that hosts are asked to perform; each yields its number."""
    asked: list[FunctionCall] = []

    async def invoke(_: SimulatedHost, call: FunctionCall) -> JSON:
        asked.append(call)
        return {"number": len(asked)}

    monkeypatch.setattr(SimulatedHost, "invoke", invoke)
    return asked


def _run(*actions: Any, functions: Any = None, data: Any = None, **rest: Any) -> SimulationContext:
    states = [{"name": "Do", "type": "operation", "actions": list(actions), "end": True}]
    definition = {"id": "calls", "specVersion": "0.8", "functions": functions or [WORK], "states": states, **rest}
    context = SimulationContext([load(definition)], {}, [], {})
    context.run(data)
    return context


def test_every_call_has_an_id_of_its_own(calls: list[FunctionCall]) -> None:
    _run({"functionRef": "work"}, {"functionRef": "work"}, {"name": "last", "functionRef": "work"})
    assert [call.id for call in calls] == ["Do/work#1", "Do/work#2", "Do/last#1"]


def test_a_call_has_secrets_only_where_it_can_need_them(calls: list[FunctionCall]) -> None:
    functions: Any = [
        WORK,
        {"name": "odd", "type": "odata", "operation": "https://x.example/odata#Things", "authRef": "basic"},
        {"name": "plain", "type": "odata", "operation": "https://x.example/odata#Things"},
        *({"name": kind, "type": kind, "operation": f"{kind}.json#do"} for kind in ("rest", "asyncapi")),
        {"name": "open", "operation": "open.json#do"},
    ]
    auth: Any = [{"name": "basic", "scheme": "basic", "properties": {"username": "u", "password": "${ $SECRETS.P }"}}]
    refs: Any = ["work", {"refName": "work", "arguments": {"p": "${ $SECRETS.P }"}}]
    refs += ["odd", "plain", "rest", "asyncapi", "open"]
    _run(*({"functionRef": ref} for ref in refs), functions=functions, auth=auth, secrets=["P"])
    assert [call.secrets for call in calls] == [(), ("P",), ("P",), (), ("P",), ("P",), ("P",)]


def test_a_selection_set_may_come_of_the_data(calls: list[FunctionCall]) -> None:
    """What a GraphQL call is to return is a text with expressions in it, as its arguments are."""
    ask: Any = {"name": "ask", "type": "graphql", "operation": "https://x.example/graphql#query#pets"}
    ref: Any = {"refName": "ask", "selectionSet": "{ ${ .field } }"}
    _run({"functionRef": ref}, functions=[ask], data={"field": "name"})
    assert [call.selection_set for call in calls] == ["{ name }"]


def test_nobody_tries_a_call_again_that_nobody_waits_for(calls: list[FunctionCall]) -> None:
    """A call that is waited for has its rule and a way to keep its attempts; one that is not has neither."""
    retries: Any = [{"name": "Twice", "delay": "PT1M", "maxAttempts": 2}]
    ways: Any = ["work", {"refName": "work", "invoke": "async"}]
    _run(*({"functionRef": way, "retryRef": "Twice"} for way in ways), retries=retries)
    told = [(call.fire_and_forget, call.retry is None, call.attempts is None) for call in calls]
    assert told == [(False, False, False), (True, True, True)]


def test_attempts_go_on_where_a_run_was_suspended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suspended between two attempts, the call is the same, with what was kept of it, and arguments as they were."""
    asked: list[tuple[str, JSON, Any]] = []

    async def invoke(host: SimulatedHost, call: FunctionCall) -> JSON:
        assert call.attempts is not None
        asked.append((call.id, call.arguments, call.attempts.kept and call.attempts.kept.key))
        if call.attempts.kept is None:
            call.attempts.keep(CallAttempts("lot"))
            await call.attempts.pause(host.now().timestamp() + 60, Timer("retry", call.state, call.action))
        return {"done": True}

    monkeypatch.setattr(SimulatedHost, "invoke", invoke)
    started: list[str] = []

    def suspend(run: Run, entry: TraceEntry) -> None:
        if entry.kind == "action-started":
            started.append(entry.name)
            run.suspend()

    ref: Any = {"refName": "work", "arguments": {"at": "${ now }"}}
    states: Any = [{"name": "Do", "type": "operation", "actions": [{"functionRef": ref}], "end": True}]
    context = SimulationContext(
        [load({"id": "calls", "specVersion": "0.8", "functions": [WORK], "states": states})], {}, [], {}
    )
    context.on_trace = suspend
    assert context.run({}).output == {"done": True}
    (first, given, none), (second, again, kept) = asked
    assert (first, none, kept) == ("Do/work#1", None, "lot")
    assert (second, again) == (first, given)
    assert started == ["work"]


def test_a_suspended_run_begins_nothing_more() -> None:
    actions: Any = [{"functionRef": "work"}] * 3
    states: Any = [{"name": "Do", "type": "operation", "actions": actions, "end": True}]
    definition = {"id": "calls", "specVersion": "0.8", "functions": [WORK], "states": states}
    context = SimulationContext([load(definition)], {"work": {}}, [], {})
    made: list[int] = []

    def suspend(run: Run, entry: TraceEntry) -> None:
        if entry.kind == "action-started":
            run.suspend()

    def resumed(progress: dict[str, Any]) -> dict[str, Any]:
        made.append(len(context.calls))
        return progress

    context.on_trace, context.resumed = suspend, resumed
    assert context.run({}).status == "completed"
    assert made == [1, 2]


def test_a_sub_workflow_knows_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has an id of its own, and says which state and action run it, in which version, and who waits for it."""
    asked: list[SubflowCall] = []

    async def run_subflow(_: SimulatedHost, call: SubflowCall) -> JSON:
        asked.append(call)
        return {}

    monkeypatch.setattr(SimulatedHost, "run_subflow", run_subflow)
    _run(
        {"subFlowRef": {"workflowId": "child", "version": "1.0"}},
        {"name": "aside", "subFlowRef": {"workflowId": "child", "invoke": "async", "onParentComplete": "continue"}},
    )
    assert [(one.id, one.workflow_id, one.version, one.state, one.action) for one in asked] == [
        ("Do/child#1", "child", "1.0", "Do", "child"),
        ("Do/aside#1", "child", None, "Do", "aside"),
    ]
    assert [(one.fire_and_forget, one.parent_close_policy) for one in asked] == [
        (False, "terminate"),
        (True, "abandon"),
    ]


def test_attempts_at_a_sub_workflow_are_told_and_counted() -> None:
    refused: Any = {"name": "Choose", "type": "switch", "dataConditions": [{"condition": "${ false }", "end": True}]}
    child: Any = {"id": "child", "specVersion": "0.8", "states": [refused]}
    action: Any = {"name": "ask", "subFlowRef": "child", "retryRef": "Twice"}
    parent: Any = {
        "id": "parent", "specVersion": "0.8", "retries": [{"name": "Twice", "delay": "PT1M", "maxAttempts": 3}],
        "states": [{"name": "Do", "type": "operation", "actions": [action], "end": True}],
    }  # fmt: skip
    run = SimulationContext([load(parent), load(child)], {}, [], {}).run({})
    assert run.fault is not None
    assert run.fault.attempt == 3
    retried = [(one.name, one.detail["attempt"]) for one in run.trace if one.kind == "action-retried"]
    assert retried == [("ask", 1), ("ask", 2)]


def test_an_event_is_produced_once_though_undoing_was_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workflow's time is over while the second of two is produced: going on, it begins with that one."""
    begun: list[str] = []

    async def publish(host: SimulatedHost, event: CloudEvent) -> None:
        begun.append(event.type)
        if begun == ["first", "second"]:
            await host.sleep(timedelta(hours=2), Timer("sleep", "a slow place"))

    monkeypatch.setattr(SimulatedHost, "publish", publish)
    both: Any = [{"eventRef": "first"}, {"eventRef": "second"}]
    states: Any = [
        {"name": "Book", "type": "inject", "data": {}, "compensatedBy": "Unbook", "end": {"compensate": True}},
        {"name": "Unbook", "type": "inject", "data": {}, "usedForCompensation": True,
         "transition": {"nextState": "Rest", "produceEvents": both}},
        {"name": "Rest", "type": "inject", "data": {}, "usedForCompensation": True},
        {"name": "Tidy", "type": "inject", "data": {}, "end": {"compensate": True}},
    ]  # fmt: skip
    run = simulate(
        {"id": "slow", "specVersion": "0.8",
         "events": [{"name": name, "type": name, "source": "s", "kind": "produced"} for name in ("first", "second")],
         "timeouts": {"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}}, "states": states}
    )  # fmt: skip
    assert (run.status, run.elapsed) == ("completed", timedelta(hours=1))
    assert begun == ["first", "second", "second"]


def test_what_a_state_did_is_there_though_its_event_was_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workflow's time is over while an event is produced: what runs before the end has the state's data."""

    async def publish(host: SimulatedHost, _: CloudEvent) -> None:
        await host.sleep(timedelta(hours=2), Timer("sleep", "a slow place"))

    monkeypatch.setattr(SimulatedHost, "publish", publish)
    states: Any = [
        {"name": "Do", "type": "inject", "data": {"done": True}, "end": {"produceEvents": [{"eventRef": "told"}]}},
        {"name": "Tidy", "type": "inject", "data": {"tidied": True}, "end": True},
    ]
    run = simulate(
        {"id": "slow", "specVersion": "0.8",
         "events": [{"name": "told", "type": "told", "source": "s", "kind": "produced"}],
         "timeouts": {"workflowExecTimeout": {"duration": "PT1H", "runBefore": "Tidy"}}, "states": states}
    )  # fmt: skip
    assert (run.output, run.elapsed) == ({"done": True, "tidied": True}, timedelta(hours=1))


@pytest.mark.parametrize(("written", "read"), [("", None), (None, None), ("s", "s"), ("XXXX", "XXXX")])
def test_an_empty_source_is_none(written: str | None, read: str | None) -> None:
    definition = Event(name="e", type="t", source=written)
    assert as_read(definition).source == read


FAULT = CallFailed("there was no floor", code="Slipped", state="Fall")


def test_a_fault_is_told_once() -> None:
    """Name and code are those of the fault; the message says where it came from, also after it travelled as JSON."""
    child = subflow_fault("c", FAULT)
    assert (child.name, child.code, child.message) == (
        "CallFailed", "Slipped", "sub-workflow 'c' failed: there was no floor",
    )  # fmt: skip
    parent = subflow_fault("b", WorkflowFault.from_json(child.to_json()))
    grandparent = subflow_fault("a", WorkflowFault.from_json(parent.to_json()))
    assert parent.message == "sub-workflow 'b' failed, as 'c' did 2 levels down: there was no floor"
    assert grandparent.message == "sub-workflow 'a' failed, as 'c' did 3 levels down: there was no floor"
    assert (grandparent.code, grandparent.cause) == ("Slipped", None)


def test_what_a_service_said_reaches_the_parent() -> None:
    child = subflow_fault("c", CallFailed("no", status=409, body={"in": "use"}, state="Ask"))
    assert (child.status, child.body, child.cause) == (409, {"in": "use"}, "state 'Ask' of 'c'")


def test_only_an_input_that_does_not_fit_is_in_vain() -> None:
    faults = [SchemaMismatch("in", retryable=False), SchemaMismatch("out"), CallFailed("no", retryable=False)]
    assert [subflow_fault("c", fault).retryable for fault in faults] == [False, True, True]


SLOW = "(a|aa)+$"
LONG = "a" * 60 + "!"
CATCHING: dict[str, Any] = {
    "errors": [{"name": "slow", "code": SLOW}, {"name": "any", "code": "*"}],
    "functions": [{"name": "f", "type": "custom"}],
    "states": [{"name": "A", "type": "operation", "actions": [{"functionRef": "f"}],
                "onErrors": [{"errorRef": "slow", "transition": "B"}, {"errorRef": "any", "end": True}], "end": True},
               {"name": "B", "type": "inject", "data": {"b": 1}, "end": True}],
}  # fmt: skip
CHECKING: dict[str, Any] = {
    "dataInputSchema": {"schema": {"properties": {"text": {"pattern": SLOW}}}, "failOnValidationErrors": False},
    "states": [{"name": "A", "type": "inject", "data": {}, "end": True}],
}


def fails(_: JSON) -> JSON:
    raise CallFailed(LONG)


def run(definition: dict[str, Any]) -> Simulation:
    workflow = load({"id": "a", "specVersion": "0.8", **definition})
    context = SimulationContext([workflow], {"f": fails}, (), {})
    return context.run({"text": LONG})


@pytest.mark.parametrize("definition", [CATCHING, CHECKING], ids=["code of an error", "data schema"])
def test_fails_the_run(definition: dict[str, Any]) -> None:
    """What cannot be told in time decides nothing: neither that an error is not covered, nor that data does not fit."""
    ended = run(definition)
    assert (ended.status, ended.error and ended.error.name) == ("failed", "ExpressionLimitExceeded")
    assert ended.error is not None
    assert "it takes too long to" in ended.error.message
