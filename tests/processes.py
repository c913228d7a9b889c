"""Processes that tests start end with the test, even if that is killed."""

import os
import shutil

_UNLESS_ORPHANED = 'test "$PPID" = "$0" && exec "$@"'
"""The shell's program that runs a command only if the process that started it is still there, whose id comes first."""


def ending_with_us() -> tuple[str, ...]:
    """Return what a command line is to begin with so that the process is killed once its parent is gone.

    It is the same process, with the same id, that runs the command then. Linux alone can do it, by a signal that the
    kernel sends when the thread ends that started the process: here that is the main thread, as pytest has its tests
    run by that. A parent that is gone before the signal is asked for sends none, so that is looked for afterwards.
    Elsewhere it is nothing.
    """
    program, shell = shutil.which("setpriv"), shutil.which("sh")
    if program is None or shell is None:
        return ()
    return (program, "--pdeathsig", "KILL", "--", shell, "-c", _UNLESS_ORPHANED, str(os.getpid()))
