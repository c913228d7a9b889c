"""What durability is for: killed workers, secrets, and callers that know nothing of us."""

import asyncio
import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from temporalio import activity
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from swf_temporal.base.data import JSON
from swf_temporal.languages.port import Definition
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.server import find_program, local_server
from tests.cli.conftest import COMMAND, Place
from tests.listening import Quiet, listening
from tests.temporal.building import awaits, consumed, inject, operation, sleeps
from tests.temporal.conftest import Bench, calling, define, events_of, failure_of, killed, outcome, start_worker, until
from tests.temporal.test_outlasting import histories

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


INSTANCES = ("killed-1", "killed-2")


class Shop:
    """A service that reserves and charges. It answers no charge until it is told to."""

    def __init__(self) -> None:
        self.keys: dict[str, list[str]] = defaultdict(list)
        """By path, the idempotency keys of the requests that came."""
        self.answers = Event()


@contextmanager
def shop_served(shop: Shop) -> Iterator[str]:
    class Handler(Quiet):
        def respond(self, content: bytes) -> None:  # noqa: ARG002 - only its path counts
            path = self.path.removeprefix("/")
            shop.keys[path].append(self.headers["Idempotency-Key"])
            if path == "charge":
                shop.answers.wait(60)
            self.answer(json.dumps({path: True}).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with listening(server):
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            shop.answers.set()


CHARGING = """
id: shop
specVersion: "0.8"
functions:
- {name: reserve, type: http, operation: "rest:POST:URL/reserve", metadata: {local: true}}
- {name: charge, type: http, operation: "rest:POST:URL/charge"}
states:
- {name: Reserve, type: operation, actions: [{functionRef: reserve}], transition: Charge}
- name: Charge
  type: operation
  actions: [{functionRef: charge}]
  timeouts: {actionExecTimeout: PT4S}
  end: true
"""


async def asked(shop: Shop, path: str, number: int) -> None:
    await until(lambda: len(shop.keys[path]) >= number)


async def test_what_a_killed_worker_had_begun_is_made_again_with_its_key(bench: Bench, tmp_path: Path) -> None:
    """Of each of many instances; what was complete is not made again."""
    shop, place = Shop(), Place(tmp_path)
    with shop_served(shop) as url:
        place.write("shop.sw.yaml", CHARGING.replace("URL", url))
        place.write("functions.py", "def unused(): ...\n")
        functions = ("--functions", str(tmp_path / "functions.py"))
        env = {"SWF_ALLOW_HOSTS": "127.0.0.1", "HEARTBEAT": "3"}
        start = partial(start_worker, bench, tmp_path, "shop", *functions, **env)
        worker = start()
        try:
            handles = [await bench.client.start_workflow("shop", {}, id=one, task_queue="shop") for one in INSTANCES]
            await asked(shop, "charge", 2)
            killed(worker)
            worker = start()
            for handle in handles:
                await failure_of(handle)
            shop.answers.set()
            address = bench.client.service_client.config.target_host
            words = ["retry", "--query", "WorkflowId STARTS_WITH 'killed-'", "--yes", "--address", address]
            process = await asyncio.to_thread(
                subprocess.run, [*COMMAND, *words], env=place.env, capture_output=True, text=True, check=False
            )
            outputs = [await bench.handle(one).result() for one in INSTANCES]
        finally:
            killed(worker)
    assert (process.returncode, "2 instances continue" in process.stderr) == (0, True), process.stderr
    assert outputs == [{"reserve": True, "charge": True}] * 2
    assert len(set(shop.keys["reserve"])) == len(shop.keys["reserve"]) == 2
    assert sorted(shop.keys["charge"]) == sorted([*set(shop.keys["charge"])] * 2)
    assert len(shop.keys["charge"]) == 4


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
