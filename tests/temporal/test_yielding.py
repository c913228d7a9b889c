"""Instances that work long without waiting: they yield after work that is counted: at the same steps on replay."""

import asyncio
from typing import Any

import pytest

from swf_temporal.base.accounting import HELPER_COST
from swf_temporal.runtime import run
from swf_temporal.runtime.cycles import MAX_COST
from tests.temporal.building import inject
from tests.temporal.conftest import Bench, define, failure_of, gives_way, replays

STATES = 500


def adding(number: int) -> dict[str, Any]:
    """Return a state whose expression only jq can evaluate, and which no other has."""
    output = f"${{ {{x: ([.x, {number}] | add)}} }}"
    return inject(f"Add {number}", stateDataFilter={"output": output})


async def test_an_instance_that_is_queried_while_it_works_replays(bench: Bench) -> None:
    """It was started by its type alone; hundreds of its states are evaluated in helper processes."""
    definition = define(*map(adding, range(STATES)))
    async with bench.worker(definition) as worker:
        handle = await worker.begin(definition.id, {"x": 0}, workflow_id=f"queried-{worker.queue}")
        ending = asyncio.create_task(handle.result())
        while not ending.done():
            for query in ("status", "trace"):
                await handle.query(query)
        assert await ending == {"x": sum(range(STATES))}
        history = await handle.fetch_history()

    yields = sum(map(gives_way, history.events))
    assert yields >= STATES * HELPER_COST // MAX_COST
    assert await replays(history) is None


async def test_a_run_that_holds_too_much_fails_at_the_same_step_on_replay(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How much its data take is found out where they have grown."""
    monkeypatch.setattr(run, "STEP", 20_000)
    monkeypatch.setattr(run, "MAX_DATA_BYTES", 200_000)
    monkeypatch.setattr(run, "_OF_PAYLOAD", 0)
    states = [
        inject(f"Make {number}", stateDataFilter={"output": f'${{ .s{number} = ("{number % 10}" * 30000) }}'})
        for number in range(12)
    ]
    async with bench.worker(define(*states)) as worker:
        handle = await worker.start()
        failed = await failure_of(handle)

    assert "take more memory than the 0 MiB that a run may hold" in str(failed)
    assert failed.fault is not None
    assert (failed.fault.name, failed.fault.state) == ("PayloadTooLarge", "Make 7")
    assert await replays(await handle.fetch_history()) is None
