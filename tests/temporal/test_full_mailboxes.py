"""What a mailbox holds is bounded: senders are refused, workers or none, and nothing that was accepted is lost."""

import asyncio
from typing import Any

import pytest
from temporalio.client import WorkflowHandle

from swf_temporal.client_errors import MailboxFullError
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load
from swf_temporal.routing.keys import mailbox_id
from swf_temporal.temporal.event_dispatch import MAX_BYTES
from swf_temporal.temporal.mailbox_records import DEFINITIONS, TAKE
from tests.temporal.conftest import Bench, Running, events_of
from tests.temporal.test_event_starts import BOTH, ORDER, event, looked_at, named, output, send

pytestmark = pytest.mark.temporal
KEY = {"order": "7"}
TEXT = "x" * 50_000


def paid(number: int, text: str = TEXT) -> CloudEvent:
    """Return an event that starts nothing."""
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


async def test_the_definitions_are_sent_once(bench: Bench) -> None:
    """Events bring them along where the mailbox has others, or has ended."""
    definition = named(BOTH)
    async with bench.worker(definition) as running:
        for number in range(3):
            await send(running, event(str(number), "a", "s", number, of=1))
        await looked_at(running, {"of": "1"}, 3)  # until a task is done, what came meanwhile is not in the history
        handle = bench.client.get_workflow_handle(mailbox_id(definition.id, {"of": "1"}))
        digest = await (await handle.describe()).memo_value(DEFINITIONS)
        assert await with_definitions(handle) == [True, False, False]
        other = Running(bench, [changed(definition)], running.scripted, running.queue, running.worker)
        for number in range(3, 5):
            await send(other, event(str(number), "a", "s", number, of=1))
            await looked_at(running, {"of": "1"}, number + 1)
        assert await with_definitions(handle) == [True, False, False, True, False]
        assert await (await handle.describe()).memo_value(DEFINITIONS) != digest


def changed(definition: Definition) -> Definition:
    """Return the same definition with another text."""
    return load(definition.source.text + "\ndescription: changed\n")


async def with_definitions(handle: WorkflowHandle[Any, Any]) -> list[bool]:
    """Return for each message to a mailbox whether it brings definitions."""
    signals = [
        one.workflow_execution_signaled_event_attributes
        for one in await events_of(handle)
        if one.HasField("workflow_execution_signaled_event_attributes")
    ]
    return [b'"definitions"' in one.input.payloads[0].data for one in signals if one.signal_name == TAKE]


async def sent(running: Running, one: CloudEvent) -> None:
    """Send an event, again if need be, until it is accepted."""
    async with asyncio.timeout(60):
        while True:
            try:
                await send(running, one)
            except MailboxFullError:
                await asyncio.sleep(0.1)
            else:
                return
