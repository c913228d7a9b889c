"""Events that reach instances which no event began, or by other values than those that began them, on a real server."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus

from swf_temporal.base.client_errors import AlreadyStartedError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import UsageError
from swf_temporal.events.routing import instance_id, mailbox_id, single_id
from swf_temporal.temporal import client as swf
from swf_temporal.temporal import event_mailboxes
from swf_temporal.temporal import event_mailboxes as mailbox_subscribers
from swf_temporal.temporal.client import result
from swf_temporal.temporal.constants import ROUTED
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.mailbox_records import MAILBOX, MailboxRecord
from swf_temporal.temporal.records import pinned
from tests.temporal.building import awaits, inject, sleeps
from tests.temporal.conftest import Bench, Running, define, events_of, listed, named, replays, until
from tests.temporal.test_event_starts import BOTH, LOOSE, ORDER, event, instances, looked_at, output, send

SHIPMENT = """
events:
- name: Shipped
  type: shipped
  source: depot
  correlation: [{contextAttributeName: parcel, contextAttributeValue: '${ .parcel }'}, {contextAttributeName: leg}]
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Shipped], eventDataFilter: {toStateData: .first}}], transition: On}
- {name: On, type: event, onEvents: [{eventRefs: [Shipped], eventDataFilter: {toStateData: .second}}], end: true}
"""


def shipped(id_: str, data: Any = None, *, parcel: Any, leg: Any) -> Any:
    return event(id_, "shipped", "depot", data, parcel=parcel, leg=leg)


async def kept_by(running: Running, key: dict[str, str], held: int) -> None:
    handle = running.bench.handle(mailbox_id(running.definitions[0].id, key))
    await until(lambda: handle.query("status"), lambda one: one["held"] == held)


async def test_an_instance_subscribes_by_its_data(bench: Bench) -> None:
    """It gets the events with its value, those too that came before it, and that agree with the first."""
    async with bench.worker(named(SHIPMENT)) as running:
        [receipt] = await send(running, shipped("1", "early", parcel=7, leg="a"))
        assert (receipt.status, receipt.instance) == ("accepted", None)
        mine = await running.start({"parcel": "7"})
        other = await running.start({"parcel": "8"})
        await send(running, shipped("2", "other", parcel=7, leg="b"), shipped("3", "mine", parcel=7, leg="a"))
        assert await result(mine) == {"parcel": "7", "first": "early", "second": "mine"}
        await send(running, shipped("4", "x", parcel="8", leg="a"), shipped("5", "y", parcel=8, leg="a"))
        await send(running, shipped("5", "y", parcel=8, leg="a"))
        assert await result(other) == {"parcel": "8", "first": "x", "second": "y"}
        await kept_by(running, {"parcel": "7"}, 1)  # what it was given, and left, is there for another
        again = await running.start({"parcel": "7"})
        await send(running, shipped("6", "last", parcel=7, leg="b"))
        assert await result(again) == {"parcel": "7", "first": "other", "second": "last"}
        mailbox = bench.handle(mailbox_id(running.definitions[0].id, {"parcel": "7"}))
        for handle in (mine, other, again, mailbox):
            assert await replays(await handle.fetch_history()) is None


async def test_every_instance_that_correlates_has_the_event(bench: Bench) -> None:
    """All that wait get it; one that was terminated is forgotten."""
    async with bench.worker(named(SHIPMENT)) as running:
        handles = [await running.start({"parcel": "7"}) for _ in range(3)]
        mailbox = bench.handle(mailbox_id(running.definitions[0].id, {"parcel": "7"}))
        for handle in handles:
            await running.awaiting(handle, "Shipped")
        await until(lambda: _are_subscribed(mailbox, 3))
        await handles[2].terminate()
        await send(running, shipped("1", 1, parcel=7, leg="a"), shipped("2", 2, parcel=7, leg="a"))
        for handle in handles[:2]:
            assert await result(handle) == {"parcel": "7", "first": 1, "second": 2}
        await until(lambda: _are_subscribed(mailbox, 0))


TWO = (
    SHIPMENT.partition("states:")[0]
    .replace("start: Wait", "start: Both")
    .replace("events:", "events:\n- {name: Asked, type: asked, kind: produced}")
    + """
states:
- name: Both
  type: parallel
  branches:
  - {name: a, actions: [{eventRef: {triggerEventRef: Asked, resultEventRef: Shipped}}]}
  - {name: b, actions: [{eventRef: {triggerEventRef: Asked, resultEventRef: Shipped}}]}
  stateDataFilter: {output: '${ {} }'}
  end: true
"""
)


@pytest.mark.parametrize("comes", ["with", "after"])
async def test_what_another_path_excludes_is_kept_for_others(bench: Bench, comes: str) -> None:
    """Two paths wait, and the event of one fixes an attribute: the other's, of another value, goes back at the end."""
    definition = named(TWO)
    first, second, third = (shipped(str(number), {}, parcel="7", leg=leg).to_json() for number, leg in enumerate("aba"))
    async with bench.worker(definition) as running:
        handle = await running.start_awaiting("Shipped", {"parcel": "7"})
    await handle.signal(ROUTED, first)
    if comes == "with":
        await handle.signal(ROUTED, second)
    async with bench.worker(definition, queue=running.queue) as running:
        if comes == "after":
            await until(lambda: handle.query("trace"), lambda one: any(entry["kind"] == "event-taken" for entry in one))
            await handle.signal(ROUTED, second)
        await handle.signal(ROUTED, third)
        assert await result(handle) == {}
        await kept_by(running, {"parcel": "7"}, 1)


async def test_a_mailbox_forgets_who_was_terminated(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it looked for them last is carried over, so that it does not look after each execution's own time alone."""
    monkeypatch.setattr(mailbox_subscribers, "_PROBE_AFTER", timedelta(seconds=1))
    monkeypatch.setattr(event_mailboxes, "MAX_DONE_EVENTS", 10)
    definition = named(SHIPMENT)
    record = MailboxRecord(
        subscribers={"terminated": [{"parcel": "7", "leg": "a"}]}, definitions=pinned([definition])
    ).to_json()
    async with bench.worker(definition) as running:
        mailbox_ = mailbox_id(definition.id, {"parcel": "7"})
        await running.begin(MAILBOX, record, workflow_id=mailbox_)
        mailbox = bench.handle(mailbox_)
        for number in range(20):
            await send(running, shipped(str(number), parcel=7, leg="b"))
            await asyncio.sleep(0.2)
        assert await _are_subscribed(mailbox, 0)


async def _are_subscribed(mailbox: swf.Handle, number: int) -> bool:
    try:
        return len((await mailbox.query("status"))["subscribers"]) == number
    except Exception:  # noqa: BLE001 - it has yet to be begun, or to be taken up
        return False


async def test_an_instance_begun_by_hand_gets_what_its_events_fix(bench: Bench) -> None:
    """What its first event says is known from then on, beside the instance that events of this key begin."""
    async with bench.worker(named(ORDER)) as running:
        handle = await running.start_awaiting("Placed")
        await swf.send_event(bench.client, handle.id, event("1", "placed", "shop", "by hand", order=7).to_json())
        await send(running, event("2", "paid", "bank", "yes", order="7"))
        assert await result(handle) == {"placed": "by hand", "paid": "yes"}


async def takes_one_of_two(running: Running) -> None:
    """Have an instance that was started by hand take one of two events that are kept, and leave the other."""
    await send(running, event("3", "paid", "bank", 3, order=7), event("4", "paid", "bank", 4, order=7))
    await kept_by(running, {"order": "7"}, 2)
    by_hand = await running.start_awaiting("Placed")
    await swf.send_event(running.bench.client, by_hand.id, event("5", "placed", "shop", 5, order=7).to_json())
    assert await result(by_hand) == {"placed": 5, "paid": 3}
    await kept_by(running, {"order": "7"}, 1)


async def test_what_a_subscriber_leaves_is_kept_for_others(bench: Bench) -> None:
    """It does not go back to the one that is about to end, also if the mailbox has begun another before."""
    async with bench.worker(named(ORDER)) as running:
        [receipt] = await send(
            running, event("1", "placed", "shop", 1, order=7), event("2", "paid", "bank", 1, order=7)
        )
        assert await output(bench, receipt.instance) == {"placed": 1, "paid": 1}
        await takes_one_of_two(running)


async def test_what_continues_as_another_workflow_leaves_it_too(bench: Bench) -> None:
    """An event that was handed over before, and that neither takes, goes back when the other ends."""
    other = define(inject("Rest"), id=f"{named(ORDER).id}-other")
    order = named(ORDER.replace(".paid}}], end: true", f".paid}}}}], end: {{continueAs: {{workflowId: {other.id}}}}}"))
    async with bench.worker(order, other) as running:
        await takes_one_of_two(running)


async def test_its_mailbox_goes_on_while_the_other_workflow_runs(bench: Bench) -> None:
    """That one has its id, but is no instance of its key: the next has an id of its own, and gets what comes then."""
    other = define(sleeps("Rest", "PT1H"), id=f"{named(ORDER).id}-other")
    order = named(ORDER.replace(".paid}}], end: true", f".paid}}}}], end: {{continueAs: {{workflowId: {other.id}}}}}"))
    placed = [event(str(n), "placed", "shop", n, order=7) for n in range(4)]
    paid = [event(f"p{n}", "paid", "bank", n, order=7) for n in range(4)]
    async with bench.worker(order, other) as running:
        tell = partial(send, running, family=lambda _: [order, other])
        [receipt] = await tell(*placed[:2])
        await looked_at(running, {"order": "7"}, 2)
        await tell(paid[0])
        found = [bench.handle(str(receipt.instance)), await _begun(running, placed[1])]
        await running.awaiting(found[1], "Paid")
        await tell(placed[2], paid[1])  # it has the first of these, and leaves it to the third
        found.append(await _begun(running, placed[2]))
        await running.awaiting(found[2], "Paid")
        await tell(paid[2])
        await listed(bench.client, f"WorkflowType = '{other.id}' AND ExecutionStatus = 'Running'", 3)
        await tell(paid[3], placed[3])
        found.append(await _begun(running, placed[3]))
        await listed(bench.client, f"WorkflowType = '{other.id}' AND ExecutionStatus = 'Running'", 4)
        data = [await one.query("data") for one in found]
        for one in found:
            await one.terminate()
        assert data == [{"placed": n, "paid": n} for n in range(4)]


async def _begun(running: Running, by: CloudEvent) -> swf.Handle:
    """Return the instance with an id of its own that an event has begun, once it is there."""
    id_ = single_id(running.definitions[0].id, by)
    await listed(running.bench.client, f"WorkflowId = '{id_}'", 1)
    return running.bench.handle(id_)


NAPS = (
    SHIPMENT.partition("- {name: On")[0].replace("transition: On", "transition: Nap")
    + """
- {name: Nap, type: sleep, duration: PT0.01S, transition: Doze}
- {name: Doze, type: sleep, duration: PT0.01S, end: true}
"""
)


async def test_a_run_that_has_continued_as_new_leaves_its_mailbox(bench: Bench) -> None:
    """What it waited for came before that; a mailbox that nobody waits in any more ends."""
    async with bench.worker(named(NAPS)) as running:
        mine = await running.start_awaiting("Shipped", {"parcel": "7"}, suspend_after=12)
        await swf.send_event(bench.client, mine.id, shipped("1", "first", parcel=7, leg="a").to_json())
        assert await result(mine) == {"parcel": "7", "first": "first"}
        described = (await bench.handle(mine).describe()).raw_description
        info = described.workflow_execution_info
        assert info.execution.run_id != info.first_run_id
        mailbox = bench.handle(mailbox_id(running.definitions[0].id, {"parcel": "7"}))
        await asyncio.wait_for(mailbox.result(), 30)


async def test_what_was_not_taken_begins_the_next(bench: Bench) -> None:
    """An event that starts instances, and came while one ran that did not want it, begins one when that has ended."""
    async with bench.worker(named(ORDER)) as running:
        placed = [event(str(n), "placed", "shop", n, order=1) for n in range(3)]
        paid = [event(f"p{n}", "paid", "bank", n, order=1) for n in range(3)]
        [receipt] = await send(running, *placed)
        await looked_at(running, {"order": "1"}, 3)
        await send(running, paid[0])
        await instances(running, 2)
        await send(running, *paid[1:])
        await instances(running, 3)
        outputs: list[Any] = [await result(bench.handle(one.id, one.run_id)) for one in await instances(running, 3)]
        assert sorted(one["placed"] for one in outputs) == [0, 1, 2]
        assert sorted(one["paid"] for one in outputs) == [0, 1, 2]
        assert receipt.instance is not None


async def test_what_comes_while_the_end_is_told_begins_the_next(bench: Bench) -> None:
    """An instance that has ended but for the delivery of its last lifecycle event still gets the events of its key."""
    options = OperatorOptionsInterceptor(OperatorOptions(lifecycle=frozenset({"workflow"})))
    async with bench.worker(named(ORDER), interceptors=[options]) as running:
        told, may_end, publish = asyncio.Event(), asyncio.Event(), running.scripted.publish

        async def slow(event: CloudEvent) -> list[str] | None:
            if "workflow.completed" in event.type:
                told.set()
                await may_end.wait()
            return await publish(event)

        running.scripted.publish = slow  # type: ignore[method-assign]  # a sink that is away for a while
        await send(running, event("1", "placed", "shop", 1, order=7), event("2", "paid", "bank", 1, order=7))
        await asyncio.wait_for(told.wait(), 30)
        [receipt] = await send(
            running, event("3", "placed", "shop", 3, order=7), event("4", "paid", "bank", 4, order=7)
        )
        await looked_at(running, {"order": "7"}, 4)
        may_end.set()
        await instances(running, 2)
        assert await output(bench, receipt.instance) == {"placed": 3, "paid": 4}


async def test_what_was_not_taken_begins_the_next_where_a_run_cannot_continue(bench: Bench) -> None:
    """A run that fails because it has too much to pass on to the next execution gives back what came meanwhile."""
    too_much = "{a: '${ \"x\" * 1100000 }', b: '${ \"x\" * 1100000 }'}"
    end = f"end: {{continueAs: {{workflowId: ID, data: {too_much}}}}}"
    async with bench.worker(
        named(ORDER.replace("toStateData: .paid}}], end: true", f"toStateData: .paid}}}}], {end}"))
    ) as running:
        placed = [event(str(n), "placed", "shop", n, order=1) for n in range(2)]
        [receipt] = await send(running, *placed)
        await looked_at(running, {"order": "1"}, 2)
        await send(running, event("p", "paid", "bank", order=1))
        found = await instances(running, 2)
        assert {one.id for one in found} == {receipt.instance}
        assert [one.status for one in found if one.close_time] == [WorkflowExecutionStatus.FAILED]


async def test_events_of_the_next_round_are_not_lost(bench: Bench) -> None:
    """A state that gathers has two rounds of what came twice."""
    async with bench.worker(named(BOTH)) as running:
        [receipt] = await send(
            running, event("1", "a", "s", {"a": 1}, of=1), event("2", "a", "s", {"a": 2}, of=1),
            event("3", "b", "s", {"b": 1}, of=1),
        )  # fmt: skip
        await instances(running, 2)
        await send(running, event("4", "b", "s", {"b": 2}, of=1))
        assert await output(bench, receipt.instance) == {"got": {"a": 2, "b": 2}}


async def test_an_event_that_is_too_large_is_refused(bench: Bench) -> None:
    async with bench.worker(named(SHIPMENT)) as running:
        with pytest.raises(UsageError, match="bytes"):
            await send(running, shipped("1", "x" * 3_000_000, parcel=7, leg="a"))
        mine = await running.start({"parcel": "7"})
        await send(running, shipped("1", 1, parcel=7, leg="a"), shipped("2", 2, parcel=7, leg="a"))
        assert await result(mine) == {"parcel": "7", "first": 1, "second": 2}


@pytest.mark.parametrize("how", ["has ended", "has yet to be begun"])
async def test_no_other_workflow_of_the_id_gets_the_event(bench: Bench, how: str) -> None:
    """Whoever may start workflows takes the id of an instance; the event waits until it is free again."""
    thief = define(
        awaits("w", "Placed", "Paid"),
        events=[{"name": name, "type": name.lower(), "source": "*"} for name in ("Placed", "Paid")],
        id=f"thief-{next(Bench.numbers)}",
    )
    async with bench.worker(named(ORDER), thief) as running:
        instance = instance_id(running.definitions[0].id, {"order": "1"})
        if how == "has ended":
            await send(running, event("1", "placed", "shop", 1, order=1), event("2", "paid", "bank", 1, order=1))
            assert await output(bench, instance) == {"placed": 1, "paid": 1}
        squatter = await swf.start(bench.client, [thief], workflow_id=instance, task_queue=running.queue)
        await running.awaiting(squatter, "Placed")
        await send(running, event("3", "placed", "shop", 3, order=1))
        mailbox = bench.handle(mailbox_id(running.definitions[0].id, {"order": "1"}))
        await until(
            lambda: events_of(mailbox),
            lambda found: any(one.HasField("start_child_workflow_execution_failed_event_attributes") for one in found),
        )
        await send(running, event("4", "paid", "bank", 4, order=1))
        await squatter.terminate()
        begun = await instances(running, 2 if how == "has ended" else 1)
        latest = max(begun, key=lambda one: one.start_time)
        assert await result(bench.handle(latest, latest.run_id)) == {
            "placed": 3, "paid": 4,
        }  # fmt: skip
        other = bench.handle(instance, squatter.first_execution_run_id)
        assert not any(one.HasField("workflow_execution_signaled_event_attributes") for one in await events_of(other))


@pytest.mark.parametrize("what", ["instance", "mailbox"])
async def test_an_event_is_not_accepted_where_another_workflow_has_the_id(bench: Bench, what: str) -> None:
    thief = define(sleeps("w", "PT1H"), id=f"thief-{next(Bench.numbers)}")
    first = event("1", "placed", "shop", 1, order=1) if what == "mailbox" else event("1", "a", "s", 1)
    async with bench.worker(named(ORDER if what == "mailbox" else LOOSE), thief) as running:
        definition = running.definitions[0].id
        taken = mailbox_id(definition, {"order": "1"}) if what == "mailbox" else single_id(definition, first)
        squatter = await swf.start(bench.client, [thief], workflow_id=taken, task_queue=running.queue)
        with pytest.raises(AlreadyStartedError, match=f"but a workflow '{thief.id}' has that id"):
            await send(running, first)
        await squatter.terminate()


BEYOND = """
events:
- {name: Go, type: go}
- name: Shipped
  type: shipped
  source: depot
  correlation: [{contextAttributeName: parcel, contextAttributeValue: '${ .parcel }'}]
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Shipped], eventDataFilter: {toStateData: .had}}], transition: Go on}
- {name: Go on, type: event, onEvents: [{eventRefs: [Go]}], stateDataFilter: {output: '{had}'}, end: true}
"""
"""An instance that takes one event of a parcel, and keeps the next until its end."""


async def test_what_an_instance_left_at_its_end_goes_to_the_next(bench: Bench) -> None:
    """An event that one instance alone was given, and did not take, is for others; so is one that another left."""
    async with bench.worker(named(BEYOND)) as running:
        first = await running.start_awaiting("Shipped", {"parcel": "7"})
        mailbox = bench.handle(mailbox_id(running.definitions[0].id, {"parcel": "7"}))
        await until(lambda: _are_subscribed(mailbox, 1))
        await send(running, shipped("1", 1, parcel="7", leg="a"))
        await running.awaiting(first, "Go")
        await send(running, shipped("2", 2, parcel="7", leg="a"))
        second = await running.start_awaiting("Shipped", {"parcel": "7"})
        await until(lambda: _are_subscribed(mailbox, 2))
        await send(running, shipped("3", 3, parcel="7", leg="a"))
        await running.awaiting(second, "Go")
        await kept_by(running, {"parcel": "7"}, 0)
        await first.signal("Go", {})
        assert await result(first) == {"had": 1}
        await until(lambda: _are_subscribed(mailbox, 1))
        await second.signal("Go", {})
        assert await result(second) == {"had": 3}
        await kept_by(running, {"parcel": "7"}, 1)
        third = await running.start_awaiting("Go", {"parcel": "7"})
        await third.signal("Go", {})
        assert await result(third) == {"had": 2}
