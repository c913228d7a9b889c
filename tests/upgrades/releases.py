"""The code of releases, as this repository's history has it."""

import subprocess
import sys
import tarfile
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp

from swf_temporal import __version__
from tests.processes import ending_with_us

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("worker.py")
_NEEDED = ("swf_temporal", "tests/temporal/suspending.py")


def code_of(release: str) -> Path | None:
    """Return the folder with the code of *release*: this one's is here; None in a checkout without its tag."""
    return ROOT if release == __version__ else checkout(f"v{release}")


@cache
def checkout(commit: str) -> Path | None:
    """Return a new folder with the package as it was at *commit*; None in a checkout without it."""
    command = ["git", "-C", str(ROOT), "archive", commit, *_NEEDED]
    archived = subprocess.run(command, capture_output=True, check=False)
    if archived.returncode != 0:
        return None
    folder = Path(mkdtemp(prefix="swf-release-"))
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def start_worker(
    release: Path, address: str, queue: str, *heartbeat: str, service: str | None = None, local_calls: bool = False
) -> "subprocess.Popen[bytes]":
    """Start a worker of the release whose code is in *release*. It writes a line once it is ready.

    A *service* is what each call asks, by its URL. With *local_calls*, calls are local that can be. The worker ends
    with this process, even if that is killed.
    """
    command = [*ending_with_us(), sys.executable, "-P", str(WORKER), address, queue, *heartbeat]
    env = {"PYTHONPATH": str(release), "PATH": "/usr/bin:/bin"} | ({} if service is None else {"SERVICE": service})
    env |= {"LOCAL_CALLS": "true"} if local_calls else {}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, cwd=release)
