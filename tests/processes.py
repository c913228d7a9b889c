"""Processes that tests start end with the test, even if that is killed."""

import shutil
from functools import cache


@cache
def ending_with_us() -> tuple[str, ...]:
    """Return what a command line is to begin with so that the process is killed once its parent is gone.

    It is the same process, with the same id, that runs the command then. Linux alone can do it, by a signal that the
    kernel sends when the thread ends that started the process: here that is the main thread, as pytest has its tests
    run by that. Elsewhere it is nothing.
    """
    program = shutil.which("setpriv")
    return () if program is None else (program, "--pdeathsig", "KILL", "--")
