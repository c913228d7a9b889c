"""Whatever a run waits for when it is cancelled, it ends *Canceled*, and with it all that it started."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.changing import TERMINATE, Outcome, change_all
from swf_temporal.operations.client import Client
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.mailbox_records import MAILBOX
from tests.temporal.building import inject
from tests.temporal.conftest import Bench, calling, define, failure_of, told_in, until, was_continued
from tests.temporal.suspending import SUSPEND_AFTER
from tests.temporal.test_many_events import number, waiting

CATCH = [{"errorRef": "any", "transition": "After"}]
"""What would swallow a cancellation that is taken for an error."""
CHILD = define(calling("Slow", "slow"), functions=("slow",), id="child")
BAD = define(calling("Bad", "failing"), functions=("failing",), id="bad")
FAILED, CANCELLED, TERMINATED = (
    WorkflowExecutionStatus.FAILED, WorkflowExecutionStatus.CANCELED, WorkflowExecutionStatus.TERMINATED,
)  # fmt: skip


@dataclass
class Wait:
    states: list[dict[str, Any]]
    sign: str
    """The kind of the trace entry, or `calls` of a function, after which it waits."""
    more: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    children: tuple[WorkflowExecutionStatus, ...] = ()
    calls: tuple[str, ...] = ()
    """What the functions were called for in the end, where that is more than what it waits for."""


def _state(kind: str, **rest: Any) -> dict[str, Any]:
    return {"name": "Wait", "type": kind, "onErrors": CATCH, "transition": "After", **rest}


def _limited(duration: str) -> dict[str, Any]:
    return {"timeouts": {"workflowExecTimeout": {"duration": duration, "runBefore": "Before"}}}


def _acting(*actions: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return _state("operation", actions=list(actions), **rest)


SLOW, FAST, FAILING, SUB = (
    {"functionRef": "slow"},
    {"functionRef": "fast"},
    {"functionRef": "failing", "retryRef": "patient"},
    {"subFlowRef": "child"},
)
DONE = {**_acting(FAST), "name": "Done", "compensatedBy": "Undo", "transition": "Wait"}
UNDO = {"name": "Undo", "type": "operation", "usedForCompensation": True, "actions": [SLOW, {"functionRef": "undone"}]}
UNDOING = {"name": "Wait", "type": "inject", "data": {}, "transition": {"nextState": "After", "compensate": True}}
BEFORE = {"name": "Before", "type": "operation", "actions": [SLOW], "end": True}
EVENTS = [{"eventRefs": ["Never"]}]

SLEEP, EVENT = _state("sleep", duration="P1D"), _state("event", onEvents=EVENTS)
THREE: dict[str, Any] = {"inputCollection": "${ [1, 2, 3] }", "actions": [SLOW]}
CHOICE = {
    "name": "Wait", "type": "switch", "onErrors": CATCH, "timeouts": {"eventTimeout": "P1D"},
    "eventConditions": [{"eventRef": "Never", "transition": "After"}], "defaultCondition": {"transition": "After"},
}  # fmt: skip
BRANCHES = [{"name": "a", "actions": [SLOW]}, {"name": "b", "actions": [SUB]}]
A_DAY = {"timeouts": {"actionExecTimeout": "P1D"}}
UNDONE: dict[str, Any] = {"more": {"metadata": {"compensateOnCancel": True}}, "calls": ("slow", "undone")}
CONTINUING: dict[str, Any] = {"options": {SUSPEND_AFTER: 1}}
LEFT = {"subFlowRef": {"workflowId": "child", "invoke": "async"}}

WAITS = {
    "a sleep": Wait([SLEEP], "sleeping"),
    "a sleep within a timeout of the state": Wait([{**SLEEP, "timeouts": {"stateExecTimeout": "P2D"}}], "sleeping"),
    "an event": Wait([EVENT], "event-awaited"),
    "an event in time": Wait([{**EVENT, "timeouts": {"eventTimeout": "P1D"}}], "event-awaited"),
    "a choice of events": Wait([CHOICE], "event-awaited"),
    "the event of a callback": Wait([_state("callback", action=FAST, eventRef="Never")], "event-awaited"),
    "the answer to an event": Wait(
        [_acting({"eventRef": {"produceEventRef": "Asked", "consumeEventRef": "Never"}})], "event-awaited"
    ),
    "a call": Wait([_acting(SLOW)], "slow"),
    "a call in time": Wait([_acting(SLOW, **A_DAY)], "slow"),
    "the sleep before a call": Wait([_acting({**SLOW, "sleep": {"before": "P1D"}})], "sleeping"),
    "the sleep after a call": Wait([_acting({**FAST, "sleep": {"after": "P1D"}})], "sleeping"),
    "another attempt at a call": Wait([_acting(FAILING)], "failing"),
    "another attempt at a sub-workflow": Wait(
        [_acting({"subFlowRef": "bad", "retryRef": "patient"})], "action-retried", children=(FAILED,)
    ),
    "calls side by side": Wait([_acting(SLOW, SLOW, FAST, actionMode="parallel")], "slow"),
    "branches": Wait([_state("parallel", branches=BRANCHES)], "slow", children=(CANCELLED,)),
    "iterations": Wait([_state("foreach", **THREE, mode="parallel")], "slow"),
    "an iteration after the other": Wait([_state("foreach", **THREE, mode="sequential")], "slow"),
    "a sub-workflow": Wait([_acting(SUB)], "slow", children=(CANCELLED,)),
    "a sub-workflow in time": Wait([_acting(SUB, **A_DAY)], "slow", children=(CANCELLED,)),
    "nothing that a sub-workflow does beside it": Wait(
        [_acting(LEFT, {**FAST, "sleep": {"after": "P1D"}})], "slow", children=(TERMINATED,)
    ),
    "the next round": Wait([{**EVENT, "end": True}], "event-awaited", {"keepActive": True}),
    "nothing at all": Wait([inject("Wait", end=True)], "state-left", {"keepActive": True}),
    "its own timeout": Wait([_acting(SLOW)], "slow", _limited("P1D")),
    "what runs before its end": Wait([SLEEP], "slow", _limited("PT0.1S")),
    "a compensation": Wait([DONE, UNDOING], "slow"),
    "a compensation, which goes on where that is asked for": Wait([DONE, UNDOING], "slow", **UNDONE),
    "a sleep, after which it compensates": Wait([DONE, SLEEP], "sleeping", **UNDONE),
    "a call, to go on as a new execution": Wait([_acting(SLOW)], "slow", **CONTINUING),
    "calls side by side, to go on as a new execution": Wait(
        [_acting(FAST, SLOW, actionMode="parallel")], "slow", **CONTINUING
    ),
    "a sub-workflow, to go on as a new execution": Wait([_acting(SUB)], "slow", **CONTINUING, children=(CANCELLED,)),
}

PATIENT = {"max_attempts": 9, "delay": "P1D", "multiplier": 1, "codes": ["*"]}


def _action(function: str, **rest: Any) -> dict[str, Any]:
    return {"type": "action", "action": {"function": function}, **rest}


def _parallel(mode: str, *functions: str) -> dict[str, Any]:
    return {"type": "parallel", "mode": mode, "actions": [{"function": one} for one in functions]}


DIREKTIV = {
    "a delay": Wait([{"type": "delay", "duration": "P1D"}], "sleeping"),
    "an event": Wait([{"type": "consumeEvent", "event": {"type": "never"}, "timeout": "P1D"}], "event-awaited"),
    "all of several events": Wait(
        [{"type": "eventsAnd", "events": [{"type": "never"}, {"type": "no"}]}], "event-awaited"
    ),
    "one of several events": Wait(
        [{"type": "eventsXor", "events": [{"event": {"type": "never"}, "transition": "after"}]}], "event-awaited"
    ),
    "a call": Wait([_action("slow")], "slow"),
    "a call in time": Wait([_action("slow", timeout="P1D")], "slow"),
    "another attempt": Wait(
        [{"type": "action", "action": {"function": "failing", "retries": PATIENT}}], "action-retried"
    ),
    "actions side by side": Wait([_parallel("and", "slow", "sub")], "slow", children=(CANCELLED,)),
    "the first of several actions": Wait([_parallel("or", "slow", "slow")], "slow"),
    "elements": Wait([{"type": "foreach", "array": "jq([{}, {}])", "action": {"function": "slow"}}], "slow"),
    "a subflow": Wait([_action("sub")], "slow", children=(CANCELLED,)),
    "a call, to go on as a new execution": Wait([_action("slow")], "slow", **CONTINUING),
}


def _direktiv(wait: Wait) -> Any:
    images = ("slow", "failing", "after")
    functions: list[dict[str, Any]] = [{"type": "knative-workflow", "id": one, "image": one} for one in images]
    catch = [{"error": "*", "transition": "after"}]
    functions.append({"type": "subflow", "id": "sub", "workflow": "child"})
    [state] = wait.states
    leading = {} if state["type"] == "eventsXor" else {"transition": "after"}
    after = {"id": "after", "type": "action", "action": {"function": "after"}}
    states = [{"id": "wait", "catch": catch, **leading, **state}, after]
    return load({"id": "cancelled", "functions": functions, "states": states})


DIREKTIV_CHILD = load("""
id: child
functions: [{type: knative-workflow, id: slow, image: slow}]
states: [{id: slow, type: action, action: {function: slow}}]
""")


def _workflow(wait: Wait) -> Any:
    ways = [UNDO] if any("compensatedBy" in state for state in wait.states) else []
    ways += [BEFORE] if "timeouts" in wait.more else []
    after = {"name": "After", "type": "operation", "actions": [{"functionRef": "after"}], "end": True}
    first = wait.states
    if "end" in first[0]:
        first, after = [{key: value for key, value in first[0].items() if key not in ("transition", "onErrors")}], {}
    return define(
        *first, *ways, *([after] if after else []),
        functions=("slow", "fast", "failing", "undone", "after"),
        events=[
            {"name": "Never", "type": "never", "source": "s", "correlation": [{"contextAttributeName": "order"}]},
            {"name": "Asked", "type": "asked", "source": "s", "kind": "produced"},
        ],
        errors=[{"name": "any", "code": "*"}], retries=[{"name": "patient", "delay": "P1D", "maxAttempts": 9}],
        id="cancelled", **wait.more,
    )  # fmt: skip


class Services:
    """Functions that take long, that fail, or that are never to be called."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.may_end = asyncio.Event()

    def all(self) -> dict[str, Any]:
        def of(name: str) -> Any:
            async def function(_: JSON) -> JSON:
                self.calls.append(name)
                if name == "slow":
                    await self.may_end.wait()
                if name == "failing":
                    raise CallFailed("not now", code=503)
                return {}

            return function

        return {name: of(name) for name in ("slow", "failing", "fast", "undone", "after")}


async def _begun(handle: swf.Handle, sign: str, services: Services) -> None:
    def has_begun(trace: Any) -> bool:
        return sign in services.calls or any(entry["kind"] == sign for entry in trace)

    await until(lambda: [] if sign in services.calls else handle.query("trace"), has_begun)


async def _children(bench: Bench, handle: swf.Handle) -> Sequence[WorkflowExecutionStatus | None]:
    found = []
    for begun in await told_in(handle, "child_workflow_execution_started"):
        # A mailbox is begun as a child, and outlives whoever waits for its events.
        if begun.workflow_type.name != MAILBOX:
            own = begun.workflow_execution
            child = bench.handle(own.workflow_id, own.run_id)
            ended = await until(child.describe, lambda one: one.status is not WorkflowExecutionStatus.RUNNING)
            found.append(ended.status)
    return found


@pytest.mark.parametrize("name", WAITS)
async def test_waiting_for(bench: Bench, name: str) -> None:
    """The run ends Canceled, though an entry of `onErrors` catches everything; nothing that comes next is begun."""
    await _ends_cancelled(bench, WAITS[name], _workflow(WAITS[name]), CHILD, BAD)


@pytest.mark.parametrize("name", DIREKTIV)
async def test_a_workflow_of_direktiv_waiting_for(bench: Bench, name: str) -> None:
    await _ends_cancelled(bench, DIREKTIV[name], _direktiv(DIREKTIV[name]), DIREKTIV_CHILD)


async def _ends_cancelled(bench: Bench, wait: Wait, *definitions: Definition) -> None:
    services = Services()
    async with bench.worker(*definitions, **services.all()) as running:
        handle = await running.start(**wait.options)
        await _begun(handle, wait.sign, services)
        await handle.cancel()
        if wait.calls:
            await until(lambda: "slow" in services.calls)
            services.may_end.set()
        ended = await failure_of(handle)
        services.may_end.set()
        described = await handle.describe()
        assert ended.how == "cancelled"
        assert described.status is CANCELLED
        # A call that is under way is told at its next heartbeat, after the run has ended.
        left = {one.state for one in described.raw_description.pending_activities}
        assert left <= {PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED}
        assert tuple(await _children(bench, handle)) == wait.children
    assert "after" not in services.calls
    assert ("undone" in services.calls) == ("undone" in wait.calls)


@pytest.mark.parametrize(
    ("child", "status"),
    [
        ("child", CANCELLED),
        ({"workflowId": "child", "invoke": "async"}, TERMINATED),
        ({"workflowId": "child", "invoke": "async", "onParentComplete": "continue"}, None),
    ],
)
async def test_a_run_that_is_terminated(bench: Bench, child: JSON, status: WorkflowExecutionStatus | None) -> None:
    """Nothing of it runs any more; a sub-workflow is cancelled, terminated or left alone, as its action says."""
    services = Services()
    wait = Wait([_acting({"subFlowRef": child}, {**FAST, "sleep": {"after": "P1D"}})], "slow")
    async with bench.worker(_workflow(wait), CHILD, **services.all()) as running:
        handle = await running.start()
        await _begun(handle, wait.sign, services)
        await handle.terminate()
        ended = await failure_of(handle)
        assert ended.how == "terminated"
        if status is None:
            services.may_end.set()
            status = WorkflowExecutionStatus.COMPLETED
        assert tuple(await _children(bench, handle)) == (status,)


async def test_of_many_that_were_found_no_later_one_is_terminated(bench: Bench) -> None:
    """One is started anew under its id meanwhile, which is not what was found; what has continued as new is."""
    async with bench.worker(waiting()) as running:
        again, going_on = [await running.start({"numbers": []}, suspend_after=20) for _ in range(2)]
        found = {one.id: str(one.first_execution_run_id) for one in (again, going_on)}
        await again.terminate()
        await running.start({"numbers": []}, workflow_id=again.id)
        latest = bench.handle(going_on)
        async with asyncio.timeout(30):
            for n in count(1):
                if await was_continued(latest):
                    break
                await running.send(going_on, number(n))
        outcome = Outcome()
        await change_all(Client(bench.client), TERMINATE, found, "by the test", outcome, lambda: None)
        assert (outcome.changed, outcome.ended, outcome.failures) == (1, 1, {})
        assert (await latest.describe()).status is TERMINATED
        assert (await bench.handle(again).describe()).status is WorkflowExecutionStatus.RUNNING
