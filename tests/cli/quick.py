"""Runs `swf` in a copy of a process that has imported it: `python -I -S quick.py SOCKET ARGUMENTS…`.

It imports next to nothing, so that it begins at once. Streams are those of the caller, signals are handed on, and the
exit code is that of the command, which ends with this process.
"""

import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence

LENGTH = struct.Struct("!q")


def ask(
    address: str, arguments: Sequence[str], folder: str, env: Mapping[str, str], files: Sequence[int]
) -> socket.socket:
    """Ask for a command with *files* as its streams; its process is told first, and then its exit code."""
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    asked = json.dumps([arguments, folder, env]).encode()
    socket.send_fds(link, [LENGTH.pack(len(asked))], files)
    link.sendall(asked)
    return link


def number(link: socket.socket) -> int:
    told: int = LENGTH.unpack(received(link, LENGTH.size))[0]
    return told


def received(link: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size:
        part = link.recv(size - len(got))
        if not part:
            raise EOFError
        got += part
    return got


def main() -> None:
    here = os.getcwd()  # noqa: PTH109 - pathlib takes its time to import
    with ask(sys.argv[1], sys.argv[2:], here, dict(os.environ), [0, 1, 2]) as link:
        process = number(link)
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, lambda which, _: os.kill(process, which))
        code = number(link)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
