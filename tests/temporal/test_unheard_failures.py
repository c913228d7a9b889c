"""Instances that fail and that nothing waits for: a worker's log tells of the failure once, and without a traceback."""

import gc

import pytest

from swf_temporal import RunEnded
from swf_temporal.temporal import client as swf
from tests.temporal.building import awaits, consumed, operation
from tests.temporal.conftest import Bench, calling, define, events_of, named, until
from tests.temporal.test_event_starts import event, send

FAILING = """
functions: [{name: work, type: custom, operation: work}]
events: [{name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}]
states:
- {name: Wait, type: event, onEvents: [{eventRefs: [Placed], actions: [{functionRef: work}]}], end: true}
"""


FAILED = "child_workflow_execution_failed_event_attributes"


def work(_: object) -> object:
    raise ValueError("broken")


async def test_one_that_an_event_began(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Its mailbox, which runs still, has nothing to do with its failure."""
    async with bench.worker(named(FAILING), work=work) as worker:
        [receipt] = await send(worker, event("1", "placed", "shop", 1, order="7"))
        handle = bench.handle(str(receipt.instance))
        await until(lambda: "failed named-" in caplog.text)
        with pytest.raises(RunEnded):
            await swf.result(handle)
        await send(worker, event("1", "placed", "shop", 1, order="7"))
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_one_that_was_invoked_async(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The instance that began it goes on without it, and hears of its end while it runs."""
    child = define(calling("Work", "work"), functions=("work",), id="unheard-child")
    below = {"subFlowRef": {"workflowId": child.id, "invoke": "async", "onParentComplete": "continue"}}
    parent = define(operation("Call", below), awaits("Wait", "go"), events=consumed("go"), id="unheard-parent")
    async with bench.worker(parent, child, work=work) as worker:
        handle = await worker.start({})
        await until(lambda: "failed unheard-child" in caplog.text)
        await until(lambda: events_of(handle), lambda found: any(one.HasField(FAILED) for one in found))
        await worker.awaiting(handle, "go")
    gc.collect()
    await handle.terminate()
    assert "never retrieved" not in caplog.text
