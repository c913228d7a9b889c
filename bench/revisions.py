"""Earlier revisions of this repository, to measure beside this one."""

import os
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp

ROOT = Path(__file__).parents[1]
_TOLD_TO_END = 128 + signal.SIGTERM


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Write *revision* to a folder of its own, for as long as the context lasts, or until the process is told to end.

    Nothing of it is known to the repository: a process that is killed leaves a temporary folder, and no worktree.
    """
    archived = subprocess.run(["git", "-C", str(ROOT), "archive", revision], stdout=subprocess.PIPE, check=True)
    folder = Path(mkdtemp(prefix="swf-bench-"))

    def end(*_: object) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(_TOLD_TO_END)  # what was started ends with its input, or with its parent

    before = signal.signal(signal.SIGTERM, end)
    try:
        with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield folder
    finally:
        signal.signal(signal.SIGTERM, before)
        shutil.rmtree(folder, ignore_errors=True)
