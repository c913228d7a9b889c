"""The exit codes of the program `swf`. docs/cli.md explains them to users."""

from enum import IntEnum


class ExitCode(IntEnum):
    SUCCESS = 0
    FAILURE = 1
    """The command was executed, and its result is a failure: a run failed, a definition has errors."""
    USAGE = 2
    """The command cannot be executed as given. click, which parses arguments, uses the same code."""
    BUG = 70
    INTERRUPTED = 130
    """Ctrl-C; like the next one, it is 128 plus the number of the signal, by the convention of shells."""
    TERMINATED = 143
