"""Folders in which objects are stored: on this machine, or wherever fsspec reaches.

Their methods block, and raise what their library raises.
"""

import os
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from swf_temporal.base.errors import UsageError

_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
}
"""The package that reaches a file system, by the scheme of its URL, where it is not fsspec itself."""


class Folder(Protocol):
    """A folder of objects; a name may have slashes."""

    def read(self, name: str) -> bytes:
        """Return what an object holds. Raises FileNotFoundError if it is not there."""

    def write(self, name: str, data: bytes) -> None:
        """Write an object: others see all of it or nothing."""

    def age(self, name: str) -> float | None:
        """Return how many seconds ago an object was written; None if it is not there, or the storage does not say."""


class LocalFolder:
    """A folder of a file system that is mounted here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        """Write a file beside its place, and move it there once it is on the disk."""
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise

    def age(self, name: str) -> float | None:
        """Return how long ago a file was written."""
        try:
            return time.time() - (self._path / name).stat().st_mtime
        except FileNotFoundError:
            return None


class RemoteFolder:
    """A folder that fsspec reaches. Object stores write an object as a whole."""

    def __init__(self, files: Any, root: str) -> None:
        self._files = files
        self._root = root.rstrip("/")

    def read(self, name: str) -> bytes:
        self._files.invalidate_cache()  # a listing may be older than the object
        data: bytes = self._files.cat_file(f"{self._root}/{name}")
        return data

    def write(self, name: str, data: bytes) -> None:
        """Write an object by one request, or by one upload in parts."""
        self._files.pipe_file(f"{self._root}/{name}", data)

    def age(self, name: str) -> float | None:
        """Return how long ago an object was written."""
        self._files.invalidate_cache()
        try:
            written = self._files.modified(f"{self._root}/{name}")
        except (FileNotFoundError, NotImplementedError, KeyError):
            return None
        return time.time() - written.timestamp() if isinstance(written, datetime) else None


def folder_at(url: str, options: Mapping[str, Any]) -> Folder:
    """Return the folder at *url*, which need not be there yet. Raises UsageError if nothing can reach it."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalFolder(Path(unquote(parts.path)))
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - of an extra
    except ImportError:
        raise UsageError(f"payloads in {url} need fsspec", "pip install 'swf-temporal[storage]'") from None
    try:
        files, root = url_to_fs(url, use_listings_cache=False, **options)
    except ImportError as error:
        package = _PACKAGES.get(parts.scheme)
        raise UsageError(f"payloads in {url} need a package: {error}", package and f"pip install {package}") from None
    except ValueError as error:
        raise UsageError(f"payloads cannot be stored in {url}: {error}") from None
    return RemoteFolder(files, root)
