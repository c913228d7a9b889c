"""Workers of two versions of a Worker Deployment: `swf worker --deployment`, and the real `temporal` program."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import find_program, local_server
from swf_temporal.temporal.variables import TemporalVariables
from tests import sampling
from tests.processes import ending_with_us
from tests.upgrades.chains import executions
from tests.upgrades.releases import ROOT

NAME, QUEUE = "shop", "shop"
FUNCTIONS = """\
import os
from swf_temporal import Registry

registry = Registry()


@registry.custom("build")
def build():
    return os.environ["BUILD"]
"""
EVENTS = [
    {"name": name, "type": name, "source": "shop", "correlation": [{"contextAttributeName": "order"}]} for name in "ab"
]
CALL = {"functionRef": "build", "actionDataFilter": {"toStateData": "${ .by }"}}


def definition(name: str, **end: Any) -> dict[str, Any]:
    """Return a definition that calls a function at first, after each of two events, and then ends."""
    return {
        "id": name, "version": "1.0.0", "specVersion": "0.8", "events": EVENTS,
        "functions": [{"name": "build", "type": "custom"}],
        "states": [
            {"name": "First", "type": "operation", "actions": [_into("first")], "transition": "A"},
            {"name": "A", "type": "event", "onEvents": [{"eventRefs": ["a"], "actions": [_into("second")]}],
             "transition": "B"},
            {"name": "B", "type": "event", "onEvents": [{"eventRefs": ["b"], "actions": [_into("third")]}],
             "end": end or True},
        ],
    }  # fmt: skip


def _into(place: str) -> dict[str, Any]:
    return {"functionRef": "build", "actionDataFilter": {"toStateData": f"${{ .{place} }}"}}


DEFINITIONS = {
    "moving": definition("moving"),
    "staying": definition("staying"),
    "renewed": definition("renewed", continueAs="staying"),
}


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Server]:
    waits = ("VisibilityGracePeriod", "RefreshInterval")
    extra = [
        word for one in waits for word in ("--dynamic-config-value", f'matching.wv.VersionDrainageStatus{one}="1s"')
    ]
    async with local_server(extra=extra) as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "definitions").mkdir()
    for name, one in DEFINITIONS.items():
        (tmp_path / "definitions" / f"{name}.json").write_text(json.dumps(one))
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "swf.yaml").write_text("worker: {versioning: pinned, versioningOf: {moving: auto-upgrade}}")
    return tmp_path


@contextmanager
def worker(folder: Path, server: Server, build: str | None) -> Iterator[str]:
    """Run `swf worker` as a version of the deployment, or without one; what it has logged once it serves."""
    command = [
        *ending_with_us(), sys.executable, "-c", "from swf_temporal.cli.entry import main; main()",
        "worker", "definitions",
        "--functions", "functions.py", "--config", "swf.yaml", "--task-queue", QUEUE,
        "--address", server.client.service_client.config.target_host,
    ]  # fmt: skip
    env = {**os.environ, "BUILD": build or "none", "PYTHONPATH": str(ROOT)}
    if build is not None:
        env |= {"SWF_DEPLOYMENT": NAME, "SWF_BUILD_ID": build}
    process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if ("working for" if build is None else "serving as version") in line:
                break
        yield "".join(lines)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


async def deploy(server: Server, command: str, *arguments: str) -> str:
    program = find_program()
    if program is None:
        pytest.skip("there is no `temporal` program")
    address = server.client.service_client.config.target_host
    line = [program, "worker", "deployment", command, "--address", address, "--output", "json", *arguments]
    for _ in range(100):
        process = await asyncio.create_subprocess_exec(
            *line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output, _ = await process.communicate()
        if process.returncode == 0:
            return output.decode()
        await asyncio.sleep(0.1)  # the server learns of a version, and of what it polls, little by little
    raise AssertionError(output.decode())


async def make_current(server: Server, build: str) -> None:
    """Make a version the current one, and wait until it carries out new instances and makes their calls."""
    await deploy(server, "set-current-version", "--deployment-name", NAME, "--build-id", build, "--yes")
    async with asyncio.timeout(90):
        for number in count():
            probe = await start(server.client, "moving", f"probe-{build}-{time.monotonic()}-{number}")
            by = await until(probe, "first")
            await probe.terminate()
            if by == build:
                return


async def start(client: Client, name: str, number: object) -> swf.Handle:
    return await client.start_workflow(name, {}, id=f"{name}-{number}", task_queue=QUEUE)


async def send(handle: swf.Handle, kind: str) -> None:
    event = {"specversion": "1.0", "id": kind, "source": "shop", "type": kind, "order": "7", "data": {}}
    await handle.signal("event", event)


async def until(handle: swf.Handle, key: str) -> Any:
    """Wait until a state has begun whose data has the key; return its value."""
    async with asyncio.timeout(60):
        while True:
            data = await handle.query("data")
            if isinstance(data, dict) and key in data:
                return data[key]
            await asyncio.sleep(0.05)


async def _builds(client: Client, workflow_id: str, run_id: str | None) -> AsyncIterator[str]:
    """Yield the versions that carried out the workflow tasks of an instance, in their order."""
    async for one in executions(client, workflow_id, run_id):
        for event in one.history["events"]:
            done = event.get("workflowTaskCompletedEventAttributes")
            if done is not None:
                yield done["deploymentVersion"]["buildId"]


async def _last_build(client: Client, workflow_id: str) -> str:
    handle: swf.Handle = client.get_workflow_handle(workflow_id)
    first = (await handle.describe()).run_id
    return [build async for build in _builds(client, workflow_id, first)][-1]


async def test_pinned_instances_stay_and_others_move_there_and_back(server: Server, folder: Path) -> None:
    """The current version carries out the next step of an instance, unless it is pinned; calls go with their run."""
    client = server.client
    with worker(folder, server, None):
        older = await start(client, "moving", "older")
        assert await until(older, "first") == "none"
    with worker(folder, server, "1") as first:
        assert f"set-current-version --deployment-name {NAME} --build-id 1" in first
        await make_current(server, "1")
        staying, moving, renewed = [await start(client, name, "x") for name in ("staying", "moving", "renewed")]
        assert [await until(one, "first") for one in (staying, moving, renewed)] == ["1", "1", "1"]
        variables, of = TemporalVariables(client, QUEUE), VariableRef("namespace", "", "n")
        await variables.write_variables({of: Variable(b"1")}, "first")
        with worker(folder, server, "2") as second:
            assert "the current version is 1; to let this one take over" in second
            await make_current(server, "2")
            for one in (staying, moving, renewed):
                await send(one, "a")
            assert [await until(one, "second") for one in (staying, moving, renewed)] == ["1", "2", "1"]
            newer = await start(client, "staying", "newer")
            assert await until(newer, "first") == "2"
            await variables.write_variables({of: Variable(b"2")}, "second")
            assert await _last_build(client, "variables:namespace:") == "2"

            await send(renewed, "b")
            again = client.get_workflow_handle(renewed.id)
            async with asyncio.timeout(60):
                while (await again.query("data")).get("first") != "2":
                    await asyncio.sleep(0.05)

            await make_current(server, "1")
            for one in (staying, moving, newer, older):
                await send(one, "b")
            for one in (newer, older):
                await send(one, "a")
            ended = (staying, moving, newer, older)
            outputs: list[Any] = [await asyncio.wait_for(swf.result(one), 60) for one in ended]
    assert [(one["first"], one["second"], one["third"]) for one in outputs] == [
        ("1", "1", "1"), ("1", "2", "1"), ("2", "2", "2"), ("none", "1", "1"),
    ]  # fmt: skip
    assert {build async for build in _builds(client, staying.id, staying.first_execution_run_id)} == {"1"}


def _of(output: Any) -> set[str]:
    return {output[place] for place in ("first", "second", "third")}


async def test_nothing_is_lost_while_versions_change(server: Server, folder: Path) -> None:
    """Instances begin and go on while a version ramps up, takes over, is rolled back and takes over again."""
    client = server.client
    builds, at_once = ("3", "4"), sampling.count(2, 6)
    with worker(folder, server, builds[0]), worker(folder, server, builds[1]):
        await make_current(server, builds[0])
        stopped, moved = asyncio.Event(), asyncio.Event()

        async def load(offset: int) -> list[tuple[swf.Handle, Any]]:
            ended: list[tuple[swf.Handle, Any]] = []
            while not stopped.is_set():
                name = ("staying", "moving")[len(ended) % 2]
                one = await start(client, name, f"load-{offset}-{len(ended)}")
                for kind in "ab":
                    await asyncio.sleep(0.1)
                    await send(one, kind)
                ended.append((one, await asyncio.wait_for(swf.result(one), 90)))
                if name == "moving" and len(_of(ended[-1][1])) > 1:
                    moved.set()
            return ended

        running = [asyncio.create_task(load(offset)) for offset in range(at_once)]
        ramping = ("--deployment-name", NAME, "--build-id", builds[1], "--yes", "--percentage", "50")
        await deploy(server, "set-ramping-version", *ramping)
        for turn in range(21):  # on a busy machine few instances are under way when it changes
            await asyncio.sleep(1)
            await make_current(server, builds[1 - turn % 2])
            if turn > 1 and turn % 2 == 0 and moved.is_set():
                break
        await asyncio.sleep(1)
        stopped.set()
        ended = [one for ran in await asyncio.gather(*running) for one in ran]
        by = {one.id: _of(output) for one, output in ended}
        assert {one for builds_ in by.values() for one in builds_} == set(builds), "both did something"
        assert [name for name, builds_ in by.items() if name.startswith("staying") and len(builds_) > 1] == []
        assert any(len(builds_) > 1 for name, builds_ in by.items() if name.startswith("moving")), "none moved"

        async with asyncio.timeout(60):
            which = ("--deployment-name", NAME, "--build-id", builds[0])
            while "drained" not in (description := await deploy(server, "describe-version", *which)):
                await asyncio.sleep(0.5)
        assert json.loads(description)["drainageInfo"]["drainageStatus"] == "drained"
