"""What durability is for: killed workers, replays, secrets, and callers that know nothing of us."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from swf_temporal.base.data import JSON
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.server import find_program
from tests.temporal.building import awaits, consumed, inject, operation, sleeps
from tests.temporal.conftest import Bench, calling, define, events_of, killed, start_worker, until

DEFINITION = """
id: greeting
specVersion: "0.8"
functions: [{name: greet, type: custom, operation: "greeter:greet"}]
events: [{name: go on, type: go.on, source: test}]
states:
- name: Greet
  type: operation
  actions: [{functionRef: {refName: greet, arguments: {name: "${ .name }"}}}]
  transition: Wait
- {name: Wait, type: event, onEvents: [{eventRefs: [go on]}], transition: Greet again}
- name: Greet again
  type: operation
  actions:
  - {functionRef: {refName: greet, arguments: {name: "${ .other }"}}, actionDataFilter: {toStateData: .second}}
  end: true
"""
GREETER = """
import pathlib

def greet(name):
    with pathlib.Path(__file__).with_name("calls.txt").open("a") as calls:
        calls.write(name + "\\n")
    return {"greeting": "Hello " + name}
"""
NAMES = {"name": "Ada", "other": "Grace"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a definition and the module that it calls."""
    (tmp_path / "greeting.sw.yaml").write_text(DEFINITION)
    (tmp_path / "greeter.py").write_text(GREETER)
    return tmp_path


def worker_of(bench: Bench, folder: Path, queue: str) -> "subprocess.Popen[bytes]":
    return start_worker(bench, folder, queue, "--functions", str(folder / "greeter.py"))


async def until_waiting(bench: Bench, folder: Path, instance: str) -> None:
    """Wait until an instance has made its first call, and awaits its event."""
    calls = folder / "calls.txt"
    await until(lambda: calls.exists() and "Ada" in calls.read_text())
    await until(lambda: swf.query(bench.client, instance, "status"), lambda one: one["awaiting"])


async def temporal(bench: Bench, command: str, *arguments: str) -> str:
    """Return what `temporal workflow COMMAND` prints about an instance of the session's server."""
    address = bench.client.service_client.config.target_host
    given = ["workflow", command, "--workflow-id", "plain-cli-1", "--address", address, *arguments]
    process = await asyncio.create_subprocess_exec(
        str(find_program()), *given, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_the_temporal_program_is_all_a_caller_needs(bench: Bench, folder: Path) -> None:
    """It starts, queries, signals and awaits an instance whose worker is killed meanwhile: nothing is called twice."""
    worker = worker_of(bench, folder, "plain-cli")
    try:
        start = ["--type", "greeting", "--task-queue", "plain-cli", "--input", json.dumps(NAMES)]
        await temporal(bench, "start", *start)
        await until_waiting(bench, folder, "plain-cli-1")
        asked = json.loads(await temporal(bench, "query", "--type", "status", "--output", "json"))
        killed(worker)
        await temporal(bench, "signal", "--name", "go on", "--input", "{}")
        worker = worker_of(bench, folder, "plain-cli")
        result = json.loads(await temporal(bench, "result", "--output", "json"))
    finally:
        killed(worker)
    assert asked["queryResult"][0]["state"] == "Wait"
    assert result["result"] == {**NAMES, "greeting": "Hello Ada", "second": {"greeting": "Hello Grace"}}
    assert (folder / "calls.txt").read_text().split() == ["Ada", "Grace"]


def busy() -> Any:
    """Return a definition that does a bit of everything."""
    first_of_two = {
        "name": "both", "type": "parallel", "completionType": "atLeast", "numCompleted": 1,
        "branches": [
            {"name": "slow", "actions": [{"functionRef": "f", "sleep": {"before": "PT30S"}}]},
            {"name": "fast", "actions": [{"functionRef": "f"}]},
        ],
    }  # fmt: skip
    each = {
        "name": "each", "type": "foreach", "inputCollection": "${ .items }", "outputCollection": "${ .out }",
        "batchSize": 2, "actions": [{"functionRef": {"refName": "f", "arguments": {"n": "${ .item }"}}}],
    }  # fmt: skip
    return define(
        inject("in", {"items": [1, 2, 3, 4]}), each, first_of_two, sleeps("nap", "PT0.01S"),
        awaits("wait", "never", timeouts={"eventTimeout": "PT0.02S", "stateExecTimeout": "PT1M"}),
        calling("fails", "g", onErrors=[{"errorRef": "*", "transition": "last"}]),
        inject("last", {"out": ["${ .out | length }"]}),
        functions=("f", "g"), events=consumed("never"),
    )  # fmt: skip


def refuse(_: JSON) -> JSON:
    raise ValueError("no")


async def test_the_interpreter_needs_nothing_that_the_sandbox_forbids(bench: Bench) -> None:
    """The same run succeeds under the engine's sandbox, which refuses clocks, randomness and files."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(
        "jq", "yaml", "pydantic", "httpx", "swf_temporal.expressions", "swf_temporal.text", "swf_temporal.languages"
    )
    runner = SandboxedWorkflowRunner(restrictions=restrictions)
    output = await bench.run(busy(), runner=runner, f={"ok": 1}, g=refuse)
    assert output == {"items": [1, 2, 3, 4], "out": [{"ok": 1}, 4], "ok": 1}


async def test_no_secret_stands_in_the_history(bench: Bench) -> None:
    """A secret reaches the function and nothing else: neither its value nor what is made of it is recorded."""
    arguments = {"key": '${ "Bearer " + $SECRETS.token }', "n": "${ .n }"}
    state = operation("a", {"functionRef": {"refName": "f", "arguments": arguments}})
    definition = define(state, functions=("f",), secrets=["token"])
    async with bench.worker(definition, secrets={"token": "s3cr3t-value"}, f=1) as worker:
        handle = await worker.start({"n": 3})
        await swf.result(handle)
        history = str(await events_of(handle))
    assert worker.scripted.calls[0][1] == {"key": "Bearer s3cr3t-value", "n": 3}
    assert "$SECRETS.token" in history
    assert "s3cr3t-value" not in history
