"""What a worker answers to those who look after it while it stops."""

import signal

import pytest

from tests.cli.conftest import PATIENCE, Dev, Swf, answer_of, free_port, until
from tests.definitions import definition

pytestmark = pytest.mark.temporal

_FUNCTIONS = """\
from asyncio import sleep
from pathlib import Path

from swf_temporal import Registry

registry = Registry()


@registry.custom("waits")
async def waits() -> dict[str, bool]:
    Path("begun").touch()
    while not Path("may-end").exists():
        await sleep(0.02)
    return {"waited": True}
"""
_DEFINITION = definition("""\
id: draining
functions: [{name: waits, type: custom}]
states: [{name: Wait, type: operation, actions: [{functionRef: waits}], end: true}]
""")


def test_a_worker_that_finishes_its_calls_is_alive_and_not_ready(swf: Swf, dev: Dev) -> None:
    swf.write("draining.yaml", _DEFINITION)
    swf.write("functions.py", _FUNCTIONS)
    health, server = free_port(), ["--address", dev.address, "--task-queue", "draining"]
    with swf.running("worker", "draining.yaml", "--functions", "functions.py", *server, "--health", str(health)) as one:
        one.until("working for")
        assert answer_of(health, "livez") == 200
        until(lambda: answer_of(health, "readyz") == 200)
        started = swf("start", "draining", "--id", "draining-1", *server)
        assert started.code == 0, started.err
        until((swf.folder / "begun").exists)
        one.process.send_signal(signal.SIGTERM)
        until(lambda: answer_of(health, "readyz") == 503)
        assert answer_of(health, "livez") == 200
        swf.write("may-end", "")
        assert one.process.wait(PATIENCE) == 0
