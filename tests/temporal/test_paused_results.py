"""The results of instances that are paused."""

import asyncio

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.pausing import pause, resume
from tests.temporal.building import awaits
from tests.temporal.conftest import Measured, define


async def test_a_result_is_waited_for_while_the_instance_is_paused(measured: Measured) -> None:
    """By who has started it, and by who asks for it by its id, and neither asks the server again and again."""
    waiting = define(awaits("Wait", "Go"), events=[{"name": "Go", "type": "go", "source": "us"}])
    async with measured.worker(waiting) as running:
        started = await running.start()
        await running.awaiting(started, "Go")
        by_id = measured.handle(started)
        early = asyncio.create_task(swf.result(started))
        await pause(measured.client, started.id, None)
        results = [early, *(asyncio.create_task(swf.result(one)) for one in (started, by_id))]
        done, _ = await asyncio.wait(results, timeout=2)
        assert not done
        names = ("temporal_request", "temporal_long_request")
        looks = [operation for name in names for [operation] in measured.counted(name, "operation")]
        assert looks.count("GetWorkflowExecutionHistory") < 30
        await swf.send(measured.client, started.id, CloudEvent("1", "us", "go").to_json())
        await resume(measured.client, started.id, None)
        assert await asyncio.wait_for(asyncio.gather(*results), 30) == [{}] * 3
