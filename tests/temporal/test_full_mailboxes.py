"""What a mailbox holds is bounded: senders are refused, workers or none, and nothing that was accepted is lost."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import time
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHandle

from swf_temporal.base.client_errors import MailboxFullError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import instance_id, mailbox_id
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import event_mailboxes
from swf_temporal.temporal.event_mailboxes import PARKING_TIME
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.instance_part import OperatorOptions, Part
from swf_temporal.temporal.instance_parts import PARTS
from swf_temporal.temporal.mailbox_records import (
    DEFINITIONS,
    MAILBOX,
    MAX_BYTES,
    RECEPTION,
    TAKE,
    Delivery,
    MailboxRecord,
    ParkedEvent,
    Reception,
    digest_of_event,
)
from swf_temporal.temporal.records import pinned
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.statuses import answer_of
from tests.many_events.flood import DEFINITION as TAKING
from tests.temporal.conftest import Bench, Running, events_of, named, outcome, told_in, until
from tests.temporal.test_event_starts import BOTH, ORDER, event, looked_at, output, send, with_call

pytestmark = pytest.mark.temporal
KEY = {"order": "7"}
TEXT = "x" * 50_000


def paid(number: int, text: str = TEXT) -> CloudEvent:
    return event(str(number), "paid", "bank", text, order=7)


async def filled(running: Running) -> int:
    """Send events that nobody waits for until the mailbox is full; return how many it has accepted."""
    for number in range(2 * MAX_BYTES // len(TEXT)):
        try:
            await send(running, paid(number))
        except MailboxFullError:
            return number
    raise AssertionError("it is never full")


@pytest.mark.parametrize("has_worker", [True, False], ids=["with a worker", "without"])
async def test_a_full_mailbox_takes_what_starts_instances(bench: Bench, *, has_worker: bool) -> None:
    """The instance gets what was kept, which is more than one payload may have beside its start."""
    definition = named(ORDER)
    async with bench.worker(definition) as running:
        if has_worker:
            accepted = await filled(running)
    if not has_worker:
        accepted = await filled(running)
    assert accepted > MAX_BYTES // len(TEXT) // 2
    async with bench.worker(definition, queue=running.queue):
        [receipt] = await send(running, event("s", "placed", "shop", "y", order=7))
        assert await output(bench, receipt.instance) == {"placed": "y", "paid": TEXT}


async def test_a_kept_event_of_nearly_any_size_goes_to_the_instance(bench: Bench) -> None:
    """Two are more than what an instance can be started with."""
    async with bench.worker(named(ORDER)) as running:
        large = "z" * 1_000_000
        await send(running, paid(1, large))
        await sent(running, paid(2, "small"))
        [receipt] = await send(running, event("s", "placed", "shop", large, order=7))
        assert await output(bench, receipt.instance) == {"placed": large, "paid": large}


async def test_what_was_carried_over_and_is_dealt_with_makes_room(bench: Bench) -> None:
    """A mailbox that continued as new with half of what it may hold, and has passed that on, is not full."""
    definition = load(TAKING.replace("id: taking", f"id: {named(ORDER).id}"))
    given = [taking(-1, "go"), *(taking(number) for number in range(9))]
    record = MailboxRecord(
        seen=[(digest_of_event("flood", f"earlier-{number}"), time()) for number in range(2000)],
        arrived=[delivery(definition, one).to_json() for one in given],
        definitions=pinned([definition]),
    ).to_json()
    async with bench.worker(definition) as running:
        mailbox = mailbox_id(definition.id, {"account": "7"})
        handle = await running.begin(MAILBOX, record, workflow_id=mailbox)
        await known(handle, given[-1])
        await sent(running, taking(9))
        await sent(running, taking(10, last=True))
        assert (await output(bench, instance_id(definition.id, {"account": "7"})))["count"] == 11


async def test_what_was_carried_over_and_is_kept_no_longer_makes_room(bench: Bench) -> None:
    """A mailbox that continued as new full of what an instance gave back has room again when that is forgotten."""
    definition = named(ORDER)
    at = time() - PARKING_TIME.total_seconds() + 3
    kept = [paid(number) for number in range(24)]
    record = MailboxRecord(
        seen=[(digest_of_event(one.source, one.id), at) for one in kept],
        held=[ParkedEvent(one, at, KEY) for one in kept],
        definitions=pinned([definition]),
    ).to_json()
    async with bench.worker(definition) as running:
        mailbox = mailbox_id(definition.id, KEY)
        await running.begin(MAILBOX, record, workflow_id=mailbox)
        with pytest.raises(MailboxFullError):
            await send(running, paid(24))
        await sent(running, paid(24))


async def known(mailbox: WorkflowHandle[Any, Any], one: CloudEvent) -> None:
    async with asyncio.timeout(30):
        ask = partial(mailbox.query, RECEPTION, args=[one.source, one.id])
        await until(lambda: answer_of(ask), lambda one: Reception.from_json(one).is_known)


def taking(number: int, type_: str = "item", *, last: bool = False) -> CloudEvent:
    return event(str(number), type_, "flood", {"n": number, "last": last, "text": TEXT[:48_000]}, account="7")


def delivery(definition: Definition, one: CloudEvent) -> Delivery:
    """Return what a mailbox was sent with an event for the instance of its key."""
    instance = instance_id(definition.id, {"account": "7"})
    return Delivery(one, one.type == "go", instance, {"account": "7"})


async def test_the_definitions_are_sent_once(bench: Bench) -> None:
    """Events bring them along where the mailbox has others, or has ended."""
    definition = named(BOTH)
    async with bench.worker(definition) as running:
        for number in range(3):
            await send(running, event(str(number), "a", "s", number, of=1))
        await looked_at(running, {"of": "1"}, 3)  # until a task is done, what came meanwhile is not in the history
        handle = bench.handle(mailbox_id(definition.id, {"of": "1"}))
        digest = await (await handle.describe()).memo_value(DEFINITIONS)
        assert await with_definitions(handle) == [True, False, False]
        other = Running(bench, [changed(definition)], running.scripted, running.queue, running.worker)
        for number in range(3, 5):
            await send(other, event(str(number), "a", "s", number, of=1))
            await looked_at(running, {"of": "1"}, number + 1)
        assert await with_definitions(handle) == [True, False, False, True, False]
        assert await (await handle.describe()).memo_value(DEFINITIONS) != digest


async def test_its_definitions_are_known_once_it_continued(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_mailboxes, "MAX_DONE_EVENTS", 20)
    definition = named(BOTH)
    async with bench.worker(definition) as running:
        await send(running, event("0", "a", "s", 0, of=1))
        handle = bench.handle(mailbox_id(definition.id, {"of": "1"}))
        first = await handle.describe()
        other = Running(bench, [changed(definition)], running.scripted, running.queue, running.worker)
        for number in range(1, 60):
            await send(other, event(str(number), "a", "s", number, of=1))
            await known(handle, event(str(number), "a", "s", number, of=1))
            now = await handle.describe()
            if now.run_id != first.run_id:
                break
        assert now.run_id != first.run_id
        assert await now.memo_value(DEFINITIONS) != await first.memo_value(DEFINITIONS)


def changed(definition: Definition) -> Definition:
    return load(definition.source.text + "\ndescription: changed\n")


async def with_definitions(handle: WorkflowHandle[Any, Any]) -> list[bool]:
    """Return for each message to a mailbox whether it brings definitions."""
    signals = await told_in(handle, "workflow_execution_signaled")
    return [b'"definitions"' in one.input.payloads[0].data for one in signals if one.signal_name == TAKE]


async def sent(running: Running, one: CloudEvent) -> None:
    """Send an event until the mailbox has room for it."""

    async def is_taken() -> bool:
        with suppress(MailboxFullError):
            return (await send(running, one)) is not None
        return False

    await until(is_taken, patience=60)


async def test_a_full_mailbox_keeps_an_event_from_no_other(bench: Bench) -> None:
    """The instance of another definition gets it; its sender is told to send it again."""
    first, second = named(ORDER), named(ORDER)
    async with bench.worker(first) as running:
        pass
    await filled(running)
    async with bench.worker(second) as other:
        [receipt] = await send(other, event("s", "placed", "shop", "y", order=7))
        with pytest.raises(MailboxFullError, match=first.id):
            await send(replace(other, definitions=[first, second]), paid(9999, "z"))
        assert await output(bench, receipt.instance) == {"placed": "y", "paid": "z"}


async def test_an_instance_without_room_gets_its_event_once_it_has_some() -> None:
    """It runs, and so is not taken for one that has ended: what was accepted for it is not lost."""
    most, is_over = 10, asyncio.Event()
    limit = ("--dynamic-config-value", f"history.maximumSignalsPerExecution={most}")

    class Short(Part):
        def begin(self, definition: Definition, host: TemporalHost) -> None:  # noqa: ARG002 - as the others
            self.instance.is_long = lambda: workflow.info().get_current_history_length() > 2 * most

    async def f(_: Any) -> Any:
        await is_over.wait()
        return {}

    options = OperatorOptions(parts=(*PARTS, Short))
    async with (
        local_server(extra=limit) as server,
        Bench(server).worker(named(with_call("f")), options=options, f=f) as running,
    ):
        [receipt] = await send(running, event("s", "placed", "shop", 1, order=7))
        await until(lambda: running.scripted.calls)
        assert receipt.instance is not None
        instance = server.client.get_workflow_handle(receipt.instance)
        for number in range(most):
            await instance.signal("unknown", number)
        await send(running, paid(1, "y"))
        await _refused(server.client.get_workflow_handle(mailbox_id(running.definitions[0].id, KEY)))
        is_over.set()
        assert await outcome(instance) == {"placed": 1, "paid": "y"}


async def _refused(mailbox: WorkflowHandle[Any, Any]) -> None:
    """Wait until an instance has refused an event of the mailbox, which has nothing to do then for a while."""

    def is_refused(events: list[Any]) -> bool:
        failed = [one for one in events if one.HasField("signal_external_workflow_execution_failed_event_attributes")]
        return bool(failed) and events[-1].HasField("timer_started_event_attributes")

    await until(lambda: events_of(mailbox), is_refused)
