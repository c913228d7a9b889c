"""Workers of several processes, and how commands stop."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.sdk.processes import merged, wanted
from tests.cli.conftest import COMMAND, HELLO, PATIENCE, WAITER, Dev, Swf, answer_of, free_port, hearing_ctrl_c, until
from tests.definitions import definition


def _get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def _until(port: int, status: int) -> str:
    return until(lambda: _get(port, "/readyz"), lambda found: found[0] == status)[1]


def _workers(folder: Path) -> dict[int, int]:
    """Return the worker processes that run in *folder*, the first first, each with the process above it."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink() == folder:
                parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return {pid: parent for pid, parent in sorted(parents.items()) if parent in parents}


def _shared(pid: int) -> int:
    """Return how much of what a process has written itself it shares with others, in KiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Shared_Dirty:"))


@pytest.mark.temporal
def test_one_that_dies_is_started_again_and_all_are_seen_as_one(swf: Swf, dev: Dev) -> None:
    """Health and metrics are answered for all; where the process above is gone, each stops by itself.

    What is imported is in memory once.
    """
    swf.write("hello.yaml", HELLO)
    health, metrics = free_port(), free_port()
    options = ("--processes", "2", "--health", str(health), "--metrics", str(metrics), "--address", dev.address)
    with swf.running("worker", "hello.yaml", *options, command=COMMAND):
        assert _until(health, 200) == "2 of 2 processes are ready\n"
        assert _get(health, "/livez") == (200, "alive\n")
        text = _get(metrics, "/metrics")[1]
        assert 'process="1"' in text
        assert 'process="2"' in text
        before = _workers(swf.folder)
        first, second = before
        assert min(map(_shared, before)) > 10_000
        os.kill(first, signal.SIGKILL)
        assert "1 of 2" in _until(health, 503)
        _until(health, 200)
        after = _workers(swf.folder)
        assert second in after
        assert first not in after
        assert set(re.findall(r'process="(.)"', _get(metrics, "/metrics")[1])) == {"1", "2"}
        os.kill(before[second], signal.SIGKILL)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in after))


@pytest.mark.temporal
def test_all_serve_the_same_definitions(swf: Swf, dev: Dev) -> None:
    """A process that is restarted reads changed definitions: then the others are restarted, too."""
    swf.write("hello.yaml", HELLO)
    health = free_port()
    with swf.running(
        "worker", "hello.yaml", "--processes", "2", "--health", str(health), "--address", dev.address
    ) as all_:
        _until(health, 200)
        first, second = _workers(swf.folder)
        os.kill(first, signal.SIGKILL)
        _until(health, 503)
        _until(health, 200)
        assert second in _workers(swf.folder)
        again = next(one for one in _workers(swf.folder) if one != second)
        swf.write("hello.yaml", HELLO.replace('version: "1.0"', 'version: "2.0"'))
        os.kill(again, signal.SIGKILL)
        all_.until("the definitions have changed: all processes start again, so that they serve the same")
        all_.until("process 2 of 2 ended (exit code 0)")
        all_.until("serving hello 2.0")
        _until(health, 200)
        assert second not in _workers(swf.folder)


def test_a_mistake_that_all_would_have_ends_all(swf: Swf) -> None:
    ended = swf("worker", "nowhere", "--processes", "2")
    assert ended.code == 2
    assert "nowhere cannot be read" in ended.err
    assert "started again" not in ended.err


ONE_WITH_A_TAKEN_PORT = """\
import asyncio, os, sys
from swf_temporal.sdk import processes

taken, number, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
usual, drawn = processes.free_ports, []


def drawn_ports():
    ports = list(usual())
    if not drawn:
        ports[number] = taken
    drawn.append(ports)
    print("drawn", *ports, file=sys.stderr, flush=True)
    return tuple(ports)


processes.free_ports = drawn_ports
asyncio.run(processes.Processes(lambda: os.execv(command[0], command), 1).run())
"""


@pytest.mark.parametrize("number", [0, 1])
def test_one_whose_port_is_taken_is_started_again(swf: Swf, number: int) -> None:
    swf.write("hello.yaml", HELLO)
    with socket.create_server(("127.0.0.1", 0)) as other:
        program = [sys.executable, "-c", ONE_WITH_A_TAKEN_PORT, str(other.getsockname()[1]), str(number)]
        where = ["--address", f"127.0.0.1:{free_port()}", "--metrics", str(free_port())]
        with swf.running(*COMMAND, "worker", str(swf.folder), *where, command=program) as running:
            running.until("drawn")
            port = int(running.until("drawn").split()[1])
            until(lambda: _get(port, "/livez"), lambda found: found == (200, "alive\n"))


@pytest.mark.parametrize("said", ["0", "-1", "many", "1.5"])
def test_a_number_of_processes_is_one_from_one_on(said: str) -> None:
    with pytest.raises(UsageError, match="a number from 1 on, or auto"):
        wanted(said)
    assert wanted("auto") == len(os.sched_getaffinity(0))


def test_metrics_of_several_processes_have_each_family_once() -> None:
    one = '# HELP a What\n# TYPE a counter\na{process="1"} 1\n# TYPE b gauge\nb{process="1"} 2\n'
    other = one.replace('"1"', '"2"') + '# TYPE c gauge\nc{process="2"} 3\n'
    assert merged([one, other]).splitlines() == [
        "# HELP a What", "# TYPE a counter", 'a{process="1"} 1', 'a{process="2"} 1',
        "# TYPE b gauge", 'b{process="1"} 2', 'b{process="2"} 2', "# TYPE c gauge", 'c{process="2"} 3',
    ]  # fmt: skip


_FUNCTIONS = """\
from asyncio import sleep
from pathlib import Path

from swf_temporal import Registry

registry = Registry()


@registry.custom("waits")
async def waits() -> dict[str, bool]:
    Path("begun").touch()
    while not Path("may-end").exists():
        await sleep(0.02)
    return {"waited": True}
"""
_DEFINITION = definition("""\
id: draining
functions: [{name: waits, type: custom}]
states: [{name: Wait, type: operation, actions: [{functionRef: waits}], end: true}]
""")


@pytest.mark.temporal
def test_a_worker_that_finishes_its_calls_is_alive_and_not_ready(swf: Swf, dev: Dev) -> None:
    swf.write("draining.yaml", _DEFINITION)
    swf.write("functions.py", _FUNCTIONS)
    health, server = free_port(), ["--address", dev.address, "--task-queue", "draining"]
    with swf.running("worker", "draining.yaml", "--functions", "functions.py", *server, "--health", str(health)) as one:
        one.until("working for")
        assert answer_of(health, "livez") == 200
        until(lambda: answer_of(health, "readyz") == 200)
        started = swf("start", "draining", "--id", "draining-1", *server)
        assert started.code == 0, started.err
        until((swf.folder / "begun").exists)
        one.process.send_signal(signal.SIGTERM)
        until(lambda: answer_of(health, "readyz") == 503)
        assert answer_of(health, "livez") == 200
        swf.write("may-end", "")
        assert one.process.wait(PATIENCE) == 0


_AS_IT_IMPORTS = """\
import os, signal, sys

awaited = sys.argv.pop(1)

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == awaited:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from swf_temporal.cli.entry import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "swf_temporal.cli.main", "swf_temporal.cli.validate", "pydantic", "yaml"])
def test_ctrl_c_while_modules_are_imported(swf: Swf, module: str) -> None:
    with hearing_ctrl_c():
        ended = subprocess.run(
            [sys.executable, "-c", _AS_IT_IMPORTS, module, "validate", "hello.yaml"],
            check=False, cwd=swf.folder, env=swf.env, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.temporal
def test_where_ctrl_c_is_ignored(swf: Swf) -> None:
    """A background job of a script does not hear Ctrl-C, and still ends when it is told to."""
    ports = ["--port", str(free_port()), "--ui-port", str(free_port())]
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *COMMAND]
    swf.write("definitions/waiter.yaml", WAITER)
    with swf.running("dev", "definitions", *ports, command=ignoring) as dev:
        dev.until("ready: ")
        dev.process.send_signal(signal.SIGINT)
        swf.write("definitions/later.yaml", WAITER.replace("id: waiter", "id: later"))
        dev.until("serving later")
        ended = dev.stop(signal.SIGTERM)
    assert (ended.code, ended.out) == (0, "")


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_while_a_server_does_not_answer(swf: Swf, told: signal.Signals) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        asking = swf.running("event", "e-1", "com.paid", "--source", "shop", "--address", address)
        with asking as running, silent.accept()[0] as connection:
            connection.recv(1)  # it asks, and waits for the answer
            ended = running.stop(told)
    assert (ended.code, ended.out, ended.err) == (128 + told, "", "")
