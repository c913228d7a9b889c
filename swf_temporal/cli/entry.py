"""The entry point of `swf`. It handles Ctrl-C first, since importing the rest takes a while."""

import os
import sys
from typing import NoReturn

from swf_temporal.base.exit_codes import ExitCode
from swf_temporal.cli.interrupts import default_sigint


def main() -> NoReturn:
    """Run the command in the arguments, and end the process with its exit code."""
    _open_standard_streams()
    try:
        with default_sigint():
            from swf_temporal.cli.main import main as run
        run()
    except KeyboardInterrupt:  # raised between two handlers of it
        os._exit(ExitCode.INTERRUPTED)


def _open_standard_streams() -> None:
    """Open the standard streams that the process was started without, as the null device."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - so that no other file gets one of these numbers
        pass
    os.close(free)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
