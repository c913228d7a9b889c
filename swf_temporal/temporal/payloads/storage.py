"""The storage driver: large payloads as objects that are named after the SHA-256 of what they hold.

What has the same bytes is one object, however often it is sent, also when a workflow is replayed. An object is written
again if it is older than a day: a rule of the store that deletes old ones counts from then.
"""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

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

from swf_temporal.base.errors import PayloadUnavailable
from swf_temporal.temporal.payloads.encodings import PAYLOAD_ENVELOPE
from swf_temporal.temporal.payloads.objects import Folder, folder_at

if TYPE_CHECKING:
    from swf_temporal.settings.payloads import StorageSettings

NAME: Final = "swf"
"""The name of the driver in references, by which readers find it: it stays when an URL changes."""

_DIGEST, _SIZE = "sha256", "size"
"""What a reference says of an object."""

_FRESH = 86_400.0
"""The age in seconds from which on an object is written again, so that it does not expire for those who use it anew."""
_MAX_KNOWN = 65_536
_TRIES = 4
_PAUSE = 0.25
"""Seconds after the first attempt that failed; each pause is twice as long as the one before."""

_R = TypeVar("_R")


class ObjectStorage(StorageDriver):
    """Stores payloads as objects of a folder, and reads them."""

    def __init__(self, settings: "StorageSettings", folder: Folder | None = None) -> None:
        self.settings = settings
        self._folder = folder
        self._known: TTLCache[str, bool] = TTLCache(_MAX_KNOWN, _FRESH)
        """The digests of objects that are there and fresh."""
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
            # Of the type, and for good, as where the server refuses the result of an activity.
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
        """Return what *request* comes to, in a thread. What may pass soon is tried again."""
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
    """Return what the SDK takes for *settings*. Raises UsageError if nothing can reach the folder."""
    folder = folder_at(settings.url, settings.options)
    return ExternalStorage(drivers=[ObjectStorage(settings, folder)], payload_size_threshold=settings.threshold)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _path(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)  # noqa: PLR2004 - of SHA-256
