"""What instances that have ended answer: the same with a worker, without one, and while a workflow task is pending."""

import pytest
from temporalio.api.enums.v1 import EventType

from swf_temporal import Client, UsageError
from swf_temporal.base.errors import CallFailed
from swf_temporal.operations.client import Instance
from tests.temporal.building import awaits, consumed, inject
from tests.temporal.conftest import Bench, calling, define, events_of
from tests.temporal.test_event_starts import event

pytestmark = pytest.mark.temporal

FIRST = inject("First", {"a": 1})


async def names(instance: Instance) -> list[str]:
    """Return the states that an instance has entered."""
    return [entry["name"] for entry in await instance.trace() if entry["kind"] == "state-entered"]


async def test_a_completed_instance_has_its_output(bench: Bench) -> None:
    """Its data is the result, not what the last state began with, whoever asks."""
    last = inject("Last", stateDataFilter={"output": "${ {only: 2} }"})
    async with bench.worker(define(FIRST, last)) as worker:
        handle = await worker.start()
        assert await handle.result() == {"only": 2}
        assert await handle.query("data") == {"only": 2}
        instance = Client(bench.client).instance(handle.id)
        assert await instance.data() == {"only": 2}
    assert await instance.data() == {"only": 2}
    assert await names(instance) == ["First", "Last"]


async def test_a_failed_instance_has_its_latest_data(bench: Bench) -> None:
    """It has no output; its data is that of the state in which it failed."""

    def fail(_: object) -> None:
        raise CallFailed("broken")

    async with bench.worker(define(FIRST, calling("Last", "f"), functions=("f",)), f=fail) as worker:
        instance = Client(bench.client).instance(str((await worker.failure()).instance))
    assert await instance.data() == {"a": 1}


async def test_a_terminated_instance_whose_task_is_pending_answers(bench: Bench) -> None:
    """The event that no worker has seen has not happened; nothing asks again for a task that never ends."""
    definition = define(FIRST, awaits("Wait", "go"), events=consumed("go"))
    async with bench.worker(definition) as worker:
        handle = await worker.start()
        await worker.awaiting(handle, "go")
    await worker.send(handle, event("go", "go", "x"))
    await handle.terminate()
    kinds = [one.event_type for one in await events_of(handle)]
    assert kinds[-3:-1] == [
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
    ]
    async with bench.worker(definition, queue=worker.queue):
        instance = Client(bench.client).instance(handle.id)
        assert await names(instance) == ["First", "Wait"]
        assert await instance.data() == {"a": 1}
        assert (await instance.status())["state"] == "Wait"


async def test_one_that_ended_before_it_began_says_so(bench: Bench) -> None:
    """No worker has taken it up, so it has no data, and nothing has happened."""
    async with bench.worker(define(FIRST)) as worker:
        pass
    handle = await worker.start()
    await handle.terminate()
    instance = Client(bench.client).instance(handle.id)
    with pytest.raises(UsageError, match="ended before a worker took it up"):
        await instance.data()
    assert await instance.trace() == []
