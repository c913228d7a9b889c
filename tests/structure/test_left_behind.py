"""Whoever is killed with SIGKILL, in the midst of a test, a soak or a benchmark, leaves no process behind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import ending_with_us

ROOT = Path(__file__).parents[2]
PATIENCE = 60
STARTED = re.compile(r"\b(?:Popen|create_subprocess_exec)\(")
ENDS_BY_ITSELF = {
    "tests/temporal/test_durability.py": "the command of the engine, which answers and ends",
    "tests/upgrades/test_deployments.py": "the command of the engine, which answers and ends",
    "tests/temporal/test_server.py": "it is what ends with its parent that is tried",
    "tests/functions/custom/test_script.py": "a script that starts a process, which has to be ended with it",
    "tests/structure/test_left_behind.py": "it is this that is tried",
    "bench/activations.py": "it ends with its standard input, which is a pipe",
    "bench/contender.py": "it ends with its standard input, which is a pipe",
    "bench/observing.py": "it ends with its standard input, which is a pipe",
    "bench/scale/measuring.py": "it ends with its standard input, which is a pipe",
    "bench/starting.py": "a command that ends once it has shown what it is asked for",
}
"""Where processes are started that need not be told to end with their parent, and why."""

TESTED = """\
import asyncio, os, signal, subprocess, sys
from pathlib import Path

from swf_temporal.temporal.server import local_server
from tests.processes import ending_with_us
from tests.upgrades.releases import ROOT, start_worker


async def test_that_is_killed():
    async with local_server(database=Path("temporal.db")) as server:
        worker = start_worker(ROOT, server.client.service_client.config.target_host, "left-behind")
        assert worker.stdout.readline() == b"ready\\n"
        Path("ready").write_text(str(worker.pid))
        os.kill(os.getpid(), signal.SIGKILL)
"""


def mentioning(word: str) -> list[int]:
    """Return the ids of the processes that say *word*, in their command line or their environment."""
    found = []
    for one in Path("/proc").iterdir():
        if not one.name.isdigit() or int(one.name) == os.getpid():
            continue
        try:
            content = (one / "cmdline").read_bytes() + (one / "environ").read_bytes()
            is_gone = "\nState:\tZ" in (one / "status").read_text()
        except OSError:
            continue
        if word.encode() in content and not is_gone:
            found.append(int(one.name))
    return found


def until_gone(look: Callable[[], list[int]]) -> list[int]:
    end = time.monotonic() + PATIENCE
    while (left := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return left


def environment(word: str) -> dict[str, str]:
    return {**os.environ, "SWF_TEST_MARK": word, "PYTHONPATH": str(ROOT)}


pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")


def test_a_worker_of_pytest_that_is_killed(tmp_path: Path) -> None:
    """The server and the worker that its test had started are gone; so is pytest, which says that it lost a worker."""
    word = f"left-behind-{tmp_path.name}-{os.getpid()}"
    (tmp_path / "test_killed.py").write_text(TESTED)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    command += ["-p", "no:schemathesis", "--rootdir", str(tmp_path), "--max-worker-restart", "0", "test_killed.py"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment(word), check=False, capture_output=True, text=True, timeout=120
    )
    assert "crashed" in ran.stdout, ran.stdout
    worker = int((tmp_path / "ready").read_text())
    assert until_gone(lambda: [*mentioning(word), *filter(is_there, [worker])]) == []


@pytest.mark.parametrize(("module", "count", "how"), [
    (["tests.soak", "--before", "", "--instances", "20"], 6, signal.SIGKILL),
    (["tests.soak", "--before", "", "--instances", "20"], 6, signal.SIGINT),
    (["tests.soak", "--before", "", "--instances", "20"], 6, signal.SIGTERM),
    (["bench", "--rounds", "1", "--only", "none"], 5, signal.SIGKILL),
])  # fmt: skip
def test_what_is_killed_leaves_nothing(tmp_path: Path, module: list[str], count: int, how: signal.Signals) -> None:
    """A soak, and a benchmark, end with all that they started, whether they are told to or not."""
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", *module], cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + PATIENCE
        while len(family(process.pid)) < count and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        started = family(process.pid)
        assert len(started) >= count
    finally:
        process.send_signal(how)
        process.wait(PATIENCE)
    assert until_gone(lambda: list(filter(is_there, started))) == []


def test_a_command_whose_parent_is_gone_is_not_run() -> None:
    if not (prefix := ending_with_us()):
        pytest.skip("processes end with their parent on Linux only")
    for command, told in ((prefix, "ran"), ((*prefix[:-1], "1"), "")):
        ran = subprocess.run([*command, "echo", "ran"], check=False, capture_output=True, text=True, timeout=PATIENCE)
        assert ran.stdout.strip() == told


def family(process: int) -> list[int]:
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [each for child in map(int, children) for each in (child, *family(child))]


def is_there(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def test_processes_are_told_to_end_with_their_parent() -> None:
    found = []
    for file in sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]):
        text, name = file.read_text(encoding="utf-8"), str(file.relative_to(ROOT))
        if STARTED.search(text) and "ending_with_us()" not in text.replace("def ending_with_us()", ""):
            found.append(name)
    assert [name for name in found if name not in ENDS_BY_ITSELF] == []
