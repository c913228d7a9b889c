"""Instances that go on from where they failed: what is complete is not done again, whatever kind of state it is in."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.history.v1 import HistoryEvent

from swf_temporal.base.client_errors import InstanceEndedError
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import runs_back
from swf_temporal.operations.rerunning import Carried, Rerun, plan_rerun, plan_retry
from swf_temporal.operations.steps import runs_of_instance
from swf_temporal.runtime.host import TraceKind
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import continuing, replaying
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.records import Pinned
from swf_temporal.temporal.replaying import replay
from tests.sampling import sample
from tests.temporal.building import awaits, consumed
from tests.temporal.conftest import PATIENCE, Bench, Running, define, events_of, failure_of
from tests.temporal.test_rerunning import ended

NAMES = ("one", "two", "three", "undo")
LOCAL = [{"name": name, "type": "custom", "operation": name, "metadata": {"local": True}} for name in NAMES]
EVENTS = consumed("go")


def action(name: str) -> dict[str, Any]:
    """Return an action that calls a function with the number of the iteration, or of the instance."""
    return {"name": name, "functionRef": {"refName": name, "arguments": {"n": "${ .n }"}}}


def actions(*names: str) -> list[dict[str, Any]]:
    return [action(name) for name in names]


def state(name: str, *names: str, **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": "operation", "actions": actions(*names), **rest}


CHILD_ID = "going-on-child"
CHILD = define(state("In", "two"), state("Then", "three"), functions=NAMES, id=CHILD_ID)
LOCAL_CHILD = define(state("In", "two"), state("Then", "three"), functions=tuple(LOCAL), id=CHILD_ID)

KINDS: dict[str, list[dict[str, Any]]] = {
    "states": [state("One", "one"), state("Two", "two"), state("Three", "three")],
    "actions": [state("All", "one", "two", "three")],
    "actions at once": [state("All", "one", "two", "three", actionMode="parallel")],
    "branches": [
        {"name": "Both", "type": "parallel", "branches": [
            {"name": "a", "actions": actions("one", "two")}, {"name": "b", "actions": actions("three")}]},
        state("Then", "one"),
    ],
    "iterations in turn": [
        {"name": "Each", "type": "foreach", "inputCollection": "${ [1, 2, 3] }", "iterationParam": "n",
         "mode": "sequential", "outputCollection": "${ .out }", "actions": actions("one", "three", "two")}],
    "iterations at once": [
        {"name": "Each", "type": "foreach", "inputCollection": "${ [1, 2, 3] }", "iterationParam": "n",
         "actions": actions("one", "three")}],
    "callback": [
        {"name": "Ask", "type": "callback", "action": action("one"), "eventRef": "go"}, state("Then", "two", "three")],
    "event": [{
        "name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["go"], "actions": actions("one", "three")}]}],
    "sub-workflow": [state("Before", "one"), {
        "name": "Below", "type": "operation", "actions": [{"name": "below", "subFlowRef": CHILD_ID}]}],
    "sub-workflow in a branch": [
        {"name": "Both", "type": "parallel", "branches": [
            {"name": "a", "actions": actions("one")},
            {"name": "b", "actions": [{"name": "below", "subFlowRef": CHILD_ID}]}]}],
    "compensation": [
        state("Pay", "one", compensatedBy="Undo"),
        {"name": "Back", "type": "inject", "data": {"back": True},
         "transition": {"nextState": "Then", "compensate": True}},
        state("Then", "three", end=True),
        {**state("Undo", "undo", "two"), "usedForCompensation": True}],
    "error that was caught": [
        {**state("Try", "wrong"), "onErrors": [{"errorRef": "any", "transition": "Then"}], "transition": "Then"},
        state("Then", "two", "three", end=True)],
}  # fmt: skip
"""By what it is, the states of a definition of which any call may fail."""
GONE: dict[str, JSON] = {"specversion": "1.0", "id": "1", "source": "x", "type": "go", "data": {"went": 1}}
SENT = {"callback", "event"}
"""Those that wait for an event."""


class BrokenError(Exception):
    """What a call fails with."""


@dataclass
class Service:
    """Functions that note the keys of the calls which succeed and fail: those that are broken fail."""

    running: Running | None = None
    broken: dict[str, tuple[str, JSON]] = field(default_factory=dict)
    """By instance, the function that fails, with the number for which it does; None is any."""
    failed: list[str] = field(default_factory=list)
    succeeded: list[str] = field(default_factory=list)

    def functions(self) -> dict[str, Any]:
        def of(name: str) -> Callable[[JSON], Awaitable[JSON]]:
            async def call(arguments: Any) -> JSON:
                assert self.running is not None
                key = next(key for called, _, key, _ in reversed(self.running.scripted.calls) if called == name)
                if name == "wrong" or self.broken.get(key.partition("/")[0]) in (
                    (name, arguments.get("n")),
                    (name, None),
                ):
                    self.failed.append(key)
                    await asyncio.sleep(0.2)  # so that the history has what the calls beside it returned
                    raise BrokenError(name)
                self.succeeded.append(key)
                return {name: arguments.get("n")}

            return call

        return {name: of(name) for name in (*NAMES, "wrong")}

    def of(self, instance: str) -> tuple[list[str], list[str]]:
        """Return the keys of calls of an instance that failed, and of those that succeeded."""
        all_ = ([key for key in keys if key.startswith(f"{instance}/")] for keys in (self.failed, self.succeeded))
        failed, succeeded = all_
        return [key for key in failed if "/wrong#" not in key], succeeded


def defined(kind: str, *, local: bool) -> list[Definition]:
    functions: tuple[Any, ...] = tuple(LOCAL) if local else NAMES
    errors = [{"name": "any", "code": "BrokenError"}]
    whole = define(*KINDS[kind], functions=(*functions, "wrong"), events=EVENTS, errors=errors, id="going-on")
    return [whole, LOCAL_CHILD if local else CHILD]


async def run_to_end(bench: Bench, running: Running, kind: str, workflow_id: str) -> JSON:
    handle = await running.start({"n": 0}, workflow_id=workflow_id)
    if kind in SENT:
        with suppress(InstanceEndedError):  # its call failed at once
            await swf.send(bench.client, handle.id, GONE)
    return await ended(handle)


async def went_on(bench: Bench, plan: Rerun, kind: str = "") -> JSON:
    """Let an instance go on; return its output. Its history can be replayed."""
    handle = bench.handle(plan.workflow_id, await plan.begin(Client(bench.client)))
    if kind in SENT and not plan.events:
        with suppress(InstanceEndedError):  # it had it before
            await swf.send(bench.client, handle.id, GONE)
    output = await ended(handle)
    assert (await replay(await handle.fetch_history(), CONVERTER)).failure is None
    return output


def completed_in(events: Sequence[HistoryEvent]) -> set[str]:
    """Return the ids of the activities whose results an instance has: another may have been under way at its end."""
    scheduled = {one.event_id: one.activity_task_scheduled_event_attributes.activity_id for one in events}
    return {scheduled.get(one.activity_task_completed_event_attributes.scheduled_event_id, "") for one in events} - {""}


def calls_of(keys: list[str]) -> Counter[str]:
    """Return the calls with these *keys*, without what differs from instance to instance."""
    return Counter("/".join(part for part in key.split("/")[1:] if len(part) not in (12, 36)) for key in keys)


@pytest.mark.parametrize(
    ("kind", "local"), [(kind, local) for kind in KINDS for local in sample([False, True], f"local calls: {kind}", 1)]
)
async def test_no_complete_call_is_made_again(bench: Bench, kind: str, *, local: bool) -> None:
    """In each of several instances another function fails: all end as one in which none does, with the same calls.

    Of local calls that were made side by side, the history has those alone that ended before the one that failed: the
    others are made again, with the keys that they had, which the plan says.
    """
    service = Service()
    async with bench.worker(*defined(kind, local=local), **service.functions()) as running:
        service.running, calm = running, f"calm-{kind}-{local}"
        expected = await run_to_end(bench, running, kind, calm)
        usual = calls_of(service.of(calm)[1])
        assert expected is not None

        async def one(broken: tuple[str, JSON]) -> None:
            instance = f"{kind}-{broken}-{local}"
            service.broken[instance] = broken
            output = await run_to_end(bench, running, kind, instance)
            failed, _ = service.of(instance)
            assert (output is None) == bool(failed)
            if failed:
                completed = completed_in(await events_of(bench.handle(instance)))
                again = await plan_retry(Client(bench.client), instance)
                del service.broken[instance]
                output = await went_on(bench, again, kind)
                made, told = Counter(service.of(instance)[1]), {one.id for one in again.done}
                assert {call for call in told if any(key.endswith(call) for key in failed)}
                twice = [key for key, times in made.items() if times > 1]
                of_run = [key.partition("/")[2].partition("/")[2] for key in twice]
                assert local or completed.isdisjoint(of_run)
                # Where an event comes as a workflow task ends, the server has that done again, with its local calls.
                assert kind in SENT or all(any(key.endswith(f"/{call}") for call in told) for key in twice)
                assert set(failed) <= made.keys()
                assert calls_of(list(made)) == usual
            assert output == expected

        numbers = (1, 3) if "iterations" in kind else (None,)
        await asyncio.gather(*(one((name, n)) for name in NAMES for n in numbers))


DIREKTIV = {
    "actions": "states: [{id: a, type: action, action: {function: one, input: {n: 0}}, transition: b},"
    " {id: b, type: action, action: {function: two, input: {n: 0}}, transition: c},"
    " {id: c, type: action, action: {function: three, input: {n: 0}}}]",
    "parallel": "states: [{id: a, type: parallel, actions: [{function: one, input: {n: 0}},"
    " {function: two, input: {n: 0}}, {function: three, input: {n: 0}}]}]",
    "foreach": "states: [{id: a, type: foreach, array: 'jq([{n: 1}, {n: 2}, {n: 3}])',"
    " action: {function: one, input: 'jq(.)'}, transition: b},"
    " {id: b, type: action, action: {function: two, input: {n: 0}}}]",
}


@pytest.mark.parametrize("kind", DIREKTIV)
async def test_no_complete_call_of_direktiv_is_made_again(bench: Bench, kind: str) -> None:
    names = ("one", "two", "three")
    functions = ", ".join(f"{{id: {name}, type: reusable, image: {name}}}" for name in names)
    definition = load(f"id: going-on-{kind}\nfunctions: [{functions}]\n{DIREKTIV[kind]}\n")
    service = Service()
    async with bench.worker(definition, **service.functions()) as running:
        service.running = running
        calm = await running.run({"n": 0})
        usual = calls_of(service.succeeded)
        for name in names:
            if not any(call.endswith(f"{name}#1") for call in usual):
                continue
            instance = f"direktiv-{kind}-{name}"
            service.broken[instance] = (name, 2 if kind == "foreach" and name == "one" else None)
            assert await ended(await running.start({"n": 0}, workflow_id=instance)) is None
            plan = await plan_retry(Client(bench.client), instance)
            del service.broken[instance]
            assert await went_on(bench, plan) == calm
            failed, succeeded = service.of(instance)
            assert max(Counter(succeeded).values()) == 1
            assert set(failed) <= set(succeeded)
            assert calls_of(succeeded) == usual


@pytest.mark.parametrize("patch", [None, {"more": 1}], ids=["plain", "with data"])
async def test_what_is_made_again_keeps_its_key(bench: Bench, monkeypatch: pytest.MonkeyPatch, patch: JSON) -> None:
    """Also after the instance has continued as new, and when it has gone on before: its trace is that of all."""
    monkeypatch.setattr(continuing, "MAX_SIGNALS", 1)
    service = Service()
    definition = define(
        state("One", "one"), awaits("Wait", "go"), state("Two", "two"), state("Three", "three"),
        functions=(LOCAL[0], NAMES[1], LOCAL[2]), events=EVENTS, id="keys-again",
    )  # fmt: skip
    async with bench.worker(definition, **service.functions()) as running:
        service.running, client = running, Client(bench.client)
        handle = await running.start_awaiting("go", {"n": 0})
        await handle.signal("go", {})
        output = await ended(handle)
        keys, expected = list(service.succeeded), {**output, **(patch or {})}  # type: ignore[dict-item]  # an object
        for number, name in enumerate(("Three", "Two", "One"), 1):
            service.succeeded.clear()
            assert await went_on(bench, await plan_rerun(client, handle.id, name, patch=patch)) == expected
            assert service.succeeded == keys[-number:]
        runs = [await one.replayed(CONVERTER) async for one in runs_back(client, handle.id)]
        trace = [entry for one in reversed(runs) for entry in one.trace]
    assert len(keys) == len(set(keys)) == 3
    assert [one.state for one in trace if one.kind is TraceKind.STATE_LEFT] == ["One", "Wait", "Two", "Three"]
    assert [one.kind for one in trace].count(TraceKind.WORKFLOW_STARTED) == 1


CHANGED = """
id: changed
version: '1.0'
specVersion: '0.8'
start: Charge
functions:
- {name: charge, type: custom, operation: charge, metadata: {local: true}}
- {name: ship, type: custom, operation: ship}
states:
- {name: Charge, type: operation, actions: [{functionRef: charge}], transition: Ship}
- {name: Ship, type: operation, actions: [{functionRef: ship}], stateDataFilter: {output: '${ {v: 1} }'}, end: true}
"""


def shop() -> tuple[list[str], dict[str, Any]]:
    """Return the functions of that definition, of which `ship` fails at first, and the names of those called."""
    calls: list[str] = []

    def charge(_: JSON) -> None:
        calls.append("charge")

    def ship(_: JSON) -> JSON:
        calls.append("ship")
        if calls.count("ship") == 1:
            raise BrokenError("no")
        return {}

    return calls, {"charge": charge, "ship": ship}


@pytest.mark.parametrize("later", ["changed", "renamed", "gone"])
async def test_one_that_was_started_by_its_type_keeps_its_definition(bench: Bench, later: str) -> None:
    """Another worker has another text by the time when it goes on, or none; what came before is not done again."""
    queue = f"by-type-{later}"
    first = load(CHANGED)
    other = {
        "changed": load(CHANGED.replace("v: 1", "v: 2")),
        "renamed": load(CHANGED.replace("Charge", "Pay").replace("Ship", "Send").replace("v: 1", "v: 2")),
        "gone": CHILD,
    }[later]

    calls, functions = shop()
    async with bench.worker(first, queue=queue, **functions):
        handle = await bench.client.start_workflow("changed", id=queue, task_queue=queue)
        assert await ended(handle) is None
    async with bench.worker(other, queue=queue, **functions):
        output = await went_on(bench, await plan_retry(Client(bench.client), handle.id))
        again = await went_on(bench, await plan_rerun(Client(bench.client), handle.id, "Ship"))
    assert (output, again) == ({"v": 1}, {"v": 1})
    assert calls == ["charge", "ship", "ship", "ship"]


async def test_one_that_was_terminated_goes_on_where_it_was(bench: Bench) -> None:
    """A call that was under way is made again with its key, and a later state has its events."""
    begun, calls = asyncio.Event(), list[str]()

    async def two(_: JSON) -> JSON:
        calls.append(running.scripted.calls[-1][2])
        begun.set()
        if len(calls) == 1:
            await asyncio.sleep(PATIENCE)
        return {"two": 1}

    definition = define(
        state("One", "one", "two", "three"), awaits("Wait", "go"), functions=NAMES, events=EVENTS, id="terminated",
    )  # fmt: skip
    async with bench.worker(definition, one={"one": 1}, two=two, three={"three": 1}) as running:
        handle = await running.start({"n": 0})
        await begun.wait()
        await swf.send(bench.client, handle.id, {"name": "go", "data": {"went": 1}})
        await handle.terminate()
        plan = await plan_retry(Client(bench.client), handle.id)
        output = await went_on(bench, plan)
    assert output == {"n": 0, "one": 1, "two": 1, "three": 1, "went": 1}
    assert [one.id for one in plan.done] == ["One/two#1"]
    assert len(set(calls)) == 1
    assert [name for name, *_ in running.scripted.calls] == ["one", "two", "two", "three"]


async def test_a_timeout_of_a_state_begins_anew(bench: Bench) -> None:
    """That of the workflow does not: what is over at once is refused."""
    slow = asyncio.Event()

    async def two(_: JSON) -> JSON:
        if not slow.is_set():
            slow.set()
            await asyncio.sleep(PATIENCE)
        return {"two": 1}

    late = state("All", "one", "two", timeouts={"stateExecTimeout": "PT1.5S"})
    whole = define(state("All", "one", "two"), functions=NAMES, timeouts={"workflowExecTimeout": "PT1.5S"}, id="whole")
    async with bench.worker(define(late, functions=NAMES, id="late"), whole, one={"one": 1}, two=two) as running:
        handle = await running.start({"n": 0})
        assert await ended(handle) is None
        assert await went_on(bench, await plan_retry(Client(bench.client), handle.id)) == {"n": 0, "one": 1, "two": 1}
        slow.clear()
        other = await running.start({"n": 0}, definition=1)
        assert await ended(other) is None
        for plan in (plan_retry(Client(bench.client), other.id), plan_rerun(Client(bench.client), other.id, "All")):
            with pytest.raises(UsageError, match="has passed: it would end at once"):
                await plan
    assert [name for name, *_ in running.scripted.calls] == ["one", "two", "two", "one", "two"]


async def test_what_a_task_without_commands_did_has_happened(bench: Bench) -> None:
    """Where an event came as a signal, the history has no command of what it led to: it counts all the same."""
    back = awaits("B", "back", transition="A")
    definition = define(awaits("A", "go"), back, events=consumed("go", "back"), id="cycle")
    async with bench.worker(definition) as running:
        handle = await running.start({})
        for number in range(1, 6):
            name, event = ("A", "go") if number % 2 else ("B", "back")
            await running.awaiting(handle, event)
            [seen] = [await one.replayed(CONVERTER) async for one in runs_back(Client(bench.client), handle.id)]
            entered = [one for one in seen.trace if one.kind is TraceKind.STATE_ENTERED]
            plan = await plan_rerun(Client(bench.client), handle.id, name)
            assert (await handle.query("status"))["state"] == entered[-1].state == name
            assert (plan.times, plan.entered, plan.again) == ((number + 1) // 2, entered[-1].at, (name,))
            await handle.signal(event, {})
        await handle.terminate()


async def test_one_that_has_not_begun_is_looked_at(bench: Bench) -> None:
    """Its history has one event for as long as its start is delayed, also while signals come."""
    handle = await bench.client.start_workflow(
        "later", id="has-not-begun", task_queue="nobody", start_delay=timedelta(minutes=30)
    )
    client = Client(bench.client)
    for _ in range(2):
        found = await replay(await handle.fetch_history(), CONVERTER)
        assert (found.has_begun, found.failure, found.workflow_type) == (False, None, "later")
        with pytest.raises(UsageError, match="'has-not-begun' has not begun"):
            await plan_rerun(client, handle.id, "Any")
        with pytest.raises(UsageError, match="the history shows no definition"):
            await runs_of_instance(client, handle.id)
        await handle.signal("event", {})
    await handle.terminate()


async def test_a_replay_that_does_not_end_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is limited, and who waits for it can be cancelled at once."""
    monkeypatch.setattr(replaying, "has_begun", lambda _: True)  # so that the SDK waits without end
    handle = await bench.client.start_workflow(
        "later", id="never-ends", task_queue="nobody", start_delay=timedelta(minutes=30)
    )
    history = await handle.fetch_history()
    waiting = asyncio.create_task(replay(history, CONVERTER))
    await asyncio.sleep(0.5)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    monkeypatch.setattr(replaying, "REPLAY_LIMIT", 0.5)
    assert (await replay(history, CONVERTER)).failure == "its replay was given up after 0 seconds"
    await handle.terminate()


async def test_on_a_worker_that_runs_only_what_it_serves(bench: Bench) -> None:
    """It finds out itself what an instance carried: what a client says of that has no effect; others are refused."""
    calls, functions = shop()
    text = CHANGED.replace("${ {v: 1} }", "${ . + {v: 1} }")
    served, queue = load(text), "known-only-again"
    activities = [Carried(bench.client).carried]
    async with bench.worker(served, only_known=True, queue=queue, activities=activities, **functions) as worker:
        handle = await bench.client.start_workflow("changed", id=queue, task_queue=queue)
        assert await ended(handle) is None
        assert await went_on(bench, await plan_retry(Client(bench.client), handle.id)) == {"v": 1}
        assert calls == ["charge", "ship", "ship"]
        plan = await plan_rerun(Client(bench.client), handle.id, "Ship", patch={"n": 2})
        beginning = await plan.restart_input(Client(bench.client))
        beginning.pin.progress["input"] = {"forged": True}  # type: ignore[index]  # it has some
        forged = {"text": text.replace("v: 1", "v: 3"), "name": "forged", "sha256": "0"}
        beginning.pin.definitions = [Pinned(**forged)]
        beginning.pin.parts = {"lifecycle": {"untold": [{"id": "1", "source": "s", "type": "forged"}]}}
        assert await ended(bench.handle(handle, await beginning.start(bench.client, handle.id))) == {"n": 2, "v": 1}
        assert worker.scripted.published == []
    other = load(text.replace("v: 1", "v: 2"))
    async with bench.worker(other, only_known=True, queue=queue, activities=activities, **functions):
        plan = await plan_rerun(Client(bench.client), handle.id, "Ship")
        run = await plan.begin(Client(bench.client))
        assert "is not served here" in str(await failure_of(bench.handle(handle, run)))
    assert calls == ["charge", "ship", "ship", "ship"]
