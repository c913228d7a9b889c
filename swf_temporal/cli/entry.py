"""The entry point of `swf`. It handles Ctrl-C first, since importing the rest takes a while."""

import os
from typing import NoReturn

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.exit_codes import ExitCode


def main() -> NoReturn:
    """Run the command that the arguments name, and end the process with its exit code."""
    try:
        with default_sigint():
            from swf_temporal.cli.main import main as run
        run()
    except KeyboardInterrupt:  # between two of those who see to it
        os._exit(ExitCode.INTERRUPTED)
