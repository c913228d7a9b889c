"""The image is built as the Dockerfile says, and runs with a root that cannot be written, as no one in particular."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from release.extras import SHOWN
from release.locking import IMAGE_EXTRAS
from swf_temporal.cli import lazy
from swf_temporal.drawing.svg import STYLE
from swf_temporal.temporal.server import free_ports, local_server
from tests.workers.image import (
    DOCKERFILE,
    PATIENCE,
    command,
    install,
    instructions,
    may_mount,
    started,
    with_packages_alone,
)

DEFINITION = """\
id: hello
version: "1.0"
specVersion: "0.8"
states: [{name: Greet, type: inject, data: {greeting: "Hello ${ .name }!"}, end: true}]
"""
SCENARIO = """\
scenario: it greets
workflow: hello.yaml
input: {name: Ada}
expect: {output: {name: Ada, greeting: Hello Ada!}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the Dockerfile installs, and definitions."""
    folder = tmp_path_factory.mktemp("image")
    install(folder)
    (folder / "definitions").mkdir()
    (folder / "definitions" / "hello.yaml").write_text(DEFINITION, encoding="utf-8")
    (folder / "definitions" / "hello.scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    return folder


def test_the_dockerfile_has_no_faults() -> None:
    """hadolint, which knows what goes wrong in a Dockerfile, has nothing to say about it."""
    linter = Path(sys.executable).parent / "hadolint"
    told = subprocess.run([linter, DOCKERFILE], check=False, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, "")


def test_the_image_says_what_it_is() -> None:
    """It works as a user with a number, which Kubernetes can tell from root, and has labels and a health check."""
    assert command() == ["swf", "worker"]
    assert instructions("USER")[-1] == "10001:10001"
    assert re.findall(r"image\.(\w+)=", instructions("LABEL")[0]) == ["title", "description", "licenses", "version"]


def test_everything_that_it_installs_is_known_by_its_hash() -> None:
    installing = [one for each in instructions("RUN") for one in each.split("&&") if "pip install" in one]
    assert len(installing) == 3
    for one in installing:
        own = {"--no-index", "--no-deps", "--no-build-isolation"}
        assert "--require-hashes" in one or own <= set(one.split()), one


COMMANDS: dict[str, tuple[list[str], bytes]] = {
    "validate": (["hello.yaml"], b"1 definition, no errors"),
    "describe": (["hello.yaml"], b"Greet"),
    "graph": (["hello.yaml", "--output", "png"], b"\x89PNG"),
    "schema": ([], b"$schema"),
    "lsp": ([], b""),
    "upgrade": (["hello.yaml", "--to", "1.0"], b"dsl: 1.0"),
    "migrate": (["."], b"hello.yaml"),
    "compat": (["hello.yaml", "hello.yaml"], b"same-text"),
    "test": (["hello.scenario.yaml"], b"1 passed"),
    "run": (["hello.yaml", "--simulate", "--input", '{"name": "Ada"}'], b"Hello Ada!"),
}
"""Commands that need no server, with arguments, and something that they print then."""
WITH_SERVER = {
    "consume", "gateway", "worker", "start", "event", "events", "tasks", "status", "logs", "result", "list", "pause",
    "resume", "retry", "rerun", "setup", "cancel", "terminate", "schedule", "serve-function", "codec-server",
}  # fmt: skip
"""What is served, and what asks a server: these need extras, of which all are tried."""
WITHOUT = {"local": "it is a server for people who develop, with its UI", "pytest": "it is for tests of definitions"}
"""The extras that the image does not have, and why."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_what_it_needs(folder: Path, name: str) -> None:
    """It does its work with the packages of the image, and no others."""
    arguments, printed = COMMANDS[name]
    ended = with_packages_alone(folder, "-m", "swf_temporal.cli", name, *arguments)
    assert (ended.returncode, printed in ended.stdout + ended.stderr) == (0, True), (ended.stdout, ended.stderr)


def test_every_command_is_tried_or_needs_a_server() -> None:
    assert lazy.COMMANDS.keys() - {"dev", "help"} == COMMANDS.keys() | WITH_SERVER


def test_every_extra_of_the_image_does_its_work(folder: Path) -> None:
    brokers = {"amqp", "kafka", "mqtt", "nats", "websocket"}  # which `asyncapi` has
    assert "asyncapi" in IMAGE_EXTRAS
    extras = {*IMAGE_EXTRAS, *brokers}
    assert SHOWN.keys() - extras == WITHOUT.keys()
    ended = with_packages_alone(folder, "-c", "\n".join(SHOWN[extra] for extra in sorted(extras)))
    assert ended.returncode == 0, ended.stderr


def test_the_image_has_a_font() -> None:
    """`swf graph` writes a PNG with it: one that pictures name."""
    assert [run for run in instructions("RUN") if "fonts-dejavu-core" in run]
    assert '"DejaVu Sans"' in STYLE


@pytest.mark.temporal
async def test_the_image_works_with_a_root_that_cannot_be_written(folder: Path) -> None:
    """Its worker, of two processes, and its gateway become healthy, as the image's check sees it, and end when told.

    The gateway has a user as OpenShift assigns them: one that is in no list, in the group of root.
    """
    if not may_mount():
        pytest.skip("NOT TRIED: only root, on Linux, may make a root that cannot be written")
    async with local_server() as server:
        place = {"TEMPORAL_ADDRESS": server.client.service_client.config.target_host, "SWF_PROCESSES": "2"}
        mine, other = map(str, free_ports())
        assigned = {**place, "SWF_HEALTH_PORT": other}
        with (
            started(folder, {**place, "SWF_HEALTH_PORT": mine}) as worker,
            started(folder, assigned, "gateway", "--port", other, user="1000650000:0") as gateway,
        ):
            for running, port in ((worker, mine), (gateway, other)):
                await running.until_healthy(port)
            for running in (worker, gateway):
                assert await asyncio.to_thread(running.told_to_end) == 0, running.log.read_text(encoding="utf-8")


def test_python_may_be_a_link_within_a_folder_that_is_bound(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative link, such as an environment of Python in `/usr` or `/dev` may be, leads to the same in the root."""
    if not may_mount():
        pytest.skip("NOT TRIED: only root, on Linux, may make a root that cannot be written")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        link = Path(place) / "environment"
        link.symlink_to(os.path.relpath(sys.prefix, place))
        monkeypatch.setattr(sys, "prefix", str(link))
        with started(folder, {}, "--version") as running:
            assert running.process.wait(PATIENCE) == 0, running.log.read_text(encoding="utf-8")
