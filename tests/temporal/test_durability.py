"""What durability is for: killed workers, replays, secrets, and callers that know nothing of us."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from swf_temporal.base.data import JSON
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.server import find_program
from swf_temporal.temporal.workflow import Interpreter
from tests.processes import ending_with_us
from tests.temporal.conftest import (
    Bench,
    awaits,
    calling,
    consumed,
    define,
    events_of,
    inject,
    operation,
    sleeps,
    until,
)

DEFINITION = """\
id: greeting
version: 1.0.0
specVersion: "0.8"
functions:
  - name: greet
    type: custom
    operation: "greeter:greet"
events:
  - name: go on
    type: go.on
    source: test
states:
  - name: Greet
    type: operation
    actions: [{functionRef: {refName: greet, arguments: {name: "${ .name }"}}}]
    transition: Wait
  - name: Wait
    type: event
    onEvents: [{eventRefs: [go on]}]
    transition: Greet again
  - name: Greet again
    type: operation
    actions:
      - functionRef: {refName: greet, arguments: {name: "${ .other }"}}
        actionDataFilter: {toStateData: .second}
    end: true
"""

GREETER = """\
import pathlib

def greet(name):
    with pathlib.Path(__file__).with_name("calls.txt").open("a") as calls:
        calls.write(name + "\\n")
    return {"greeting": "Hello " + name}
"""


class Process:
    def __init__(self, folder: Path, bench: Bench, queue: str) -> None:
        self.process = subprocess.Popen(
            [
                *ending_with_us(),
                sys.executable, "-m", "swf_temporal.cli", "worker", str(folder), "--task-queue", queue,
                "--functions", str(folder / "greeter.py"),
            ],
            env={
                "PATH": os.environ["PATH"],
                "TEMPORAL_ADDRESS": bench.client.service_client.config.target_host,
                "PYTHONPATH": os.pathsep.join([str(folder), str(Path.cwd())]),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "greeting.sw.yaml").write_text(DEFINITION)
    (tmp_path / "greeter.py").write_text(textwrap.dedent(GREETER))
    return tmp_path


async def temporal(bench: Bench, *arguments: str) -> str:
    """Run the `temporal` program against the session's server and return what it prints."""
    program = find_program()
    assert program is not None
    process = await asyncio.create_subprocess_exec(
        program, *arguments, "--address", bench.client.service_client.config.target_host,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_the_temporal_program_is_all_a_caller_needs(bench: Bench, folder: Path) -> None:
    """Start, signal and result with the plain `temporal` program work against a running `swf worker`."""
    worker = Process(folder, bench, "plain-cli")
    try:
        await temporal(
            bench, "workflow", "start", "--type", "greeting", "--task-queue", "plain-cli",
            "--workflow-id", "plain-cli-1", "--input", '{"name": "Ada", "other": "Grace"}',
        )  # fmt: skip
        await temporal(bench, "workflow", "signal", "--workflow-id", "plain-cli-1", "--name", "go on", "--input", "{}")
        result = json.loads(await temporal(bench, "workflow", "result", "--workflow-id", "plain-cli-1", "-o", "json"))
    finally:
        worker.end()

    assert result["result"] == {
        "name": "Ada", "other": "Grace", "greeting": "Hello Ada", "second": {"greeting": "Hello Grace"},
    }  # fmt: skip


async def test_a_killed_worker_loses_nothing(bench: Bench, folder: Path) -> None:
    """A worker killed with -9 in the middle of a run and started again completes it, repeating nothing."""
    worker = Process(folder, bench, "killed")
    try:
        handle = await bench.client.start_workflow(
            "greeting", {"name": "Ada", "other": "Grace"}, id="killed-1", task_queue="killed"
        )
        calls = folder / "calls.txt"
        async with asyncio.timeout(30):
            await until(lambda: calls.exists() and "Ada" in calls.read_text())
            await until(lambda: swf.query(bench.client, handle.id, "status"), lambda one: one["awaiting"])
        assert worker.end(signal.SIGKILL) == -signal.SIGKILL
        await handle.signal("go on", {})
        worker = Process(folder, bench, "killed")
        output = await asyncio.wait_for(handle.result(), 60)
    finally:
        worker.end()

    assert output["second"] == {"greeting": "Hello Grace"}
    assert calls.read_text().split() == ["Ada", "Grace"]


def busy() -> Any:
    return define(
        inject("in", {"items": [1, 2, 3, 4]}),
        {
            "name": "each", "type": "foreach", "inputCollection": "${ .items }", "outputCollection": "${ .out }",
            "batchSize": 2, "actions": [{"functionRef": {"refName": "f", "arguments": {"n": "${ .item }"}}}],
        },
        {
            "name": "both", "type": "parallel", "completionType": "atLeast", "numCompleted": 1,
            "branches": [
                {"name": "slow", "actions": [{"functionRef": "f", "sleep": {"before": "PT30S"}}]},
                {"name": "fast", "actions": [{"functionRef": "f"}]},
            ],
        },
        sleeps("nap", "PT0.01S"),
        awaits("wait", "never", timeouts={"eventTimeout": "PT0.02S", "stateExecTimeout": "PT1M"}),
        calling("fails", "g", onErrors=[{"errorRef": "*", "transition": "last"}]),
        inject("last", {"out": ["${ .out | length }"]}),
        functions=("f", "g"),
        events=consumed("never"),
    )  # fmt: skip


def refuse(_: JSON) -> JSON:
    raise ValueError("no")


async def test_a_recorded_history_replays(bench: Bench) -> None:
    """The history of a run with branches, a race, timers, a missed event and a caught error replays."""
    async with bench.worker(busy(), f={"ok": 1}, g=refuse) as worker:
        handle = await worker.start()
        await swf.result(handle)
        history = await handle.fetch_history()

    replayer = Replayer(workflows=[Interpreter], workflow_runner=UnsandboxedWorkflowRunner())
    outcome = await replayer.replay_workflow(WorkflowHistory.from_json(handle.id, history.to_json()))
    assert outcome.replay_failure is None


async def test_the_interpreter_needs_nothing_that_the_sandbox_forbids(bench: Bench) -> None:
    """The same run succeeds under the engine's sandbox, which refuses clocks, randomness and files."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(
        "jq", "yaml", "pydantic", "httpx", "swf_temporal.expressions", "swf_temporal.text", "swf_temporal.languages"
    )
    runner = SandboxedWorkflowRunner(restrictions=restrictions)
    async with bench.worker(busy(), runner=runner, f={"ok": 1}, g=refuse) as worker:
        assert await worker.run() == {"items": [1, 2, 3, 4], "out": [{"ok": 1}, 4], "ok": 1}


async def test_no_secret_stands_in_the_history(bench: Bench) -> None:
    """A secret reaches the function and nothing else: neither its value nor what is made of it is recorded."""
    definition = define(
        operation(
            "a",
            {"functionRef": {"refName": "f", "arguments": {"key": '${ "Bearer " + $SECRETS.token }', "n": "${ .n }"}}},
        ),
        functions=("f",),
        secrets=["token"],
    )
    seen: list[JSON] = []
    async with bench.worker(definition, secrets={"token": "s3cr3t-value"}, f=seen.append) as worker:
        handle = await worker.start({"n": 3})
        await swf.result(handle)
        history = str(await events_of(handle))

    assert seen == [{"key": "Bearer s3cr3t-value", "n": 3}]
    assert "$SECRETS.token" in history
    assert "s3cr3t-value" not in history
