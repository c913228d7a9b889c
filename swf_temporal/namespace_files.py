"""Files of a namespace, which is a folder of definitions: workflows may read them, and nothing else on the machine."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from swf_temporal.errors import FatalFault
from swf_temporal.files import read_bytes
from swf_temporal.runtime.performing import check_size
from swf_temporal.runtime.variables import Variable

NOT_A_FILE: Final = "NotAFile"
"""The name of the error of a path that leads to something else."""
MAX_BYTES: Final = 1024 * 1024
"""The size limit of one file, which is that of the variables of a scope."""
_BYTES: Final = "application/octet-stream"


def folder_of(definition_id: str, file: str) -> Path | None:
    """Return the folder in which a definition with this id, which is a path, was read from *file*; None if in none."""
    steps = definition_id.count("/")
    parents = Path(file).parents
    if not definition_id.startswith("/") or steps > len(parents) or not Path(file).is_file():
        return None
    return parents[steps - 1]


def read_file(path: str, folders: Iterable[Path]) -> Variable | None:
    """Return what the file at *path* holds in the first of *folders* that has it, or None if none does.

    Hidden files are not there, nor is what lies outside of the folder. Raises FatalFault for a folder, and for what
    cannot be read, and PayloadTooLarge.
    """
    steps = path.strip("/").split("/")
    if any(step.startswith(".") for step in steps):
        return None
    for folder in folders:
        file = folder.joinpath(*steps)
        if file.exists() and file.resolve().is_relative_to(folder.resolve()):
            return Variable(_content(file, path), _BYTES)
    return None


def _content(file: Path, path: str) -> bytes:
    if file.is_dir():
        raise FatalFault(f"{path} is a folder of the namespace, and no file", name=NOT_A_FILE)
    try:
        check_size(file.stat().st_size, f"the file {path} may have", MAX_BYTES)
        return read_bytes(file)
    except OSError as error:
        raise FatalFault(f"the file {path} cannot be read: {error.strerror}", name=NOT_A_FILE) from None
