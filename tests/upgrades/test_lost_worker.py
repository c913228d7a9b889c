"""A short soak: of two workers one is killed, and every instance comes to its end all the same.

`python -m tests.soak` is the long one, in which workers of two releases are killed and started in turn.
"""

import asyncio
import subprocess
from collections.abc import Iterator

import pytest

from swf_temporal.temporal.client import Handle, result
from tests.temporal.conftest import Bench
from tests.upgrades.cases import CASES
from tests.upgrades.chains import executions
from tests.upgrades.releases import ROOT, start_worker

QUEUE = "lost-worker"
HEARTBEAT = "5"
"""Seconds after which a call is missed that was lost with its worker; a workflow task is missed after ten."""
PATIENCE = 90
"""Seconds, on a machine that is busy."""


@pytest.fixture
def workers(bench: Bench) -> Iterator[list["subprocess.Popen[bytes]"]]:
    address = bench.client.service_client.config.target_host
    started = [start_worker(ROOT, address, QUEUE, HEARTBEAT) for _ in range(2)]
    try:
        for worker in started:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"ready\n"
        yield started
    finally:
        for worker in started:
            worker.kill()
            worker.communicate()


async def test_instances_survive_a_worker(bench: Bench, workers: list["subprocess.Popen[bytes]"]) -> None:
    """A worker is killed in the midst of instances that store all there is to store; the other goes on with them."""
    handles = await asyncio.gather(*(case.start(bench.client, f"{QUEUE}-{case.id}", QUEUE) for case in CASES))
    outputs = [asyncio.create_task(result(handle)) for handle in handles]
    await asyncio.wait(outputs, return_when=asyncio.FIRST_COMPLETED)
    killed, kept = workers
    killed.kill()
    _, late = await asyncio.wait(outputs, timeout=PATIENCE)
    assert [handle.id for handle, output in zip(handles, outputs, strict=True) if output in late] == []
    assert [output.result() for output in outputs] == [case.output for case in CASES]

    served = await asyncio.gather(*(_served(bench, handle) for handle in handles))
    assert any({str(killed.pid), str(kept.pid)} <= one for one in served), "no instance moved from one to the other"


async def _served(bench: Bench, handle: Handle) -> set[str]:
    """Return the processes that carried out the workflow tasks of an instance and its sub-workflows."""
    ran = executions(bench.client, handle.id, handle.first_execution_run_id)
    return {identity.partition("@")[0] async for execution in ran for identity in execution.identities}
