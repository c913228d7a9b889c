"""The code of earlier releases, as this repository's history has it."""

import subprocess
import sys
import tarfile
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp

FIRST, BEFORE = "3797657", "8e04ccd"
"""The first release, and the one before this."""

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("worker.py")


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


def start_worker(release: Path, address: str, queue: str) -> "subprocess.Popen[bytes]":
    """Start a worker of the release whose code is in *release*. It writes a line once it is ready."""
    environment = {"PYTHONPATH": str(release), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-P", str(WORKER), address, queue]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, cwd=release)
