"""A worker is killed in a later execution of a run that waits for calls and a sub-workflow which the first began."""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.worker import Worker

from swf_temporal.base.data import JSON
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us
from tests.temporal.building import awaits, consumed
from tests.temporal.conftest import Bench, child_of, until
from tests.temporal.test_outlasting import histories

EVERY = 60
"""After how many events of history the server suggests that a run continue as new."""
STEPS, KILLED_AT = 40, 20
"""How many calls the run makes beside the others, and during which the worker is killed."""

ENOUGH = {"specversion": "1.0", "id": "1", "source": "test", "type": "enough", "data": {"sub": "done"}}
"""The event that ends the sub-workflow."""

WORKER = """\
from datetime import timedelta
from swf_temporal.temporal import activities, host

activities.HEARTBEAT = host.HEARTBEAT = timedelta(seconds=3)  # after which the calls of a killed worker are missed

from swf_temporal.cli.__main__ import main

main()
"""
FUNCTIONS = f"""\
import pathlib
import time

HERE = pathlib.Path(__file__).parent


def noted(line):
    with (HERE / "calls.txt").open("a") as calls:
        calls.write(line + "\\n")


def wait_for(name):
    while not (HERE / name).exists():
        time.sleep(0.05)


def long():
    noted("long")
    wait_for("over")
    return {{"call": "done"}}


def step(n):
    noted(f"step {{n}}")
    if n == {KILLED_AT}:
        wait_for("killed")
    return {{"last": n}}
"""


def definitions(other_queue: str) -> dict[str, Any]:
    """Return a definition with all that outlasts executions beside many calls, and its sub-workflow."""
    marked = {"type": "custom", "metadata": {"longRunning": "true"}}
    steps = [{"functionRef": {"refName": "step", "arguments": {"n": n}}} for n in range(1, STEPS + 1)]
    parent = {
        "id": "parent", "version": "1.0.0", "specVersion": "0.8",
        "functions": [
            {"name": "long", **marked, "operation": "functions:long"},
            {"name": "other", **marked, "operation": f"temporal:other@{other_queue}"},
            {"name": "step", "type": "custom", "operation": "functions:step"},
        ],
        "states": [{
            "name": "all", "type": "parallel", "end": True,
            "branches": [
                {"name": "a call", "actions": [{"functionRef": "long"}]},
                {"name": "an activity", "actions": [{"functionRef": "other"}]},
                {
                    "name": "a sub-workflow",
                    "actions": [{"name": "sub", "subFlowRef": {"workflowId": "child", "onParentComplete": "continue"}}],
                },
                {"name": "busy", "actions": steps},
            ],
        }],
    }  # fmt: skip
    child = {
        "id": "child", "version": "1.0.0", "specVersion": "0.8",
        "events": consumed("enough", source="test"),
        "states": [awaits("wait", "enough", end=True)],
    }  # fmt: skip
    return {"parent": parent, "child": child}


class Other:
    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.calls = 0

    @activity.defn(name="other")
    async def other(self) -> JSON:
        self.calls += 1
        await self.over.wait()
        return {"activity": "done"}


def start_worker(folder: Path, address: str, queue: str, **env: str) -> "subprocess.Popen[bytes]":
    arguments = ["worker", str(folder), "--task-queue", queue, "--functions", str(folder / "functions.py")]
    return subprocess.Popen(
        [*ending_with_us(), sys.executable, "-c", WORKER, *arguments],
        env={
            "PATH": os.environ["PATH"],
            "TEMPORAL_ADDRESS": address,
            "PYTHONPATH": os.pathsep.join([str(folder), str(Path.cwd())]),
            **env,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


async def noted(folder: Path, line: str) -> None:
    calls = folder / "calls.txt"
    await until(lambda: calls.exists() and line in calls.read_text().splitlines())


async def test_a_worker_that_is_killed_after_its_run_continued(tmp_path: Path) -> None:
    """Another worker waits for all that was begun by an execution which is over: nothing of it is begun again."""
    for name, definition in definitions("other").items():
        (tmp_path / f"{name}.sw.json").write_text(json.dumps(definition))
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    other = Other()
    limit = ("--dynamic-config-value", f"limit.historyCount.suggestContinueAsNew={EVERY}")
    async with local_server(extra=limit) as server, Worker(server.client, task_queue="other", activities=[other.other]):
        address = server.client.service_client.config.target_host
        worker = start_worker(tmp_path, address, "killed")
        try:
            handle = await server.client.start_workflow("parent", {}, id="parent-1", task_queue="killed")
            await noted(tmp_path, f"step {KILLED_AT}")
            before = len(await histories(Bench(server), handle))
            worker.kill()
            worker.wait(30)
            (tmp_path / "killed").touch()
            worker = start_worker(tmp_path, address, "killed")
            await noted(tmp_path, f"step {STEPS}")
            other.over.set()
            (tmp_path / "over").touch()
            child = await child_of(server.client, handle.id, "all/a sub-workflow/sub#1")
            await swf.send_event(server.client, child, ENOUGH)
            output = await asyncio.wait_for(swf.result(handle), 60)
            after = len(await histories(Bench(server), handle))
            executions = Counter([one.id async for one in server.client.list_workflows()])
        finally:
            worker.kill()
            worker.wait(30)

    assert output == {"last": STEPS, "call": "done", "activity": "done", "sub": "done"}
    assert (before >= 2, after > before) == (True, True)
    assert other.calls == 1
    calls = (tmp_path / "calls.txt").read_text().splitlines()
    assert [calls.count("long"), calls.count(f"step {KILLED_AT}"), len(calls)] == [2, 2, STEPS + 3]
    assert executions.pop("parent-1") == after
    assert set(executions.values()) == {1}
