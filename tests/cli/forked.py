"""A process that has imported what `swf` needs, and runs each command in a copy of itself, which saves the importing.

What a command runs in is a process of its own all the same. That `swf` by itself comes to the same, and starts quickly,
is shown by the tests that start it otherwise.
"""

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tests.processes import ending_with_us

_ROOT = Path(__file__).parents[2]
_IMPORTED = ("cli", "http", "sdk", "operations", "temporal", "simulation", "languages")
_LENGTH = struct.Struct("!q")
_PR_SET_PDEATHSIG = 1


class Forked:
    """Runs commands to their end, one after the other."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link

    def run(
        self, arguments: Sequence[str], folder: Path, env: Mapping[str, str], stdin: str, patience: float
    ) -> tuple[int, str, str]:
        """Return the exit code of a command, and what it wrote to stdout and stderr."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin.encode())
            given.seek(0)
            asked = json.dumps([list(arguments), str(folder), dict(env)]).encode()
            socket.send_fds(self._link, [_LENGTH.pack(len(asked))], [file.fileno() for file in (given, out, err)])
            self._link.sendall(asked)
            process = self._number()
            self._link.settimeout(patience)
            try:
                code = self._number()
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise
            finally:
                self._link.settimeout(None)
            out.seek(0)
            err.seek(0)
            return code, out.read().decode(), err.read().decode()

    def _number(self) -> int:
        number: int = _LENGTH.unpack(_received(self._link, _LENGTH.size))[0]
        return number


@contextmanager
def forking() -> Iterator[Forked]:
    """Start the process that is copied; it ends with its connection."""
    ours, theirs = socket.socketpair()
    command = [*ending_with_us(), sys.executable, "-m", __name__, str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=_ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    with ours:
        yield Forked(ours)
    process.wait(60)


def _received(link: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = link.recv(size - len(received))
        if not part:
            raise EOFError
        received += part
    return received


def _serve(link: socket.socket) -> None:
    for name in _IMPORTED:
        package = importlib.import_module(f"swf_temporal.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    while True:
        head, files, _, _ = socket.recv_fds(link, _LENGTH.size, 3)
        if not head:
            return
        arguments, folder, env = json.loads(_received(link, _LENGTH.unpack(head)[0]))
        process = os.fork()
        if process == 0:
            link.close()
            _become(arguments, folder, env, files)
        for file in files:
            os.close(file)
        link.sendall(_LENGTH.pack(process))
        link.sendall(_LENGTH.pack(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])))


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
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)
