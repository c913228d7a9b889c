"""The code of earlier releases, as this repository's history has it."""

import subprocess
import sys
import tarfile
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp

from tests.processes import ending_with_us

FIRST, BEFORE = "3797657", "8e04ccd"
"""The first release, and the one before this."""

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("worker.py")
SCHEDULE = Path(__file__).with_name("schedule.py")


@cache
def checkout(commit: str) -> Path | None:
    """Return a folder with the package as it was at *commit*; None in a checkout without history."""
    command = ["git", "-C", str(ROOT), "archive", commit, "swf_temporal"]
    archived = subprocess.run(command, capture_output=True, check=False)
    if archived.returncode != 0:
        return None
    folder = Path(mkdtemp(prefix=f"swf-{commit}-"))
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def start_worker(
    release: Path, address: str, queue: str, *heartbeat: str, service: str | None = None
) -> "subprocess.Popen[bytes]":
    """Start a worker of the release whose code is in *release*. It writes a line once it is ready.

    A *service* is what each call asks, by its URL. The worker ends with this process, even if that is killed.
    """
    command = [*ending_with_us(), sys.executable, "-P", str(WORKER), address, queue, *heartbeat]
    env = _environment(release) | ({} if service is None else {"SERVICE": service})
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, cwd=release)


def apply_schedule(release: Path, address: str, queue: str) -> None:
    """Apply the schedule of `schedule.py` as the release does whose code is in *release*."""
    command = [sys.executable, "-P", str(SCHEDULE), address, queue]
    subprocess.run(command, env=_environment(release), cwd=release, check=True)


def _environment(release: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(release), "PATH": "/usr/bin:/bin"}
