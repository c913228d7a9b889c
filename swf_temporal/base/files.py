"""Lists and reads files. Unreadable ones do not count as absent; pipes and devices may never end, and are refused."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NoReturn

STDIN: Final = Path("-")
"""The argument that stands for a definition on stdin."""
ENDINGS: Final = (".json", ".yaml", ".yml")
"""The suffixes of files that hold definitions."""
DEFINITIONS: Final = tuple(f".sw{ending}" for ending in ENDINGS)
"""The endings of the names of files that are definitions, whatever is in them."""

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


NO_MORE_FILES: Final = (errno.EMFILE, errno.ENFILE)
"""The errors of a process, or a machine, that has reached its limit of open files and connections."""

_NOT_OURS = ("node_modules", "__pycache__", "lost+found")


def is_folder(path: Path) -> bool:
    """Return whether *path* is a folder; False if it cannot be examined: reading it reports why."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises some errors, depending on the version of Python


def _raise(error: OSError) -> NoReturn:
    raise error


def files_below(
    folder: Path, endings: tuple[str, ...], on_error: Callable[[OSError], object] = _raise
) -> Iterator[Path]:
    """Yield the files with those *endings* in *folder* and its subfolders, except hidden ones.

    *on_error* is called with the OSError of each folder that cannot be listed; by default this is raised. Links to
    folders are not followed.
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

    Raises OSError, whose `strerror` says why, if it cannot be read or is not a file.
    """
    _refuse_special(path)
    return path.read_bytes()


def read_text(path: Path) -> str:
    """Return the text of the file at *path*, as `read_bytes` does. Raises UnicodeDecodeError if it is not UTF-8."""
    _refuse_special(path)
    return path.read_text("utf-8-sig")


def refuse_outside(path: Path, folder: Path) -> None:
    """Raise OSError, whose `strerror` says why, if links lead from *path* out of *folder*, nowhere or in a circle.

    The file need not exist.
    """
    try:
        target, limit = Path(os.path.realpath(path, strict=path.is_symlink())), Path(os.path.realpath(folder))
    except FileNotFoundError:
        raise OSError(errno.ENOENT, "it is a link to a file that does not exist", str(path)) from None
    except OSError as error:
        why = "it is a link that leads in a circle" if error.errno == errno.ELOOP else error.strerror
        raise OSError(error.errno, why, str(path)) from None
    if target != limit and limit not in target.parents:
        raise OSError(errno.EPERM, f"links lead from it out of {folder}", str(path))


def why_unreadable(error: OSError | ValueError) -> str:
    """Return the reason in *error*, raised when reading a file, for a message."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def can_open_more() -> bool:
    """Return whether this process can open one more file or connection: some libraries fail silently if it cannot."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in NO_MORE_FILES
    return True


def _refuse_special(path: Path) -> None:
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind in _KINDS:
        raise OSError(errno.EINVAL, f"it is {_KINDS[kind]}, not a file", str(path))
