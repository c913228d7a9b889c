"""The processor time that a development server takes."""

import os
from pathlib import Path
from typing import Final

from swf_temporal.temporal.connecting import Server

_TICKS: Final = os.sysconf("SC_CLK_TCK")


def pid_of(server: Server) -> int:
    """Return the process of the development server."""
    port = server.client.service_client.config.target_host.rpartition(":")[2]
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[1:3] == ["server", "start-dev"] and port in words:
            return int(entry.name)
    raise RuntimeError("the process of the server was not found")


def used(pid: int) -> float:
    """Return the processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
