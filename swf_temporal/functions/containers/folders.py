"""The directory of a function in a container: variables as files, and files that become variables."""

import io
import os
import stat
import tarfile
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from swf_temporal.base.errors import CallFailed, PayloadTooLarge
from swf_temporal.base.strict_json import NotJSON, read_json
from swf_temporal.runtime.host import CallFile, CallFolder
from swf_temporal.runtime.variables import JSON_TYPE, Variable, VariableRef

MAX_BYTES: Final = 128 * 1024 * 1024
"""The size limit of all files that a function leaves: they are read into memory."""

BYTES_TYPE: Final = "application/octet-stream"

_OUT: Final = "out"
_INTERNAL: Final = "direktiv.internal.error"
_PACKED = "application/gzip"
_TEXT = "text/plain; charset=utf-8"
_FOR_ALL: Final = 0o777
"""The mode of directories: the container may run as another user. The parent folder restricts access."""
_READABLE: Final = 0o644


def write_files(folder: Path, call: CallFolder, variables: Mapping[VariableRef, Variable | None]) -> None:
    """Write the files of *call*, from *variables*, into *folder*, and create directories for the function's output.

    A variable that is not set is an empty file. Raises CallFailed if a file cannot be written.
    """
    for file in call.files:
        _write(folder, file, variables.get(file.of))
    for scope in call.owners:
        _make(folder / _OUT / scope, folder)


def read_files(folder: Path, call: CallFolder) -> dict[VariableRef, Variable]:
    """Return the variables that a function left in *folder*, under `out/SCOPE`.

    A file is a variable of its name; a directory becomes a packed archive. Everything else is ignored, and links are
    not followed, since they could lead anywhere. Raises PayloadTooLarge, and CallFailed for what the worker may not
    read.
    """
    found: dict[VariableRef, Variable] = {}
    left = MAX_BYTES
    try:
        folder.stat()  # distinguishes a missing folder from an empty one
        for scope, owner in call.owners.items():
            for path in _entries(folder / _OUT / scope):
                variable = _read(path, left)
                if variable is not None:
                    left -= len(variable.content)
                    found[VariableRef(scope, owner, path.name)] = variable
    except OSError as error:
        raise _internal(f"the files of the function cannot be read: {error}") from None
    return found


def _entries(directory: Path) -> list[Path]:
    """Return the content of *directory*, if it still is a directory."""
    if any(path.is_symlink() for path in (directory, directory.parent)) or not directory.is_dir():
        return []
    return sorted(directory.iterdir())


def _write(folder: Path, file: CallFile, variable: Variable | None) -> None:
    path = _path_of(folder, file)
    content = b"" if variable is None else variable.content
    try:
        if file.form in ("tar", "tar.gz"):
            _make(path, folder)
            if content:
                with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                    _extract(archive, path)
        else:
            _make(path.parent, folder)
            with path.open("xb") as opened:
                opened.write(b64decode(content, validate=True) if file.form == "base64" else content)
            path.chmod(_READABLE)
    except FileExistsError:
        raise _internal(f"two files of a function have the name {file.name!r}") from None
    except (OSError, ValueError, tarfile.TarError) as error:
        message = f"the variable {file.of.key!r} cannot be a file of the form {file.form or 'plain'!r}: {error}"
        raise _internal(message) from None


def _extract(archive: tarfile.TarFile, path: Path) -> None:
    """Extract the files and directories of *archive* below *path*, and nothing outside of it."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(path, filter="data")
        return
    for member in archive:  # before Python 3.11.4: Debian 12 has 3.11.2
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or not (member.isfile() or member.isdir()):
            raise tarfile.ExtractError(f"{member.name!r} is not a file or directory inside the archive")
        archive.extract(member, path, set_attrs=False)
        if member.isfile():
            (path / name).chmod(member.mode & 0o755 | 0o600)


def _path_of(folder: Path, file: CallFile) -> Path:
    """Return the path of *file*: its name may be a path, which must stay within *folder*."""
    name = PurePosixPath(file.name)
    if name.is_absolute() or ".." in name.parts or not name.parts or "\0" in file.name:
        raise _internal(f"a file cannot have the name {file.name!r}, which leads out of its directory")
    return folder / name


def _make(directory: Path, within: Path) -> None:
    """Make *directory*, and those between it and *within*, for any user."""
    if directory != within and not directory.is_dir():
        _make(directory.parent, within)
        directory.mkdir()
        directory.chmod(_FOR_ALL)


def _read(path: Path, most: int) -> Variable | None:
    """Return the variable in *path*, of at most *most* bytes; None if it is neither a file nor a directory."""
    if path.is_dir() and not path.is_symlink():
        _check(sum(each.lstat().st_size for each in path.rglob("*")), most)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(path, arcname=".")
        return Variable(packed.getvalue(), _PACKED)
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        if path.is_symlink() or not path.is_file():
            return None
        raise
    with open(opened, "rb") as file:  # noqa: PTH123 - the opened file, even if another one has its name by now
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        content = file.read(most + 1)
    _check(len(content), most)
    return Variable(content, _type_of(content))


def _check(size: int, most: int) -> None:
    if size > most:
        raise PayloadTooLarge(f"the files of a function have more than {MAX_BYTES:,} bytes")


def _type_of(content: bytes) -> str:
    try:
        read_json(content)
    except NotJSON:
        return _TEXT if _is_text(content) else BYTES_TYPE
    return JSON_TYPE


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _internal(message: str) -> CallFailed:
    return CallFailed(message, code=_INTERNAL, retryable=False)
