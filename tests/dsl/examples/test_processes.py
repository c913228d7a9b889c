"""The official examples that run processes really run them; containers, by a command line like that of Docker.

They are scripted in the scenarios of the other examples: here the worker's own runners start them.
"""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from swf_temporal import Client, Worker, load
from swf_temporal.base.data import JSON
from swf_temporal.settings.calls import ContainerRunner, Runners, Settings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import local_server
from tests.dsl.examples.test_examples import FILES, named
from tests.functions.processes import fake_docker

pytestmark = [pytest.mark.spec, pytest.mark.temporal]

HELLO = "Hello from Docker!\n"
ENDS: dict[str, JSON] = {
    "run-container": HELLO,
    "run-container-cleanup-always": HELLO,
    "run-container-cleanup-eventually": HELLO,
    "run-container-stdin-and-arguments": "STDIN was: Hello World\nARGS are Foo Bar\n",
    "run-container-with-name": HELLO,
    "run-container-with-pull-policy": HELLO,
    "run-return-all": {"code": 0, "stdout": HELLO, "stderr": "pulled\n"},
    "run-return-code": 0,
    "run-return-none": None,
    "run-return-stderr": "pulled\n",
    "run-script-with-stdin-and-arguments": "stdin >  Hello Workflow\narg >  hello\nenv >  bar\n",
    "run-shell-stdin-and-arguments": "STDIN was: Hello World\nARGS are Foo Bar\n",
}
"""The outputs of the examples: what the containers, scripts and commands in them really print."""
RUNNING = [file for file in FILES if file.stem in ENDS]


def test_all_of_them_are_here() -> None:
    if not FILES:
        pytest.skip("the examples of DSL 1.0 are not beside the checkout: none of them was tried")
    assert {file.stem for file in FILES if file.stem.startswith("run-")} == {*ENDS, "run-subflow"}


@pytest.fixture(scope="session")
async def server() -> AsyncIterator[Server]:
    async with local_server() as started:
        yield started


@pytest.mark.parametrize("file", RUNNING, ids=named)
async def test_it_runs(server: Server, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    docker = tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\nexec {sys.executable} {fake_docker.__file__} "$@"\n', encoding="utf-8")
    docker.chmod(0o755)
    allowed = {"shell": True, "script": ("js",), "container": ContainerRunner(command=str(docker))}
    runners = Runners(**allowed)
    queue = f"processes-{named(file)}"
    client, settings = Client.of(server), WorkerSettings(task_queue=queue)
    async with Worker(client, definitions=[file], settings=settings, call_settings=Settings(runners=runners)):
        instance = await client.start(load(file), {}, task_queue=queue)
        assert await instance.result() == ENDS[file.stem]
    asked = {one.name for one in tmp_path.iterdir()}  # noqa: ASYNC240 - a look
    assert ("asked" in asked) == file.stem.startswith(("run-container", "run-return"))
