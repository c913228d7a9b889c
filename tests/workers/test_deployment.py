"""What is deployed hangs together: the services of the compose file."""

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


def test_nothing_of_the_worker_is_written() -> None:
    """The worker has no rights that it does not need: its root cannot be written, and neither can the definitions."""
    worker = SERVICES["worker"]
    assert worker["read_only"] is True
    assert worker["cap_drop"] == ["ALL"]
    assert all(volume.endswith(":/definitions:ro") for volume in worker["volumes"])
