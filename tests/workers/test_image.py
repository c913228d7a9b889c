"""The image is built as the Dockerfile says, and runs with a root that cannot be written, as no one in particular.

So do the services of the compose file, which is all that a stranger needs.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
import yaml

from release.extras import SHOWN
from release.locking import IMAGE_EXTRAS
from swf_temporal.cli import lazy
from swf_temporal.drawing.svg import STYLE
from swf_temporal.temporal.server import free_ports, local_server
from tests.processes import ending_with_us
from tests.workers.image import (
    DOCKERFILE,
    PATIENCE,
    ROOT,
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
    folder = tmp_path_factory.mktemp("image")
    install(folder)
    (folder / "definitions").mkdir()
    (folder / "definitions" / "hello.yaml").write_text(DEFINITION, encoding="utf-8")
    (folder / "definitions" / "hello.scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    return folder


def test_the_dockerfile_has_no_faults() -> None:
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


COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
ENDING = {"schema", "namespace"}
"""Services that do their work and end."""


def test_the_cluster_has_its_parts() -> None:
    assert set(SERVICES) == {"postgresql", "schema", "temporal", "namespace", "ui", "worker", "gateway", "orders"}
    assert all("image" in service or "build" in service for service in SERVICES.values())


def test_the_file_has_the_schema_of_compose() -> None:
    """The schema is that of compose-go 2.16.2, which Docker Compose reads files with (Apache License 2.0)."""
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text(encoding="utf-8"))
    jsonschema.validate(COMPOSE, schema)
    with pytest.raises(jsonschema.ValidationError, match="restarts"):
        jsonschema.validate({"services": {"a": {"restarts": "always"}}}, schema)


def test_nothing_else_is_needed() -> None:
    assert not [name for name, service in SERVICES.items() if "profiles" in service or "env_file" in service]
    variables = re.findall(r"\$\{?\w+[^}]*\}?", (ROOT / "docker-compose.yml").read_text().replace("$$", ""))
    asked = [one for one in variables if one.startswith("${")]
    assert asked
    assert all(re.fullmatch(r"\$\{\w+:-[^}]*\}", one) for one in asked)
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = interpolated(volume).split(":")[0]
            assert source in COMPOSE["volumes"] or (ROOT / source).is_dir()
        if "build" in service:
            assert (ROOT / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_services_wait_for_services_that_are_there() -> None:
    for name, service in SERVICES.items():
        for other, wait in service.get("depends_on", {}).items():
            wanted = "service_completed_successfully" if other in ENDING else "service_healthy"
            assert wait["condition"] == wanted, f"{name} waits for {other}"
            assert other in ENDING or "healthcheck" in SERVICES[other], f"{name} waits for the health of {other}"


def test_ports_are_open_to_this_machine_only() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_volumes_and_configs_are_declared() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source.startswith((".", "$")) or source in COMPOSE["volumes"]
        for config in service.get("configs", []):
            assert config["source"] in COMPOSE["configs"]


@pytest.mark.parametrize("name", ["worker", "gateway", "orders"])
def test_nothing_of_our_image_is_written(name: str) -> None:
    """It has no rights that it does not need: its root cannot be written, and neither can the definitions."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert all(volume.endswith(":/definitions:ro") for volume in service["volumes"])


def interpolated(text: str) -> str:
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


@contextmanager
def orders() -> Iterator[str]:
    """Start the service that definitions call, as its container does; yield its host and port."""
    service = SERVICES["orders"]
    [volume] = service["volumes"]
    python, *command = service["entrypoint"]
    assert python == "python"
    command[command.index("--port") + 1] = "0"
    with subprocess.Popen(
        [*ending_with_us(), sys.executable, *command],
        cwd=ROOT / volume.split(":")[0],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield f"127.0.0.1:{process.stdout.readline().strip().rpartition(':')[2]}"
        finally:
            process.kill()


@pytest.mark.temporal
async def test_a_stranger_runs_an_order_in_the_console(folder: Path, tmp_path: Path) -> None:
    """What the worker, the gateway and the service of orders are told suffices, on roots that cannot be written."""
    if not may_mount():
        pytest.skip("NOT TRIED: only root, on Linux, may make a root that cannot be written")
    (tmp_path / "installed").symlink_to(folder / "installed")
    worker, gateway = SERVICES["worker"], SERVICES["gateway"]
    assert worker["volumes"] == gateway["volumes"]
    shutil.copytree(ROOT / interpolated(worker["volumes"][0]).split(":")[0], tmp_path / "definitions")
    [config] = gateway["configs"]
    assert interpolated(gateway["environment"]["SWF_CONFIG"]) == config["target"]
    text = COMPOSE["configs"][config["source"]]["content"]
    (tmp_path / "definitions" / "gateway.yaml").write_text(text, encoding="utf-8")  # that folder is there, and no other
    async with local_server() as server:
        mine, other = map(str, free_ports())
        with orders() as called:
            hosts = {"temporal:7233": server.client.service_client.config.target_host, "orders:8081": called}

            def told(service: dict[str, Any], port: str) -> dict[str, str]:
                variables = {name: interpolated(value) for name, value in service["environment"].items()}
                for host, real in (hosts | {config["target"]: "/definitions/gateway.yaml"}).items():
                    variables = {name: value.replace(host, real) for name, value in variables.items()}
                return {**variables, "SWF_HEALTH_PORT": port, "SWF_PROCESSES": "1"}

            with (
                started(tmp_path, told(worker, mine)) as working,
                started(tmp_path, told(gateway, other), *gateway["command"], "--port", other) as serving,
            ):
                await asyncio.gather(working.until_healthy(mine), serving.until_healthy(other))
                async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{other}", timeout=60) as client:
                    assert "shop.orders" in (await client.get("/console", follow_redirects=True)).text
                    await _ordered(client, "shop.orders", tmp_path / "definitions")
                begun = [*working.commands(), *serving.commands()]
            for one in begun:
                with pytest.raises(ProcessLookupError):
                    os.kill(one, 0)


async def _ordered(client: httpx.AsyncClient, name: str, folder: Path) -> None:
    order = json.loads((folder / "order.json").read_text(encoding="utf-8"))
    begun = await client.post(f"/workflows/{name}", json=order)
    assert begun.status_code == 202, begun.text
    event = json.loads((folder / "confirmed.json").read_text(encoding="utf-8"))
    headers = {"Content-Type": "application/cloudevents+json"}
    taken = await client.post(f"{begun.headers['Location']}/events", content=json.dumps(event), headers=headers)
    assert taken.json()["status"] in {"taken", "kept"}, taken.text
    ended = await client.get(f"{begun.headers['Location']}/result", params={"wait": 50})
    assert ended.json()["status"] == "completed", ended.text
    assert ended.json()["output"]["shipment"]["orderId"] == order["orderId"]
