"""The storage driver: large payloads as objects named after the SHA-256 of their contents.

Equal bytes are one object, however often they are sent, also when a workflow is replayed. An object is rewritten if it
is older than a day: an expiry rule of the store counts from then.

The methods of folders block, and raise what their library raises.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from cachetools import LRUCache, TTLCache
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ExternalStorage,
    StorageDriver,
    StorageDriverClaim,
    StorageDriverRetrieveContext,
    StorageDriverStoreContext,
)
from temporalio.exceptions import ApplicationError

from swf_temporal.base.errors import MissingExtra, PayloadUnavailable, UsageError
from swf_temporal.temporal.payloads.encodings import PAYLOAD_ENVELOPE

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import StorageSettings


_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
}
"""The package that provides a file system, by the scheme of its URL, if it is not fsspec itself."""


class Folder(Protocol):
    """A folder of objects; a name may have slashes."""

    def read(self, name: str) -> bytes:
        """Return the contents of an object. Raises FileNotFoundError if it does not exist."""

    def write(self, name: str, data: bytes) -> None:
        """Write an object: others see all of it or nothing."""

    def age(self, name: str) -> float | None:
        """Return the age of an object in seconds; None if it does not exist, or the storage does not say."""


class LocalFolder:
    """A folder of a file system that is mounted here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        """Write a temporary file next to the target, and rename it once it is on the disk."""
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
        """Return the age of a file in seconds."""
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
        """Return the age of an object in seconds."""
        self._files.invalidate_cache()
        try:
            written = self._files.modified(f"{self._root}/{name}")
        except (FileNotFoundError, NotImplementedError, KeyError):
            return None
        return time.time() - written.timestamp() if isinstance(written, datetime) else None


def folder_at(url: str, options: Mapping[str, Any]) -> Folder:
    """Return the folder at *url*, which need not exist yet. Raises UsageError if no package can access it."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalFolder(Path(unquote(parts.path)))
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - of an extra
    except ImportError:
        raise MissingExtra("storage", f"payloads in {url}", "fsspec") from None
    try:
        files, root = url_to_fs(url, use_listings_cache=False, **options)
    except ImportError as error:
        package = _PACKAGES.get(parts.scheme)
        raise UsageError(f"payloads in {url} need a package: {error}", package and f"pip install {package}") from None
    except ValueError as error:
        raise UsageError(f"payloads cannot be stored in {url}: {error}") from None
    return RemoteFolder(files, root)


NAME: Final = "swf"
"""The name of the driver in references, by which readers find it: it stays when a URL changes."""

_DIGEST, _SIZE = "sha256", "size"
"""The fields of a reference to an object."""

_FRESH = 86_400.0
"""The age in seconds from which on an object is rewritten when used again, so that it does not expire too early."""
_MAX_KNOWN = 65_536
_TRIES = 4
_PAUSE = 0.25
"""Seconds to pause after the first failed attempt; each further pause is twice as long."""

_R = TypeVar("_R")


class ObjectStorage(StorageDriver):
    """Stores payloads as objects of a folder, and reads them."""

    def __init__(self, settings: "StorageSettings", folder: Folder | None = None) -> None:
        self.settings = settings
        self._folder = folder
        self._known: TTLCache[str, bool] = TTLCache(_MAX_KNOWN, _FRESH)
        """The digests of objects that exist and are fresh."""
        self._cached: LRUCache[str, bytes] = LRUCache(settings.cache_bytes, getsizeof=len)
        self._lock = Lock()

    def name(self) -> str:
        return NAME

    def type(self) -> str:
        """Return the name of the kind of this driver."""
        return "swf-temporal.objects"

    async def store(
        self,
        context: StorageDriverStoreContext,  # noqa: ARG002 - the library's signature
        payloads: Sequence[Payload],
    ) -> list[StorageDriverClaim]:
        """Store *payloads*. Raises PayloadUnavailable."""
        return [await self._store(payload.SerializeToString(deterministic=True)) for payload in payloads]

    async def retrieve(
        self,
        context: StorageDriverRetrieveContext,  # noqa: ARG002 - as above
        claims: Sequence[StorageDriverClaim],
    ) -> list[Payload]:
        """Return the payloads that *claims* refer to. Raises PayloadUnavailable."""
        return [Payload.FromString(await self._retrieve(claim)) for claim in claims]

    async def _store(self, data: bytes) -> StorageDriverClaim:
        most = self.settings.max_bytes
        if len(data) > most + PAYLOAD_ENVELOPE:
            # The same type, non-retryable, as if the server refused the result of an activity.
            text = f"{len(data):,} bytes of data are more than the {most:,} that one payload may hold"
            raise ApplicationError(text, type="PayloadsTooLarge", non_retryable=True)
        digest = await asyncio.to_thread(_digest, data)
        if digest not in self._known:
            await self._trying(lambda: self._write(digest, data), f"the object {_path(digest)} cannot be written")
            self._known[digest] = True
            self._keep(digest, data)
        return StorageDriverClaim({_DIGEST: digest, _SIZE: str(len(data))})

    async def _retrieve(self, claim: StorageDriverClaim) -> bytes:
        digest = claim.claim_data.get(_DIGEST, "")
        if not _is_digest(digest):
            raise PayloadUnavailable(f"a reference to a stored payload has no SHA-256: {dict(claim.claim_data)}")
        with self._lock:
            kept = self._cached.get(digest)
        if kept is not None:
            return kept
        data = await self._trying(
            lambda: self._open().read(_path(digest)), f"the object {_path(digest)} cannot be read"
        )
        if await asyncio.to_thread(_digest, data) != digest:
            raise PayloadUnavailable(
                f"the object {_path(digest)} in {self.settings.url} was changed: its SHA-256 differs from its name",
                "restore the original; runs that need it wait until then",
            )
        self._keep(digest, data)
        return data

    def _write(self, digest: str, data: bytes) -> None:
        folder, name = self._open(), _path(digest)
        age = folder.age(name)
        if age is None or age > _FRESH:
            folder.write(name, data)

    def _open(self) -> Folder:
        with self._lock:
            if self._folder is None:
                self._folder = folder_at(self.settings.url, self.settings.options)
            return self._folder

    def _keep(self, digest: str, data: bytes) -> None:
        if len(data) <= self._cached.maxsize:
            with self._lock:
                self._cached[digest] = data

    async def _trying(self, request: Callable[[], _R], failed: str) -> _R:
        """Return the result of *request*, run in a thread. Transient errors are retried."""
        url = self.settings.url
        for left in reversed(range(_TRIES)):
            try:
                return await asyncio.to_thread(request)
            except FileNotFoundError:
                what = "it does not exist" if failed.endswith("read") else "the bucket or folder does not exist"
                hint = "restore or create it, or let workers and clients use the same storage; runs that need it wait"
                raise PayloadUnavailable(f"{failed} in {url}: {what}", hint) from None
            except PermissionError as error:
                hint = "give this program the right to read, write and list objects there; runs that need it wait"
                raise PayloadUnavailable(f"{failed} in {url}: permission denied ({error})", hint) from None
            except Exception as error:
                if not left:
                    text = f"{failed} in {url}: {type(error).__name__}: {error}"
                    raise PayloadUnavailable(text, "runs that need it wait until the storage answers") from error
                await asyncio.sleep(_PAUSE * 2 ** (_TRIES - 1 - left))
        raise AssertionError  # the last attempt returned or raised


def storage_of(settings: "StorageSettings") -> ExternalStorage:
    """Return the SDK's storage object for *settings*. Raises UsageError if no package can access the folder."""
    folder = folder_at(settings.url, settings.options)
    return ExternalStorage(drivers=[ObjectStorage(settings, folder)], payload_size_threshold=settings.threshold)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _path(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)  # noqa: PLR2004 - of SHA-256
