"""Child processes that end with this one, even if it is killed.

As a program, `process_watchdog.py HOW COMMAND...` runs COMMAND, and ends it when its own standard input closes, which
happens when the process that started it is gone for any reason. If HOW is `kill`, COMMAND is killed at once; otherwise
it is asked to end first. SIGTERM is forwarded; the exit code is COMMAND's.

It has to start fast, so it imports little. Neither process groups nor kernel options do the same: a killed parent sends
no signals, and Linux ties its parent-death signal to a thread.
"""

import os
import select
import signal
import sys

_PATIENCE = 5.0
"""Seconds that a program has to end when asked to."""

_SIGNALLED = 128
_POSIX = os.name == "posix"


def with_watchdog(command: list[str], *, gently: bool) -> list[str]:
    """Return the command line that runs *command* under a watchdog, or *command* itself if that is not possible.

    Its standard input has to be a pipe that only this process can write to.
    """
    if not _POSIX or not sys.executable:
        return command
    return [sys.executable, "-I", "-S", __file__, "ask" if gently else "kill", *command]


def _main(how: str, command: list[str]) -> int:
    woken, waking = os.pipe()
    for end in (woken, waking):
        os.set_blocking(end, False)
    asked: list[int] = []
    # Ctrl-C and the end of a session also reach the process that started us, which decides what to do.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    program = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
        setsigdef=[signal.SIGINT, signal.SIGHUP, signal.SIGTERM],
    )
    patience = None
    while (status := os.waitpid(program, os.WNOHANG)) == (0, 0):
        watched = [woken] if patience is not None else [woken, 0]
        ready, _, _ = select.select(watched, [], [], patience)
        if woken in ready:
            os.read(woken, 1024)
        if asked:
            asked.clear()
            os.kill(program, signal.SIGTERM)
        elif 0 in ready and not os.read(0, 1024):
            os.kill(program, signal.SIGTERM if how == "ask" else signal.SIGKILL)
            patience = _PATIENCE
        elif not ready:
            os.kill(program, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status[1])
    return code if code >= 0 else _SIGNALLED - code


if __name__ == "__main__":
    os._exit(_main(sys.argv[1], sys.argv[2:]))
