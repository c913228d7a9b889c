"""Earlier revisions of this repository, to measure beside this one."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Check *revision* out to a folder of its own, for as long as the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "before")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
