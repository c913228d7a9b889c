"""Lists and reads files: what cannot be read is not absent. Pipes and devices may never end, and are refused."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NoReturn

STDIN: Final = Path("-")
"""The argument that stands for a definition on stdin."""
ENDINGS: Final = (".json", ".yaml", ".yml")
"""Of the names of files that hold definitions."""

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


NO_MORE_FILES: Final = (errno.EMFILE, errno.ENFILE)
"""The errors of a process, or a machine, that has as many files and connections open as it may."""

_NOT_OURS = ("node_modules", "__pycache__", "lost+found")


def is_folder(path: Path) -> bool:
    """Tell whether *path* is a folder. Of what cannot be looked at, reading says why."""
    return os.path.isdir(path)  # noqa: PTH112 - that of Path raises some errors, depending on the version of Python


def _raise(error: OSError) -> NoReturn:
    raise error


def files_below(
    folder: Path, endings: tuple[str, ...], on_error: Callable[[OSError], object] = _raise
) -> Iterator[Path]:
    """Yield the files with those *endings* in *folder* and in the folders in it, except those that are hidden.

    *on_error* is told of each folder that cannot be listed; by default its OSError is raised. Links to folders are not
    followed.
    """
    try:
        with os.scandir(folder) as entries:
            inside = {one.name: one.is_dir(follow_symlinks=False) for one in entries if one.name[0] != "."}
    except OSError as error:
        on_error(error)
        return
    for name, is_inner in sorted(inside.items()):
        if not is_inner and name.endswith(endings):
            yield folder / name
        elif is_inner and name not in _NOT_OURS:
            yield from files_below(folder / name, endings, on_error)


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


def why_unreadable(error: OSError | ValueError) -> str:
    """Return, for a message, why what raised *error* cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def can_open_more() -> bool:
    """Tell whether this process may open one more file or connection: some libraries fail otherwise, and do not say."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in NO_MORE_FILES
    return True


def _refuse_special(path: Path) -> None:
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind in _KINDS:
        raise OSError(errno.EINVAL, f"it is {_KINDS[kind]}, not a file", str(path))
