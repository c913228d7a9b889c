"""A worker is killed in a later execution of a run that waits for calls and a sub-workflow which the first began."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.worker import Worker

from swf_temporal.base.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.server import local_server
from tests.temporal.building import awaits, consumed
from tests.temporal.conftest import Bench, define, killed, outcome, start_worker, until
from tests.temporal.test_outlasting import histories

EVERY = 60
"""After how many events of history the server suggests that a run continue as new."""
STEPS, KILLED_AT = 40, 20
"""How many calls the run makes beside the others, and during which the worker is killed."""

ENOUGH = {"specversion": "1.0", "id": "1", "source": "test", "type": "enough", "data": {"sub": "done"}}
"""The event that ends the sub-workflow."""

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


def definitions(other_queue: str) -> list[Definition]:
    """Return a definition with all that outlasts executions beside many calls, and its sub-workflow."""
    marked = {"type": "custom", "metadata": {"longRunning": "true"}}
    functions: tuple[dict[str, Any], ...] = (
        {"name": "long", **marked, "operation": "functions:long"},
        {"name": "other", **marked, "operation": f"temporal:other@{other_queue}"},
        {"name": "step", "type": "custom", "operation": "functions:step"},
    )
    sub = {"name": "sub", "subFlowRef": {"workflowId": "child", "onParentComplete": "continue"}}
    branches = [
        {"name": "a call", "actions": [{"functionRef": "long"}]},
        {"name": "an activity", "actions": [{"functionRef": "other"}]},
        {"name": "a sub-workflow", "actions": [sub]},
        {"name": "busy", "actions": [
            {"functionRef": {"refName": "step", "arguments": {"n": n}}} for n in range(1, STEPS + 1)]},
    ]  # fmt: skip
    parent = define({"name": "all", "type": "parallel", "branches": branches}, functions=functions, id="parent")
    return [parent, define(awaits("wait", "enough"), events=consumed("enough", source="test"), id="child")]


class Other:
    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.calls = 0

    @activity.defn(name="other")
    async def other(self) -> JSON:
        self.calls += 1
        await self.over.wait()
        return {"activity": "done"}


async def noted(folder: Path, line: str) -> None:
    calls = folder / "calls.txt"
    await until(lambda: calls.exists() and line in calls.read_text().splitlines())


async def test_a_worker_that_is_killed_after_its_run_continued(tmp_path: Path) -> None:
    """Another worker waits for all that was begun by an execution which is over: nothing of it is begun again."""
    for one in definitions("other"):
        (tmp_path / f"{one.id}.sw.json").write_text(one.source.text)
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    other = Other()
    limit = ("--dynamic-config-value", f"limit.historyCount.suggestContinueAsNew={EVERY}")
    async with local_server(extra=limit) as server, Worker(server.client, task_queue="other", activities=[other.other]):
        functions = ("--functions", str(tmp_path / "functions.py"))
        worker = start_worker(Bench(server), tmp_path, "killed", *functions, HEARTBEAT="3")
        try:
            handle = await server.client.start_workflow("parent", {}, id="parent-1", task_queue="killed")
            await noted(tmp_path, f"step {KILLED_AT}")
            before = len(await histories(Bench(server), handle))
            killed(worker)
            (tmp_path / "killed").touch()
            worker = start_worker(Bench(server), tmp_path, "killed", *functions, HEARTBEAT="3")
            await noted(tmp_path, f"step {STEPS}")
            other.over.set()
            (tmp_path / "over").touch()
            child = await Bench(server).child(handle, "all/a sub-workflow/sub#1")
            await swf.send_event(server.client, child.id, ENOUGH)
            output = await outcome(handle)
            after = len(await histories(Bench(server), handle))
            executions = Counter([one.id async for one in server.client.list_workflows()])
        finally:
            killed(worker)
    assert output == {"last": STEPS, "call": "done", "activity": "done", "sub": "done"}
    assert (before >= 2, after > before) == (True, True)
    assert other.calls == 1
    calls = (tmp_path / "calls.txt").read_text().splitlines()
    assert [calls.count("long"), calls.count(f"step {KILLED_AT}"), len(calls)] == [2, 2, STEPS + 3]
    assert executions.pop("parent-1") == after
    assert set(executions.values()) == {1}
