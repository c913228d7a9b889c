"""Events that start instances on a real server: once for each event and correlation key."""

from typing import Any

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import Arrived, mailbox_id, route
from swf_temporal.temporal.client import result
from swf_temporal.temporal.event_dispatch import Family, Receipt, dispatch
from swf_temporal.temporal.mailbox_records import MAILBOX, MailboxRecord, digest_of_event
from tests.temporal.conftest import HEAD, Bench, Running, listed, named, replays, told_in, until

ORDER = (
    HEAD
    + """
events:
- {name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}
- {name: Paid, type: paid, source: bank, correlation: [{contextAttributeName: order}]}
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Placed], eventDataFilter: {toStateData: .placed}}], transition: Pay}
- {name: Pay, type: event, onEvents: [{eventRefs: [Paid], eventDataFilter: {toStateData: .paid}}], end: true}
"""
)

BOTH = """
events:
- {name: A, type: a, source: s, correlation: [{contextAttributeName: of}]}
- {name: B, type: b, source: s, correlation: [{contextAttributeName: of}]}
states:
- name: Wait
  type: event
  exclusive: false
  onEvents: [{eventRefs: [A, B], eventDataFilter: {toStateData: .got}}]
  end: true
"""

LOOSE = """
events: [{name: A, type: a, source: s}, {name: B, type: b, source: s}]
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [A], eventDataFilter: {toStateData: .a}}], transition: Then}
- {name: Then, type: event, onEvents: [{eventRefs: [B], eventDataFilter: {toStateData: .b}}], end: true}
"""

AND = """
id: /ID
start: {type: eventsAnd, correlate: [of], lifespan: PT1H, events: [{type: a}, {type: b}]}
states: [{id: a, type: noop, transform: 'jq({a: .a.data, b: .b.data})'}]
"""


def with_call(name: str) -> str:
    """Return `ORDER` with a call between its two states."""
    state = f"- {{name: Do, type: operation, actions: [{{functionRef: {name}}}], transition: Pay}}"
    text = ORDER.replace("}}], transition: Pay}", "}}], transition: Do}\n" + state)
    return text.replace("events:", f"functions: [{{name: {name}, type: custom}}]\nevents:")


def event(id_: str, type_: str, source: str, data: Any = None, **attributes: Any) -> CloudEvent:
    return CloudEvent(id_, source, type_, data, attributes)


async def send(
    running: Running, *events: CloudEvent, family: Family = lambda definition: [definition]
) -> list[Receipt]:
    """Send events where they go among the definitions of the worker; return the receipts for the last."""
    receipts: list[Receipt] = []
    for one in events:
        where = route(one, running.definitions)
        receipts = await dispatch(running.bench.client, one, where, family, running.queue)
    return receipts


async def output(bench: Bench, instance: str | None) -> Any:
    """Return what an instance comes to, once it is there."""
    await until(lambda: bench.client.count_workflows(f"WorkflowId = '{instance}'"), lambda found: found.count)
    return await result(bench.handle(str(instance)))


async def looked_at(running: Running, key: dict[str, str], arrived: int) -> None:
    """Wait until the mailbox of a key has looked at so many deliveries: each of them is a signal."""
    handle = running.bench.handle(mailbox_id(running.definitions[0].id, key))
    await until(lambda: handle.query("looked at"), lambda one: one >= arrived)


async def instances(running: Running, number: int) -> list[Any]:
    """Return the instances of the first definition, once so many are listed, and no more."""
    found = await listed(running.bench.client, f"WorkflowType = '{running.definitions[0].id}'", number)
    assert len(found) == number
    return found


async def test_one_instance_for_each_key(bench: Bench) -> None:
    """Events of a key begin its instance and go on in it, whatever comes twice; one that ended is begun anew."""
    async with bench.worker(named(ORDER)) as running:
        placed = event("1", "placed", "shop", "first", order=7)
        paid = event("2", "paid", "bank", "yes", order="7")
        await send(running, placed, placed, event("1", "placed", "shop", "other", order=8))
        [receipt] = await send(running, paid)
        assert receipt.status == "accepted"
        assert await output(bench, receipt.instance) == {"placed": "first", "paid": "yes"}
        await send(running, placed, paid)  # as a producer does that was told nothing
        await looked_at(running, {"order": "7"}, 5)
        await instances(running, 2)
        again = [event("3", "placed", "shop", "second", order=7), event("4", "paid", "bank", "no", order=7)]
        await send(running, *again)
        await looked_at(running, {"order": "7"}, 7)
        await instances(running, 3)
        assert await output(bench, receipt.instance) == {"placed": "second", "paid": "no"}


async def test_a_mailbox_that_has_ended_is_begun_again(bench: Bench) -> None:
    definition = named(ORDER)

    async def sent(one: CloudEvent) -> None:
        where = route(one, [definition])
        await dispatch(bench.client, one, where, lambda each: [each], "nobody")

    handle = bench.handle(mailbox_id(definition.id, {"order": "7"}))
    await sent(event("1", "placed", "shop", 1, order=7))
    run = (await handle.describe()).run_id
    await sent(event("2", "placed", "shop", 2, order=7))
    assert (await handle.describe()).run_id == run
    assert len(await told_in(handle, "workflow_execution_signaled")) == 2
    await handle.terminate()
    await sent(event("3", "placed", "shop", 3, order=7))
    assert (await handle.describe()).run_id != run


async def test_what_an_instance_begins_has_a_turn_of_its_own(bench: Bench) -> None:
    """As beneath one that no mailbox has begun: by a fairness key."""
    actions = "actions: [{functionRef: {refName: note, invoke: async}}]"
    definition = named(
        with_call("note").replace(
            "eventDataFilter: {toStateData: .placed}}], transition: Do", f"{actions}}}], end: true"
        )
    )
    async with bench.worker(definition, note={}) as running:
        [receipt] = await send(running, event("1", "placed", "shop", order=7))
        await output(bench, receipt.instance)
        assert receipt.instance is not None
        begun = await bench.child(receipt.instance, "Wait/note#1")
        described = (await bench.handle(receipt.instance).describe()).raw_description
        [started] = await told_in(begun, "workflow_execution_started")
    assert started.priority.fairness_key == described.workflow_execution_info.first_run_id


async def test_an_early_event_is_kept_for_the_instance(bench: Bench) -> None:
    async with bench.worker(named(ORDER)) as running:
        await send(running, event("1", "paid", "bank", "early", order=1))
        [receipt] = await send(running, event("2", "placed", "shop", "late", order=1))
        assert await output(bench, receipt.instance) == {"placed": "late", "paid": "early"}


async def test_an_instance_gathers_its_events(bench: Bench) -> None:
    """A start state that is not exclusive begins with the first, in whatever order they come."""
    async with bench.worker(named(BOTH)) as running:
        first, other = event("1", "b", "s", {"b": 1}, of=1), event("1", "a", "s2", {}, of=1)
        [receipt] = await send(running, first, other, event("2", "a", "s", {"a": 2}, of=1))
        assert await output(bench, receipt.instance) == {"got": {"a": 2, "b": 1}}


async def test_an_event_without_correlation_has_an_instance(bench: Bench) -> None:
    """It is started once, also after it has ended, and others of its definition are told what they may wait for."""
    async with bench.worker(named(LOOSE)) as running:
        first = event("1", "a", "s", 1)
        [one] = await send(running, first)
        [other] = await send(running, event("2", "a", "s", 2))
        [again] = await send(running, first)
        assert (one.status, again.status, again.instance) == ("started", "duplicate", one.instance)
        await instances(running, 2)
        told = await send(running, event("3", "b", "s", 3))
        assert {each.instance for each in told} == {one.instance, other.instance}
        assert await output(bench, one.instance) == {"a": 1, "b": 3}
        assert await output(bench, other.instance) == {"a": 2, "b": 3}
        assert (await send(running, first))[0].status == "duplicate"


async def test_direktiv_gathers_before_it_begins(bench: Bench) -> None:
    """The input of an instance has an event of each kind; those of another key are none of it."""
    async with bench.worker(named(AND)) as running:
        await send(running, event("1", "a", "s", 1, of="x"), event("2", "b", "s", 9, of="y"))
        await send(running, event("3", "a", "s", 2, of="x"), *[event("4", "b", "s", 3, of="x")] * 2)
        await looked_at(running, {"of": "x"}, 4)
        [found] = await instances(running, 1)
        assert await output(bench, found.id) == {"a": 2, "b": 3}


async def test_a_mailbox_goes_on_without_a_worker(bench: Bench) -> None:
    """What the server has is not lost while no worker runs; a producer that sends again changes nothing."""
    definition = named(ORDER)
    placed, paid = event("1", "placed", "shop", "a", order=1), event("2", "paid", "bank", "b", order=1)
    async with bench.worker(definition) as running:
        queue = running.queue
    await send(running, placed)
    await send(running, placed, paid, paid)
    async with bench.worker(definition, queue=queue) as running:
        [receipt] = await send(running, paid)
        assert await output(bench, receipt.instance) == {"placed": "a", "paid": "b"}
        await looked_at(running, {"order": "1"}, 5)
        await instances(running, 1)


async def test_a_mailbox_goes_on_with_what_it_remembers(bench: Bench) -> None:
    """What an execution hands to the next counts: events that came, those that wait for others; and it replays."""
    definition = named(AND)
    async with bench.worker(definition) as running:
        first, second = event("1", "a", "s", 1, of="x"), event("2", "b", "s", 2, of="x")
        record = MailboxRecord(
            seen=[(digest_of_event("s", id_), 4e9) for id_ in "10"], gathered=[Arrived(first, 4e9)], window=3600.0
        ).to_json()
        workflow_id = mailbox_id(definition.id, {"of": "x"})
        handle = await running.begin(MAILBOX, record, workflow_id=workflow_id)
        await send(running, event("0", "b", "s", 0, of="x"), first, second)
        [found] = await instances(running, 1)
        assert await output(bench, found.id) == {"a": 1, "b": 2}
        await looked_at(running, {"of": "x"}, 3)
        assert await replays(await handle.fetch_history()) is None


@pytest.mark.parametrize(
    ("start", "started"),
    [
        ("{type: event, event: {type: a}}", [["a"], ["a"]]),
        ("{type: eventsXor, events: [{type: a}, {type: b}]}", [["a"], ["a"], ["b"]]),
        ("{type: eventsAnd, events: [{type: a}, {type: b}]}", [["a", "b"]]),
        ("{type: eventsAnd, correlate: [of], events: [{type: a}, {type: b}]}", [["a", "b"]]),
    ],
)
async def test_starts_of_direktiv(bench: Bench, start: str, started: list[list[str]]) -> None:
    states = "states: [{id: a, type: noop, transform: 'jq({kinds: keys})'}]"
    async with bench.worker(named(f"id: /ID\nstart: {start}\n{states}")) as running:
        events = [event("1", "a", "s", 1, of="x"), event("2", "b", "s", 2, of="x"), event("3", "a", "s", 3, of="y")]
        await send(running, *events, *events)
        found = await instances(running, len(started))
        outputs: list[Any] = [await result(bench.handle(one.id)) for one in found]
        assert sorted(one["kinds"] for one in outputs) == started
