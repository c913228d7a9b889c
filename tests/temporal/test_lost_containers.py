"""Workers and functions are killed in the midst of calls with files: each call comes to an end, and so do variables."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.forms import SharedFolder
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.variables import TemporalVariables
from tests.containers import Asked, container
from tests.processes import ending_with_us
from tests.temporal.conftest import Bench, until

pytestmark = [pytest.mark.temporal, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
PATIENCE = 120
"""Seconds, on a machine that is busy."""
FUNCTION = """\
import os, pathlib, time

def f(given, folder):
    marker = pathlib.Path(os.environ["MARKER"])
    left = folder / "out" / "workflow" / "n"
    if marker.exists():
        left.write_text("5")
        return "done"
    left.write_text("1")
    marker.touch()
    time.sleep(600)
"""


@contextmanager
def shared_folder(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def counting(name: str) -> Definition:
    """Return a workflow whose function is given a variable of the workflow, and which gets it afterwards."""
    codes = ["ConnectionLost", "ConnectionRefused", "ProtocolError"]
    retries = {"max_attempts": 100, "delay": "PT1S", "codes": codes}
    action = {"function": "f", "files": [{"key": "n", "scope": "workflow"}], "retries": retries}
    get = {"id": "get", "type": "getter", "variables": [{"key": "n", "scope": "workflow"}]}
    call = {"id": "call", "type": "action", "action": action, "transition": "get"}
    return load({"id": name, "functions": [{"type": "reusable", "id": "f", "image": "i"}], "states": [call, get]})


@contextmanager
def process(*command: str, **env: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a process that says when it is ready; it is killed in the end, if it was not before."""
    started = subprocess.Popen(
        [*ending_with_us(), *command], cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, **env}
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


async def told(started: "subprocess.Popen[bytes]") -> str:
    assert started.stdout is not None
    line = await asyncio.wait_for(asyncio.to_thread(started.stdout.readline), PATIENCE)
    return line.decode().strip()


@contextmanager
def worker(bench: Bench, queue: str, folder: Path, url: str, *stopping: str) -> Iterator["subprocess.Popen[bytes]"]:
    address = bench.client.service_client.config.target_host
    command = (sys.executable, "-m", "tests.temporal.container_worker", address, queue, str(folder), url, *stopping)
    with process(*command) as started:
        yield started


async def test_workers_are_killed(bench: Bench, tmp_path: Path) -> None:
    """During a call, and after what it left was stored, side by side."""
    with shared_folder(tmp_path / "during") as one, shared_folder(tmp_path / "after") as other:
        await asyncio.gather(_killed_during_a_call(bench, one), _killed_after_it_stored(bench, other))


async def _killed_during_a_call(bench: Bench, shared: Path) -> None:
    """Another one makes the call again, with the same id and the same files. Of the first attempt nothing is left."""
    definition, queue = counting("lost-during"), "lost-during"
    asked, over = threading.Event(), threading.Event()
    seen: list[tuple[str, list[str]]] = []

    def function(one: Asked) -> str:
        assert one.folder is not None
        seen.append(((one.folder / "n").read_text(), [path.name for path in shared.iterdir()]))
        (one.folder / "out" / "workflow" / "n").write_text(str(len(seen)))
        if len(seen) == 1:
            asked.set()
            over.wait(PATIENCE)
        return "done"

    with container(shared, function) as served, worker(bench, queue, shared, served.url) as first:
        try:
            assert await told(first) == "ready"
            instance = await Client.of(bench.server).start(definition, {}, task_queue=queue)
            assert await asyncio.to_thread(asked.wait, PATIENCE)
            with worker(bench, queue, shared, served.url) as second:
                assert await told(second) == "ready"
                first.kill()
                output = await asyncio.wait_for(instance.result(), PATIENCE)
        finally:
            over.set()
    assert output == {"return": "done", "var": {"n": 2}}
    (_, [begun]), (_, [again]) = seen
    assert (begun[-2:], again) == ("-1", f"{begun[:-1]}2")
    assert len({one.headers["Idempotency-Key"] for one in served.posts}) == 1


async def _killed_after_it_stored(bench: Bench, shared: Path) -> None:
    """The call is made again, and does not store again: what was stored since stays."""
    definition, queue = counting("lost-after"), "lost-after"
    given: list[str] = []

    def function(one: Asked) -> str:
        assert one.folder is not None
        given.append((one.folder / "n").read_text())
        (one.folder / "out" / "workflow" / "n").write_text(str(int(given[-1] or 0) + 1))
        return f"call {len(given)}"

    with container(shared, function) as served, worker(bench, queue, shared, served.url, "stopping") as first:
        assert await told(first) == "ready"
        instance = await Client.of(bench.server).start(definition, {}, task_queue=queue)
        assert await told(first) == "stored"
        first.kill()
        with worker(bench, queue, shared, served.url) as second:
            assert await told(second) == "ready"
            store, n = TemporalVariables(bench.client, queue), VariableRef("workflow", "lost-after", "n")
            assert await store.read_variable(n) == Variable(b"1")
            await store.write_variables({n: Variable(b"7")}, "another")
            output: Any = await asyncio.wait_for(instance.result(), PATIENCE)
    assert output == {"return": "call 2", "var": {"n": 7}}
    assert given[0] == ""
    assert given[1] in {"1", "7"}  # whichever it held when the second attempt began


@pytest.fixture
async def local(bench: Bench, tmp_path: Path) -> AsyncIterator[tuple[Client, str]]:
    """A worker in this process, and the port at which it calls the function."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        unused_port = free.getsockname()[1]
    client, settings = Client.of(bench.server), WorkerSettings(task_queue="lost-function")
    with shared_folder(tmp_path / "shared") as folder:
        options = Options(shared_folder=SharedFolder(str(folder), str(folder)))
        call_settings = Settings(calls=options.replace(base_url=f"http://127.0.0.1:{unused_port}/"))
        async with Worker(client, settings=settings, call_settings=call_settings):
            yield client, str(unused_port)


async def test_a_function_is_killed_during_a_call(local: tuple[Client, str], tmp_path: Path) -> None:
    """The call fails, what it had left is not stored, and the definition's retries call the function that follows."""
    client, port = local
    file, marker = tmp_path / "functions.py", tmp_path / "called"
    file.write_text(FUNCTION)
    command = (str(Path(sys.executable).with_name("swf")), "serve-function", f"{file}:f", "--port", port)
    with process(*command, MARKER=str(marker)) as first:
        assert (await told(first)).startswith("http://")
        instance = await client.start(counting("lost-function"), {}, task_queue="lost-function")
        await until(marker.exists)
        first.kill()
    with process(*command, MARKER=str(marker)) as second:
        assert (await told(second)).startswith("http://")
        output = await asyncio.wait_for(instance.result(), PATIENCE)
    assert output == {"return": "done", "var": {"n": 5}}
