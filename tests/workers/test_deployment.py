"""What is deployed hangs together: the compose file, the image and the worker's entry point."""

import re
import runpy
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
ENDING = {"schema", "namespace"}
"""Services that do their work and end."""


def test_the_cluster_has_its_parts() -> None:
    """The cluster is a database, the server, its UI and our worker, and what prepares them."""
    assert set(SERVICES) == {"postgresql", "schema", "temporal", "namespace", "ui", "worker"}
    assert all("image" in service or "build" in service for service in SERVICES.values())


def test_services_wait_for_services_that_are_there() -> None:
    """Every service waits for one that exists, and by a condition that this one can meet."""
    for name, service in SERVICES.items():
        for other, wait in service.get("depends_on", {}).items():
            wanted = "service_completed_successfully" if other in ENDING else "service_healthy"
            assert wait["condition"] == wanted, f"{name} waits for {other}"
            assert other in ENDING or "healthcheck" in SERVICES[other], f"{name} waits for the health of {other}"


def test_ports_are_open_to_this_machine_only() -> None:
    """What is published is published on the loopback address."""
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_volumes_and_configs_are_declared() -> None:
    """Every named volume and config that a service uses is declared."""
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source.startswith((".", "$")) or source in COMPOSE["volumes"]
        for config in service.get("configs", []):
            assert config["source"] in COMPOSE["configs"]


def test_the_image_copies_what_is_there() -> None:
    """Everything that the image is built from is in the repository."""
    dockerfile = (ROOT / SERVICES["worker"]["build"]["dockerfile"]).read_text()
    copied = [line.split()[1:-1] for line in re.findall(r"^COPY (?!--from).*$", dockerfile, re.MULTILINE)]
    assert copied
    assert all((ROOT / source).exists() for sources in copied for source in sources)


def test_the_worker_takes_its_settings_from_the_environment() -> None:
    """A container tells the worker by its environment what a person tells it by options."""
    arguments = runpy.run_path(str(ROOT / "workers" / "worker.py"))["arguments"]

    assert arguments({}) == ["worker", "/definitions", "--health", "8080"]
    assert arguments({"SWF_DEFINITIONS": "/d", "SWF_HEALTH_PORT": "1", "SWF_FUNCTIONS": "my.functions"}) == [
        "worker",
        "/d",
        "--health",
        "1",
        "--functions",
        "my.functions",
    ]


def test_the_health_check_asks_the_port_that_the_worker_answers_on() -> None:
    """The container's health check asks where the worker answers."""
    assert "http://127.0.0.1:8080/readyz" in " ".join(SERVICES["worker"]["healthcheck"]["test"])
