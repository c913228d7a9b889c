"""Reads files. Pipes and devices may never end, and are refused."""

import errno
import stat
from pathlib import Path

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def read_bytes(path: Path) -> bytes:
    """Return the content of the file at *path*.

    Raises OSError, whose `strerror` says why, if it cannot be read or is something else than a file.
    """
    _refuse_special(path)
    return path.read_bytes()


def read_text(path: Path) -> str:
    """Return the text of the file at *path*, as `read_bytes` does. Raises UnicodeDecodeError if it is not UTF-8."""
    _refuse_special(path)
    return path.read_text("utf-8-sig")


def _refuse_special(path: Path) -> None:
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind in _KINDS:
        raise OSError(errno.EINVAL, f"it is {_KINDS[kind]}, not a file", str(path))
