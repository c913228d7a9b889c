"""A run that has ended is replayed once; one that goes on is replayed each time."""

from typing import Any

import pytest

from swf_temporal.operations import instance_history
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import history_of
from swf_temporal.temporal.client import result
from swf_temporal.temporal.replaying import ReplayedRun, replay
from tests.temporal.building import consumed, inject
from tests.temporal.conftest import Bench, define


async def test_a_run_that_has_ended_is_replayed_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    replays = list[str]()

    async def counted(history: Any, *given: Any, **more: Any) -> ReplayedRun:
        replays.append(history.run_id)
        return await replay(history, *given, **more)

    monkeypatch.setattr(instance_history, "replay", counted)
    waits: Any = {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": ["go"]}], "transition": "Last"}
    client = Client(bench.client)

    async def traced(instance: str) -> list[str]:
        [run] = (await history_of(client, instance)).runs
        return [str(entry.kind) for entry in (await run.replayed(bench.client.data_converter)).trace]

    async with bench.worker(define(waits, inject("Last"), events=consumed("go"))) as worker:
        handle = await worker.start_awaiting("go", {})
        waiting = [await traced(handle.id), await traced(handle.id)]
        assert len(replays) == 2
        await bench.handle(handle).signal("go", {})
        await result(handle)
        ended = [await traced(handle.id), await traced(handle.id)]
    assert len(replays) == 3
    assert waiting[0] == waiting[1] == ended[0][: len(waiting[0])]
    assert ended[0] == ended[1]
    assert ended[0][-1] == "workflow-completed"
