"""The development server that we start, and the watchdog by which it ends with the one who started it."""

import shlex
import signal
import socket
import subprocess
import sys
from itertools import chain
from pathlib import Path
from unittest.mock import Mock

import pytest
from temporalio.api.workflowservice.v1 import GetClusterInfoRequest

from swf_temporal.base.errors import UsageError
from swf_temporal.temporal import server as server_module
from swf_temporal.temporal.connecting import Server, is_free
from swf_temporal.temporal.process_watchdog import with_watchdog
from swf_temporal.temporal.server import find_program, local_server
from tests.cli.conftest import free_port
from tests.temporal.conftest import Bench

pytestmark = pytest.mark.temporal


def failing(folder: Path, times: int) -> str:
    """Return the path of a server program that ends at once so many times, and is the real one after that."""
    count, program = folder / "count", folder / "temporal"
    count.write_text("")
    script = f"""#!/bin/sh
printf x >> {shlex.quote(str(count))}
if [ "$(wc -c < {shlex.quote(str(count))})" -le {times} ]; then echo "bind: address already in use" >&2; exit 1; fi
exec {shlex.quote(str(find_program()))} "$@"
"""
    program.write_text(script)
    program.chmod(0o755)
    return str(program)


async def test_one_that_ends_as_it_starts_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program may have taken a port that it had chosen for itself."""
    program = failing(tmp_path, 2)
    monkeypatch.setattr("swf_temporal.temporal.server.find_program", lambda: program)
    async with local_server() as server:
        assert await server.client.service_client.check_health()


async def test_one_that_never_starts_is_told_with_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = failing(tmp_path, 9)
    monkeypatch.setattr("swf_temporal.temporal.server.find_program", lambda: program)
    with pytest.raises(UsageError, match="the Temporal server ended as it started: bind: address already in use"):
        async with local_server():
            pass
    assert (tmp_path / "count").read_text() == "xxx"


@pytest.mark.parametrize(
    ("number", "has_database"), [(0, False), (0, True), (1, True)], ids=["in memory", "database", "UI port"]
)
async def test_a_port_that_another_process_took_first_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, *, has_database: bool
) -> None:
    """A free port is chosen some moments before the server listens there."""
    with socket.socket() as quicker:
        quicker.bind(("127.0.0.1", 0))
        chosen = [free_port(), free_port()]
        chosen[number] = quicker.getsockname()[1]
        ports = chain(chosen, iter(free_port, None))
        monkeypatch.setattr(server_module, "free_ports", lambda: (next(ports), next(ports)))
        async with local_server(database=tmp_path / "db" if has_database else None) as server:
            assert await server.client.service_client.check_health()


@pytest.mark.parametrize("has_database", [False, True], ids=["in memory", "database"])
async def test_another_server_that_took_the_port_first_is_not_taken_for_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_database: bool
) -> None:
    ports = chain([port_of(bench)], iter(free_port, None))
    monkeypatch.setattr(server_module, "free_ports", lambda: (next(ports), next(ports)))
    async with local_server(database=tmp_path / "db" if has_database else None) as server:
        assert await _cluster_id(bench.server) != await _cluster_id(server)


async def test_a_port_that_was_asked_for_and_is_taken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else can be chosen: it is said to be taken."""
    looks = iter([True])
    monkeypatch.setattr(server_module, "is_free", lambda port: next(looks, None) or is_free(port))
    with pytest.raises(UsageError, match=f"port {port_of(bench)} is taken"):
        async with local_server(port=port_of(bench)):
            pass


def port_of(bench: Bench) -> int:
    return int(bench.client.service_client.config.target_host.rpartition(":")[2])


def test_links_lead_to_instances_whatever_their_ids_have_in_them() -> None:
    server = Server(Mock(namespace="default"), "http://127.0.0.1:8233")
    assert server.link("/a/b.yaml-1") == "http://127.0.0.1:8233/namespaces/default/workflows/%2Fa%2Fb.yaml-1"
    assert server.link("one", "run") == "http://127.0.0.1:8233/namespaces/default/workflows/one/run/history"


async def _cluster_id(server: Server) -> str:
    answer = await server.client.workflow_service.get_cluster_info(GetClusterInfoRequest())
    return str(answer.cluster_id)


PATIENCE = 60
_WAITING = """\
import os, signal, sys, time
# Not by print: the signal may come while that is still writing the line before.
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"asked\\n"), sys.exit(3)))
print("begun", flush=True)
while True:
    time.sleep(1)
"""


def start(program: str, *, gently: bool) -> "subprocess.Popen[str]":
    command = with_watchdog([sys.executable, "-c", program], gently=gently)
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Return the exit code and what else was said: stdout closes when the program itself has ended."""
    out, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, out


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_is_that_of_the_program(code: int) -> None:
    process = start(f"raise SystemExit({code})", gently=True)
    assert process.wait(PATIENCE) == code
    assert ended(process) == (code, "")


@pytest.mark.parametrize(("gently", "outcome"), [(True, (3, "asked\n")), (False, (128 + signal.SIGKILL, ""))])
def test_ends_when_the_pipe_closes(gently: bool, outcome: tuple[int, str]) -> None:  # noqa: FBT001 - a case
    process = start(_WAITING, gently=gently)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    assert ended(process) == outcome  # which closes it


def test_hands_on_what_asks_it_to_end() -> None:
    """SIGTERM is for the program; Ctrl-C is for the one who started both."""
    process = start(_WAITING, gently=True)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "asked\n"
    assert process.wait(PATIENCE) == 3
    process.stdin.close()
    process.stdout.close()


def test_a_program_that_does_not_listen_is_killed() -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('begun', flush=True)\n"
    process = start(deaf + "while True: time.sleep(1)", gently=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    assert ended(process) == (128 + signal.SIGKILL, "")
