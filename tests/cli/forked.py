"""A process that has imported what `swf` needs, and runs each command in a copy of itself, which saves the importing.

What a command runs in is a process of its own all the same. That `swf` by itself comes to the same, and starts quickly,
is shown by the tests that start it otherwise.
"""

import atexit
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from tests.cli.quick import LENGTH, ask, number, received
from tests.processes import ending_with_us

_ROOT = Path(__file__).parents[2]
_QUICK = str(_ROOT / "tests" / "cli" / "quick.py")
_IMPORTED = ("cli", "http", "sdk", "operations", "temporal", "simulation", "languages")
_PR_SET_PDEATHSIG = 1


@functools.cache
def forking() -> str:
    """Start the process that is copied, which ends with this one; return the path of its socket."""
    folder = tempfile.mkdtemp()
    address = f"{folder}/socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    command = [*ending_with_us(), sys.executable, "-m", __name__, str(listener.fileno())]
    process = subprocess.Popen(command, cwd=_ROOT, pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL)
    listener.close()

    def end() -> None:
        process.kill()
        process.wait()
        shutil.rmtree(folder)

    atexit.register(end)
    return address


def quick_command() -> list[str]:
    """Return what a command line begins with that runs `swf` in a copy: a process that hands signals on to it."""
    return [sys.executable, "-I", "-S", _QUICK, forking()]


def run(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str], stdin: str, patience: float
) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it wrote to stdout and stderr."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        with ask(
            forking(), list(arguments), str(folder), dict(env), [one.fileno() for one in (given, out, err)]
        ) as link:
            number(link)
            link.settimeout(patience)
            code = number(link)
        out.seek(0)
        err.seek(0)
        return code, out.read().decode(), err.read().decode()


def _serve(listener: socket.socket) -> NoReturn:
    # Commands hear it, even if the tests run where it is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in _IMPORTED:
        package = importlib.import_module(f"swf_temporal.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody has to be told that one is done with
    while True:
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(link)
        link.close()


def _answer(link: socket.socket) -> NoReturn:
    """Run what is asked for, and tell how it ends; whoever asked and is gone wants it to be gone, too."""
    head, files, _, _ = socket.recv_fds(link, LENGTH.size, 3)
    arguments, folder, env = json.loads(received(link, LENGTH.unpack(head)[0]))
    process = os.fork()
    if process == 0:
        link.close()
        _become(arguments, folder, env, files)
    for file in files:
        os.close(file)
    link.sendall(LENGTH.pack(process))
    ended = os.pidfd_open(process)
    if ended not in select.select([link.fileno(), ended], [], [])[0]:
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    try:
        link.sendall(LENGTH.pack(code))
    finally:
        os._exit(0)


def _become(arguments: list[str], folder: str, env: dict[str, str], files: list[int]) -> NoReturn:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    sys.path[:1] = ["", *filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv[1:] = arguments
    from swf_temporal.cli.entry import main  # noqa: PLC0415 - where it would be imported

    main()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
