"""Files of a namespace, which is a folder of definitions: workflows can read these, and no other files."""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from swf_temporal.base.errors import FatalFault, StoreUnavailable
from swf_temporal.base.files import is_folder
from swf_temporal.runtime.performing import check_size
from swf_temporal.runtime.variables import Variable
from swf_temporal.text.fetching.resources import is_web

NOT_A_FILE: Final = "NotAFile"
"""The name of the error if a path leads to something else."""
MAX_BYTES: Final = 1024 * 1024
"""The size limit of one file: the same as that of the variables of a scope."""
_BYTES: Final = "application/octet-stream"
_ABSENT: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""The errors that mean that there is nothing at a path. After any other there may be something."""


def folder_of(definition_id: str, file: str) -> Path | None:
    """Return the namespace of a definition that was read from *file*, whose id is a path; None if it has none."""
    steps = definition_id.count("/")
    parents = Path(file).parents
    if not definition_id.startswith("/") or steps > len(parents) or file.startswith("<") or is_web(file):
        return None
    return parents[steps - 1]


def read_file(path: str, folders: Iterable[Path]) -> Variable | None:
    """Return the content of the file at *path* in the first of *folders* that has it, or None if none does.

    Hidden files and files outside of the folder do not count. Raises FatalFault for what is not a file,
    PayloadTooLarge, and StoreUnavailable for what cannot be read at the moment: it may exist.
    """
    steps = path.strip("/").split("/")
    if any(step.startswith(".") for step in steps):
        return None
    for folder in folders:
        if not is_folder(folder):
            raise StoreUnavailable(f"the folder {folder} of the namespace cannot be read")
        file = folder.joinpath(*steps)
        try:
            found = file.stat()
            if file.resolve().is_relative_to(folder.resolve()):
                return Variable(_content(file, path, found), _BYTES)
        except ValueError:  # not a valid path
            continue
        except OSError as error:
            if error.errno not in _ABSENT:
                raise StoreUnavailable(f"the file {path} of the namespace cannot be read: {error.strerror}") from None
    return None


def _content(file: Path, path: str, found: os.stat_result) -> bytes:
    if stat.S_ISDIR(found.st_mode):
        raise FatalFault(f"{path} is a folder of the namespace, not a file", name=NOT_A_FILE)
    if not stat.S_ISREG(found.st_mode):
        raise FatalFault(f"{path} is not a regular file, but a pipe, a socket or a device", name=NOT_A_FILE)
    check_size(found.st_size, f"the file {path} may have", MAX_BYTES)
    return file.read_bytes()
