"""The exit codes of the program `swf`. docs/cli.md explains them to users."""

from enum import IntEnum


class ExitCode(IntEnum):
    SUCCESS = 0
    FAILURE = 1
    """What a command is to find out or to do went wrong: a run failed, a definition has errors."""
    USAGE = 2
    """The command cannot be executed as it was given. click, which parses arguments, ends with it as well."""
    BUG = 70
    INTERRUPTED = 130
    """Ctrl-C; like the next one, it is 128 and the number of the signal, as shells have it."""
    TERMINATED = 143
