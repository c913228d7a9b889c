"""Instances that go on from a state where they have been: what is done again, what is not, and what is refused."""

import asyncio
import os
from typing import Any

import pytest
from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import Rerun, plan_rerun, plan_retry
from swf_temporal.runtime.ids import id_of_child
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import restarting
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.happened_since import ReceivedEvent
from swf_temporal.temporal.replaying import replay
from swf_temporal.temporal.restarting import RestartInput
from tests.temporal.building import awaits, consumed, inject, subflow, switch
from tests.temporal.conftest import Bench, calling, define, listed, named, outcome, until
from tests.temporal.test_event_starts import event, looked_at, send, with_call
from tests.temporal.test_event_subscriptions import kept_by

FUNCTIONS = ("first", "second", "third")
SEQUENCE = define(
    calling("Begin", "first"), inject("Note", {"noted": True}), calling("Go", "second", "third"), functions=FUNCTIONS,
    id="sequence",
)  # fmt: skip
"""The state in the middle makes no call: it is entered and left in one workflow task."""


SHIPPED = """
functions: [{name: check, type: custom}, {name: first, type: custom}, {name: second, type: custom}]
events:
- {name: Go, type: go, source: person}
- {name: Shipped, type: shipped, source: depot,
   correlation: [{contextAttributeName: parcel, contextAttributeValue: '${ .parcel }'}]}
states:
"""
ON = "- {name: On, type: event, onEvents: [{eventRefs: [Shipped], eventDataFilter: {toStateData: .got}}], end: true}\n"
CHOOSE = (
    """
- name: Choose
  type: switch
  dataConditions: [{condition: '${ .done }', end: true}]
  defaultCondition: {transition: On}
"""
    + ON
)
CHOOSING = (
    SHIPPED
    + """
- name: Wait
  type: event
  onEvents: [{eventRefs: [Shipped], eventDataFilter: {toStateData: .first}}]
  transition: Choose
"""
    + CHOOSE
)
ASK = "- {name: Ask, type: event, onEvents: [{eventRefs: [Go]}], transition: Next}"


def shipped(number: int, parcel: str = "7") -> CloudEvent:
    return event(str(number), "shipped", "depot", number, parcel=parcel)


class Calls:
    """Functions that count how often they are called; those that are broken fail."""

    def __init__(self, *broken: str) -> None:
        self.made: list[str] = []
        self.broken = set(broken)
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()

    def functions(self, *names: str, held: bool = False) -> dict[str, Any]:
        """Return functions of these *names*, which are *held* until they may end."""

        def of(name: str) -> Any:
            async def call(_: JSON) -> JSON:
                self.begun.set()
                if held:
                    await self.may_end.wait()
                self.made.append(name)
                if name in self.broken:
                    raise ValueError("broken")
                return {name: self.made.count(name)}

            return call

        return {name: of(name) for name in names}


async def ended(handle: swf.Handle) -> JSON:
    try:
        return await outcome(handle)
    except RunEnded:
        return None


async def gone_on(bench: Bench, plan: Rerun, **options: bool) -> JSON:
    run = await plan.begin(Client(bench.client), **options)
    return await ended(bench.handle(plan.workflow_id, run))


async def again(bench: Bench, handle: swf.Handle, state: str, **options: Any) -> tuple[Rerun, JSON]:
    """Let an instance go on from a state; return the plan, and what it comes to."""
    plan = await plan_rerun(Client(bench.client), handle.id, state, **options)
    return plan, await gone_on(bench, plan)


@pytest.mark.parametrize(
    ("state", "action", "made"),
    [("Begin", None, ["first", "second", "third"]), ("Note", None, ["second", "third"]), ("Go", "third", ["third"])],
)
async def test_one_that_has_ended_goes_on_from_any_state(
    bench: Bench, state: str, action: str | None, made: list[str]
) -> None:
    calls = Calls()
    async with bench.worker(SEQUENCE, **calls.functions(*FUNCTIONS)) as worker:
        handle = await worker.start({})
        assert await ended(handle) is not None
        _, output = await again(bench, handle, state, action=action)
        assert output is not None
    assert calls.made == [*FUNCTIONS, *made]


@pytest.mark.parametrize("drops", [False, True], ids=["given again", "dropped"])
async def test_events_that_came_since(bench: Bench, *, drops: bool) -> None:
    """They are given to it again, or dropped; those that came before are known still."""
    event = awaits("Wait", "go")
    waiting = define(
        {**event, "name": "One"}, calling("Between", "first"), {**event, "name": "Two"},
        functions=("first",), events=consumed("go"), id="waiting-again",
    )  # fmt: skip
    calls = Calls()
    async with bench.worker(waiting, **calls.functions("first")) as worker:
        handle = await worker.start({})
        await worker.deliver(handle, "go", {"n": 1})
        await worker.awaiting(handle, "go")
        await until(lambda: calls.made)
        await swf.send(bench.client, handle.id, {"name": "go", "data": {"n": 2}})
        before = await ended(handle)
        plan = await plan_rerun(Client(bench.client), handle.id, "Between")
        run = await plan.begin(Client(bench.client), drop_events=drops)
        rerun = bench.handle(handle, run)
        if drops:
            await worker.awaiting(rerun, "go")
            await swf.send(bench.client, handle.id, {"name": "go", "data": {"n": 3}})
        after = await ended(rerun)
    assert len(plan.events) == 1
    assert before == {"first": 1, "n": 2}
    assert after == {"first": 2, "n": 3 if drops else 2}


@pytest.fixture
def ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an instance that is begun with other data end before anything is sent to it."""
    start = RestartInput.start

    async def start_and_wait(one: RestartInput, client: TemporalClient, workflow_id: str) -> str:
        run = await start(one, client, workflow_id)
        await ended(client.get_workflow_handle(workflow_id, run_id=run))
        return run

    monkeypatch.setattr(RestartInput, "start", start_and_wait)


@pytest.mark.usefixtures("ends_at_once")
@pytest.mark.parametrize("how", [swf.deliver, swf.send], ids=["update", "signal"])
@pytest.mark.parametrize("room", [2_000_000, 8_000])
async def test_one_that_ends_before_it_is_given_events_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, how: Any, room: int
) -> None:
    """With its data changed it may do so at once: it went on all the same, also if it could not begin with them."""
    monkeypatch.setattr(restarting, "fits", lambda size, most: size <= min(room, most))
    choose = switch("Choose", "${ .done }", {"end": True}, {"transition": "Wait"})
    definition = define(choose, awaits("Wait", "go", end=True), events=consumed("go"), id="ends-at-once")
    async with bench.worker(definition) as worker:
        handle = await worker.start_awaiting("go", {})
        data = {"n": 1, "more": room * "x"} if room < 10_000 else {"n": 1}
        await how(bench.client, handle.id, {"name": "go", "data": data})
        assert await ended(handle) == data
        plan, output = await again(bench, handle, "Choose", patch={"done": True})
    assert (len(plan.events), output) == (1, {"done": True})


@pytest.mark.usefixtures("ends_at_once")
async def test_events_of_a_mailbox_that_one_with_other_data_does_not_take(bench: Bench) -> None:
    """They go back to it, though the instance ends as soon as it has begun: another may wait for them."""
    definition = named(CHOOSING)
    async with bench.worker(definition) as worker:
        handle = await worker.start({"parcel": "7"})
        await send(worker, shipped(1), shipped(2))
        assert await ended(handle) == {"parcel": "7", "first": 1, "got": 2}
        _, output = await again(bench, handle, "Choose", patch={"done": True})
        another = await worker.start({"parcel": "7"})
        await send(worker, shipped(3))
        latest = await ended(another)
    assert output == {"parcel": "7", "first": 1, "done": True}
    assert latest == {"parcel": "7", "first": 2, "got": 3}


DECIDING = (
    SHIPPED
    + ASK
    + """
- {name: Next, type: operation, actions: [{functionRef: check}], transition: Choose}
"""
    + CHOOSE
)


@pytest.mark.parametrize("action", [None, "check"], ids=["state", "action"])
async def test_events_of_a_mailbox_that_one_does_not_take_which_an_update_brought_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, action: str | None
) -> None:
    """They go back to it, though the instance ends as soon as it has got that update again."""
    send_again = ReceivedEvent.send

    async def send_and_wait(one: ReceivedEvent, client: TemporalClient, workflow_id: str) -> None:
        await send_again(one, client, workflow_id)
        await ended(client.get_workflow_handle(workflow_id))

    monkeypatch.setattr(ReceivedEvent, "send", send_and_wait)
    answers = iter([{"done": False}, {"done": True}, {"done": False}])
    async with bench.worker(named(DECIDING), check=lambda _: next(answers)) as worker:
        handle = await worker.start_awaiting("Go", {"parcel": "7"})
        await worker.deliver(handle, "Go", {"gone": 1})
        await send(worker, shipped(1))
        assert await ended(handle) == {"parcel": "7", "gone": 1, "done": False, "got": 1}
        plan, output = await again(bench, handle, "Next", action=action)
        another = await worker.start({"parcel": "7"})
        await worker.deliver(another, "Go")
        latest = await ended(another)
    assert (len(plan.leading), len(plan.events)) == (1, 1)
    assert output == {"parcel": "7", "gone": 1, "done": True}
    assert latest == {"parcel": "7", "done": False, "got": 1}


@pytest.mark.parametrize(
    ("room", "received"), [(2_000_000, [1, 1, 0]), (8_000, [1, 1, 1])], ids=["carried", "sent again"]
)
async def test_an_event_by_name_is_not_doubled_by_another_rerun(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, room: int, received: list[int]
) -> None:
    """It has no id: one that a rerun had to send once more is known to be that of the run before."""
    monkeypatch.setattr(restarting, "fits", lambda size, most: size <= min(room, most))
    event = awaits("Wait", "go")
    twice = define(
        calling("First", "first"), calling("Next", "first"), {**event, "name": "One"}, {**event, "name": "Two"},
        functions=("first",), events=consumed("go"), id="not-doubled",
    )  # fmt: skip
    client = Client(bench.client)
    async with bench.worker(twice, **Calls().functions("first")) as worker:
        handle = await worker.start_awaiting("go", {})
        await swf.send(bench.client, handle.id, {"name": "go", "data": {"more": 8_000 * "x"}})

        async def waits() -> None:
            await until(
                lambda: bench.client.get_workflow_handle(handle.id).query("status"), lambda it: it["state"] == "Two"
            )

        await waits()
        numbers = []
        for state in ("Next", "First", "First"):
            plan = await plan_rerun(client, handle.id, state)
            numbers.append(len(plan.events))
            await plan.begin(client)
            await waits()
        await bench.client.get_workflow_handle(handle.id).terminate()
    assert numbers == received


async def test_an_event_that_comes_as_the_run_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    end = "toStateData: .got}}], end: true"
    definition = named(CHOOSING.replace(end, f"{end}, timeouts: {{eventTimeout: PT1H}}"))
    start = RestartInput.start

    async def start_late(one: RestartInput, client: TemporalClient, workflow_id: str) -> str:
        await send(worker, shipped(2, "8"), shipped(3))
        assert await ended(handle) is not None
        return await start(one, client, workflow_id)

    monkeypatch.setattr(RestartInput, "start", start_late)
    async with bench.worker(definition) as worker:
        handle = await worker.start({"parcel": "7"})
        await send(worker, shipped(1))
        await until(lambda: handle.query("status"), lambda one: one["state"] == "On")
        _, output = await again(bench, handle, "Choose", patch={"again": True})
    assert output == {"parcel": "7", "first": 1, "again": True, "got": 3}


BESIDE = (
    SHIPPED
    + ASK
    + """
- name: Next
  type: parallel
  branches:
  - {name: a, actions: [{functionRef: first}]}
  - {name: b, actions: [{functionRef: second}, {subFlowRef: inner}]}
  transition: On
"""
    + ON
)


@pytest.mark.parametrize("action", ["first", "second"])
async def test_an_action_beside_others_from_which_one_begins_with_its_events(bench: Bench, action: str) -> None:
    """What had been begun before it and has completed since keeps its result; the events are there."""
    calls, inner = Calls(), define(inject("In", {"inner": 1}), id="inner")
    async with bench.worker(named(BESIDE), inner, **calls.functions("first", "second")) as worker:
        handle = await worker.start_awaiting("Go", {"parcel": "7"})
        await worker.deliver(handle, "Go", {"gone": 1})
        await send(worker, shipped(1))
        before = await ended(handle)
        plan, output = await again(bench, handle, "Next", action=action)
    assert (len(plan.leading), len(plan.events)) == (1, 1)
    assert before == {"parcel": "7", "gone": 1, "first": 1, "second": 1, "inner": 1, "got": 1}
    first = 2 if action == "first" else 1
    assert output == {"parcel": "7", "gone": 1, "first": first, "second": 2, "inner": 1, "got": 1}


async def test_one_with_other_data_has_the_variables_that_it_had(bench: Bench) -> None:
    """Those of an instance are named after its first run, which another begins in place of."""
    definition = load(f"""
id: keeps-variables-{os.getpid()}
states:
- {{id: set, type: setter, variables: [{{key: own, value: x}}], transition: get}}
- {{id: get, type: getter, variables: [{{key: own}}], transform: 'jq({{own: .var.own, note}})'}}
""")
    async with bench.worker(definition) as worker:
        handle = await worker.start({})
        await ended(handle)
        for note in (1, 2):
            _, output = await again(bench, handle, "get", patch={"note": note})
            assert output == {"own": "x", "note": note}


async def test_one_with_other_data_begins_its_sub_workflow_anew(bench: Bench) -> None:
    """The one that it had begun would go on without it: it is terminated."""
    waiting = awaits("Wait", "go", end=True)
    child = define(waiting, events=consumed("go"), id=f"kept-child-{os.getpid()}")
    goes_on = {"workflowId": child.id, "onParentComplete": "continue"}
    parent = define(subflow("Call", goes_on), id="keeps-child")
    async with bench.worker(parent, child) as worker:
        handle = await worker.start({})
        below = await bench.child(handle.id, f"Call/{child.id}#1")
        await listed(bench.client, f"WorkflowType = '{child.id}'", 1)
        await worker.awaiting(below, "go")
        before = (await below.describe()).run_id
        plan = await plan_rerun(Client(bench.client), handle.id, "Call", patch={"note": 1})
        run = await plan.begin(Client(bench.client))
        rows = await listed(bench.client, f"WorkflowType = '{child.id}'", 2)
        assert {one.id for one in rows} == {below.id}
        old = bench.handle(below, before)
        assert (await old.describe()).status is WorkflowExecutionStatus.TERMINATED
        await worker.awaiting(below, "go")
        await worker.deliver(below, "go", {"gone": 1})
        assert await ended(bench.handle(handle, run)) == {"note": 1, "gone": 1}


async def test_a_sub_workflow_beside_an_action_that_was_cancelled_since_begins_anew(bench: Bench) -> None:
    """The instance goes on from the action, and is not told of that cancellation."""
    child = define(awaits("Wait", "go"), events=consumed("go"), id=f"beside-{os.getpid()}")
    broken = [{"name": name, "functionRef": name} for name in ("first", "broken")]
    branches = [
        {"name": "calm", "actions": [{"name": "below", "subFlowRef": child.id}]}, {"name": "rash", "actions": broken}
    ]  # fmt: skip
    both = define({"name": "Both", "type": "parallel", "branches": branches}, functions=("first", "broken"))
    calls = Calls("broken")
    async with bench.worker(both, child, **calls.functions("first", "broken")) as on:
        handle = await on.start({})
        assert await ended(handle) is None
        calls.broken.clear()
        plan = await plan_rerun(Client(bench.client), handle.id, "Both", "broken")
        rerun = bench.handle(handle, await plan.begin(Client(bench.client)))
        below = bench.handle(id_of_child(handle.id, str(handle.first_execution_run_id), "Both/calm/below#1"))
        await on.awaiting(below, "go")
        await on.deliver(below, "go", {"gone": 1})
        assert await ended(rerun) == {"first": 1, "broken": 2, "gone": 1}
    assert calls.made == ["first", "broken", "broken"]


LEGS = (
    SHIPPED
    + """
- {name: Wait, type: event, onEvents: [{eventRefs: [Shipped], eventDataFilter: {toStateData: .a}}], transition: Check}
- {name: Check, type: operation, actions: [{functionRef: check}], transition: On}
"""
    + ON.replace(".got", ".b")
)


async def test_one_that_had_ended_is_sent_the_events_of_its_mailbox_again(bench: Bench) -> None:
    """It had left the mailbox at its end, and had subscribed to it before the state from which it goes on."""
    calls = Calls("check")
    async with bench.worker(named(LEGS), **calls.functions("check")) as worker:
        handle = await worker.start_awaiting("Shipped", {"parcel": "7"})
        await send(worker, shipped(1))
        assert await ended(handle) is None
        calls.broken.clear()
        for time in (2, 3):
            plan = await plan_rerun(Client(bench.client), handle.id, "Check")
            run = await plan.begin(Client(bench.client), drop_events=True)
            rerun = bench.handle(handle, run)
            await worker.awaiting(rerun, "Shipped")
            await send(worker, shipped(time))
            assert await ended(rerun) == {"parcel": "7", "a": 1, "check": time, "b": time}
            assert (await replay(await rerun.fetch_history(), CONVERTER)).failure is None


async def test_an_event_that_one_gave_back_and_takes_after_all_goes_to_no_other(bench: Bench) -> None:
    """It went back to the mailbox when the instance failed, and the instance has it still when it goes on."""
    calls = Calls("check")
    async with bench.worker(named(with_call("check")), **calls.functions("check", held=True)) as worker:
        await send(worker, event("1", "placed", "shop", 1, order="7"))
        await calls.begun.wait()
        [receipt] = await send(worker, event("2", "paid", "bank", 2, order="7"))
        await looked_at(worker, {"order": "7"}, 2)
        calls.may_end.set()
        handle = bench.handle(str(receipt.instance))
        assert await ended(handle) is None
        await kept_by(worker, {"order": "7"}, 1)
        calls.broken.clear()
        output = await gone_on(bench, await plan_retry(Client(bench.client), handle.id))
        assert output == {"placed": 1, "check": 2, "paid": 2}
        await kept_by(worker, {"order": "7"}, 0)
        await send(worker, event("3", "placed", "shop", 3, order="7"))
        await worker.awaiting(handle, "Paid")
        await send(worker, event("4", "paid", "bank", 4, order="7"))
        assert await ended(handle) == {"placed": 3, "check": 3, "paid": 4}


async def test_an_event_given_back_at_the_end_goes_to_no_other(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It came, and went back, after what becomes of the instance was planned: the one that begins has it."""
    calls, start = Calls("check"), RestartInput.start

    async def start_late(one: RestartInput, client: TemporalClient, workflow_id: str) -> str:
        await send(worker, event("2", "paid", "bank", 2, order="7"))
        await looked_at(worker, {"order": "7"}, 2)
        calls.may_end.set()
        assert await ended(handle) is None
        await kept_by(worker, {"order": "7"}, 1)
        calls.broken.clear()
        return await start(one, client, workflow_id)

    monkeypatch.setattr(RestartInput, "start", start_late)
    async with bench.worker(named(with_call("check")), **calls.functions("check", held=True)) as worker:
        [receipt] = await send(worker, event("1", "placed", "shop", 1, order="7"))
        handle = bench.handle(str(receipt.instance))
        await calls.begun.wait()
        _, output = await again(bench, handle, "Do", patch={"note": 1})
        assert output == {"placed": 1, "note": 1, "check": 2, "paid": 2}
        await kept_by(worker, {"order": "7"}, 0)


async def test_one_that_has_gone_on_meanwhile_is_left_alone(bench: Bench) -> None:
    """What it has done, or got, while a person was asked, was not told."""
    waiting = define(
        inject("first", {"first": True}, transition="wait"), awaits("wait", "go", end=True), events=consumed("go")
    )
    async with bench.worker(waiting) as worker:
        handle = await worker.start_awaiting("go")
        plan = await plan_rerun(Client(bench.client), handle.id, "first")
        await swf.send_event(bench.client, handle.id, event("1", "go", "x").to_json())
        await ended(handle)
        with pytest.raises(UsageError, match="has continued meanwhile"):
            await plan.begin(Client(bench.client))


async def test_what_cannot_be_right_is_refused(bench: Bench) -> None:
    async with bench.worker(SEQUENCE, **Calls().functions(*FUNCTIONS)) as worker:
        handle = await worker.start({})
        await ended(handle)
        client = Client(bench.client)
        for state, action, why in (
            ("go", None, "has never entered a state 'go'\n  did you mean 'Go'"),
            ("Elsewhere", None, "\n  it has entered Begin, Note and Go"),
            ("Go", "thrid", "has begun no action 'thrid' of 'Go'\n  did you mean 'third'"),
        ):
            with pytest.raises(UsageError) as refused:
                await plan_rerun(client, handle.id, state, action)
            assert why in str(refused.value)
        with pytest.raises(UsageError, match="there is no instance 'nobody'"):
            await plan_retry(client, "nobody")
