"""A worker that is killed in the midst of writing variables to a database."""

import asyncio
import json
import signal
import sqlite3
import sys

import pytest

from tests.cli.conftest import Dev, Swf

pytestmark = pytest.mark.temporal

COUNTER = """\
id: counter
states:
- {id: get, type: getter, variables: [{key: n, scope: workflow}, {key: own}], transition: set}
- id: set
  type: setter
  variables:
  - {key: n, scope: workflow, value: "jq((.var.n // 0) + 1)"}
  - {key: own, scope: instance, value: "jq((.var.own // 0) + 1)"}
  transition: enough
- id: enough
  type: switch
  conditions: [{condition: "jq((.var.n // 0) < 39)", transition: get}]
  defaultTransition: last
- {id: last, type: getter, variables: [{key: n, scope: workflow}, {key: own}], transform: jq(.var)}
"""
_PATIENT_FOR_SECONDS = """\
from datetime import timedelta
import swf_temporal.temporal.variables as variable_calls
variable_calls.VARIABLE_ATTEMPT = timedelta(seconds=2)
from swf_temporal.cli.entry import main
main()
"""


async def test_a_worker_that_is_killed(swf: Swf, dev: Dev) -> None:
    swf.write("served/counter.yaml", COUNTER)
    swf.env["SWF_VARIABLES"] = "sqlite:///variables.db"
    queue = ["--task-queue", "killed", "--address", dev.address]
    command = [sys.executable, "-c", _PATIENT_FOR_SECONDS]
    with swf.running("worker", "served", *queue, command=command) as worker:
        worker.until("working for")
        started = await asyncio.to_thread(swf, "start", "counter", "--id", "counter-1", *queue)
        assert started.code == 0, started.err
        database = sqlite3.connect(swf.folder / "variables.db")
        while database.execute("SELECT count(*) FROM swf_variable_writes").fetchone()[0] < 10:
            await asyncio.sleep(0.005)
        worker.process.send_signal(signal.SIGKILL)
        worker.process.wait()
        before = database.execute("SELECT count(*) FROM swf_variable_writes").fetchone()[0]
        assert before < 80, "it was killed too late"
    with swf.running("worker", "served", *queue, command=command) as worker:
        worker.until("working for")
        ended = await asyncio.to_thread(swf, "result", "counter-1", "--address", dev.address)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out) == {"n": 40, "own": 40}
    assert database.execute("SELECT count(*) FROM swf_variable_writes").fetchone()[0] == 80
    database.close()


def test_a_store_that_cannot_be_used(swf: Swf, dev: Dev) -> None:
    for value, message in (
        ("mysql://ada:lovelace@db/x", "SWF_VARIABLES is 'mysql://ada:…@db/x'\n  it must be 'temporal', 'sqlite:///"),
        ("sqlite:////not/here.db", "the database sqlite:////not/here.db for variables cannot be used: unable to open"),
    ):
        swf.env["SWF_VARIABLES"] = value
        ended = swf("worker", "hello.yaml", "--task-queue", "unusable", "--address", dev.address)
        assert ended.code == 2
        assert message in ended.err
