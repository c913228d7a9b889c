"""A program that is run under a watchdog ends with the one who started it."""

import signal
import subprocess
import sys

import pytest

from swf_temporal.temporal.process_watchdog import with_watchdog

_PATIENCE = 60
_WAITING = """\
import os, signal, sys, time
# Not by print: the signal may come while that is still writing the line before.
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"asked\\n"), sys.exit(3)))
print("begun", flush=True)
while True:
    time.sleep(1)
"""


def start(program: str, *, gently: bool) -> "subprocess.Popen[str]":
    command = with_watchdog([sys.executable, "-c", program], gently=gently)
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Return the exit code and what else was said: stdout closes when the program itself has ended."""
    out, _ = process.communicate(timeout=_PATIENCE)
    return process.returncode, out


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_is_that_of_the_program(code: int) -> None:
    process = start(f"raise SystemExit({code})", gently=True)
    assert process.wait(_PATIENCE) == code
    assert ended(process) == (code, "")


@pytest.mark.parametrize(("gently", "outcome"), [(True, (3, "asked\n")), (False, (128 + signal.SIGKILL, ""))])
def test_ends_when_the_pipe_closes(gently: bool, outcome: tuple[int, str]) -> None:  # noqa: FBT001 - a case
    process = start(_WAITING, gently=gently)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    assert ended(process) == outcome  # which closes it


def test_hands_on_what_asks_it_to_end() -> None:
    """SIGTERM is for the program; Ctrl-C is for the one who started both."""
    process = start(_WAITING, gently=True)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "asked\n"
    assert process.wait(_PATIENCE) == 3
    process.stdin.close()
    process.stdout.close()


def test_a_program_that_does_not_listen_is_killed() -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('begun', flush=True)\n"
    process = start(deaf + "while True: time.sleep(1)", gently=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    assert ended(process) == (128 + signal.SIGKILL, "")
