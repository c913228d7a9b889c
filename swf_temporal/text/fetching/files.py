"""Reads a file if it lies in a folder that may be read."""

import stat
from collections.abc import Iterable
from pathlib import Path

from swf_temporal.base.files import is_folder
from swf_temporal.text.resources import (
    FROM_FOLDERS,
    ForbiddenResourceError,
    MissingResourceError,
    Resource,
    UnreadableResourceError,
)

LIMIT = 2 * 1024 * 1024
"""The largest document that is taken, in bytes: all of it travels with every run."""

TOO_LARGE = "it is larger than 2 MiB"


def read_file(path: Path, folders: Iterable[Path]) -> Resource:
    """Return the file at *path*. Links are followed first: what counts is where the file really lies.

    Whether something forbidden is there is not told.
    """
    try:
        real = path.resolve()
        inside = next((folder for folder in folders if real.is_relative_to(folder.resolve())), None)
    except (OSError, ValueError, RuntimeError):  # links in a cycle, characters that no path has
        raise MissingResourceError from None
    if inside is None:
        raise ForbiddenResourceError("which is outside of the definition's folder", FROM_FOLDERS)
    try:
        if not stat.S_ISREG(real.stat().st_mode):
            raise MissingResourceError
        with real.open("rb") as file:
            content = file.read(LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        if not is_folder(inside):
            raise UnreadableResourceError(f"the folder {inside} is not there") from None
        raise MissingResourceError from None
    except OSError as error:
        raise UnreadableResourceError(error.strerror or str(error)) from None
    if len(content) > LIMIT:
        raise UnreadableResourceError(TOO_LARGE)
    return Resource(str(path), content)
