"""Documents that describe services: found, read and cached."""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import LRUCache, TTLCache

from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.files import read_bytes
from swf_temporal.base.importing import Origin, read_origin
from swf_temporal.functions.documents.parts import Document, UnresolvedReference, as_path, is_web, normal
from swf_temporal.functions.urls import join_url
from swf_temporal.text.fetching.resources import Resources, is_allowed, read_file, variable_name
from swf_temporal.text.origin import FROM_HOSTS, ResourceError
from swf_temporal.text.parsing import read_data

if TYPE_CHECKING:
    from swf_temporal.functions.http.client import Http

__all__ = ["Document", "Documents", "Headers", "is_web", "locate"]

_MAX_BYTES = 32 * 1024 * 1024
_MAX_KEPT = 64
_MAX_OTHERS = 256

Headers = tuple[tuple[str, str], ...]
_Value = TypeVar("_Value")


def check_openapi(document: Document) -> None:
    """Raise CallFailed if *document* is not an OpenAPI document of a supported version."""
    content = document.content
    if not ({"openapi", "swagger"} & content.keys()):
        raise _not_openapi(document.name, "it has neither 'openapi' nor 'swagger' at the top level")
    version = str(content.get("openapi", content.get("swagger")))
    if not version.startswith(("2.", "3.0", "3.1")):
        raise _not_openapi(document.name, f"version {version} is not one of 2.0, 3.0 and 3.1")
    if not isinstance(content.get("paths", {}), dict):
        raise _not_openapi(document.name, "its 'paths' is not an object")


class Documents:
    """Reads documents, and parses the same text only once."""

    def __init__(
        self, http: "Callable[[], Http]", lifetime: timedelta = timedelta(), resources: Resources | None = None
    ) -> None:
        """Read URLs with the client that *http* returns, which files do not need, and cache those for *lifetime*."""
        self._http = http
        self._resources = resources or Resources()
        self._parsed = LRUCache[str, dict[str, Any]](_MAX_KEPT)
        self._loaded = LRUCache[tuple[str, str | None, Headers], tuple[bytes, Document]](_MAX_KEPT)
        self._fetched: TTLCache[tuple[str, Headers], tuple[bytes, str]] = TTLCache(_MAX_KEPT, lifetime.total_seconds())

    async def load(
        self,
        name: str,
        base: str | None,
        headers: Headers = (),
        check: Callable[[Document], None] = check_openapi,
    ) -> Document:
        """Return the document *name*, a URL or a path relative to *base*.

        *headers* are sent to a URL. Raises CallFailed if the document does not exist, or as *check* does if it is
        of another kind.
        """
        location = locate(name, base)
        if is_web(location):
            text, location = await self._fetch(location, headers)
        else:
            text = await asyncio.to_thread(_read_file, name, location)
        key = (name, base, headers)
        before, document = self._loaded.get(key, (b"", None))
        # Referenced documents may have changed meanwhile, and not every caller may see them.
        if document is None or (before, document.location) != (text, location) or len(document.others) > 1:
            document = Document(name, location, await self._parse(name, text))
            document.others[normal(location)] = document
            self._loaded[key] = text, document
        check(document)
        return document

    async def reading(
        self, document: Document, read: Callable[[], _Value], *, base: str | None = None, headers: Headers = ()
    ) -> _Value:
        """Return the result of *read* on *document*, whose references may lead into other documents.

        A file may refer to files in its own folder, in the definition's, and in folders that the operator allows; a URL
        to URLs on its own host. The operator may allow other hosts. Raises CallFailed.
        """
        for _ in range(_MAX_OTHERS):
            try:
                return read()
            except UnresolvedReference as needed:
                # Repeated with the document that it needs. Most need none, and *read* is fast.
                document.others[needed.location] = await self._other(document, needed, base, headers)
        raise permanent_failure(
            "BadDocument", f"the document '{document.name}' refers to more than {_MAX_OTHERS} others"
        )

    async def _other(
        self, first: Document, needed: UnresolvedReference, base: str | None, headers: Headers
    ) -> Document:
        referrer = f"'{needed.document.name}' refers to '{needed.reference}'"
        location = needed.location
        if not is_web(location):
            text = await asyncio.to_thread(self._beside, first, base, referrer, location)
        elif first.url and _origin(first.url) == _origin(location):
            text, location = await self._fetch(location, headers)
        else:
            text, location = await self._fetch(location, self._credentials(referrer, location))
        return Document(needed.reference.partition("#")[0], location, await self._parse(location, text), first.others)

    def _beside(self, first: Document, base: str | None, referrer: str, location: str) -> bytes:
        if first.url:
            raise permanent_failure(
                "NoDocument", f"{referrer}, a file; a document from a URL can refer to other URLs only"
            )
        folders = [Path(first.location).parent, *self._resources.folders]
        if base is not None and not is_web(base):
            folders.append(_folder(base))
        try:
            return read_file(Path(location), folders).content
        except ResourceError as error:
            hint = f"; {error.hint}" if error.hint else ""
            raise permanent_failure("NoDocument", f"{referrer}, {error.reason}{hint}") from error

    def _credentials(self, referrer: str, url: str) -> Headers:
        """Return the credentials for an allowed host. Raises CallFailed for any other host."""
        _, host, port = _origin(url)
        if not is_allowed(host, port, self._resources.hosts):
            raise permanent_failure(
                "NoDocument", f"{referrer}, and from the host '{host}' nothing may be fetched; {FROM_HOSTS}"
            )
        header = self._resources.credentials.get(variable_name(host, port))
        return (("Authorization", header),) if header else ()

    async def _fetch(self, url: str, headers: Headers) -> tuple[bytes, str]:
        """Return a document and its URL after redirects, to which its references are relative."""
        from swf_temporal.functions.http.client import Request  # noqa: PLC0415 - not needed for files

        # A caller without credentials must not see what others fetched with theirs.
        key = (url, headers)
        try:
            return self._fetched[key]
        except KeyError:  # also if it expires during the look-up, for which `get` would raise
            found = self._fetched[key] = await self._http().download(Request("GET", url, headers), _MAX_BYTES)
            return found

    async def _parse(self, name: str, text: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(text).hexdigest()
        content = self._parsed.get(digest)
        if content is None:
            # A large document takes seconds to read; other calls continue meanwhile.
            content = await asyncio.to_thread(_parse, name, text)
            self._parsed[digest] = content
        return content


def locate(name: str, base: str | None) -> str:
    """Return the URL or path of the document *name*, which may be relative to *base*."""
    if is_web(name):
        return name
    path = as_path(name)
    if base is None or Path(path).is_absolute():
        return path
    if is_web(base):
        return join_url(base, path)
    return str(_folder(base) / path)


def _folder(base: str) -> Path:
    folder = Path(as_path(base))
    return folder.parent if folder.is_file() else folder


def _origin(url: str) -> Origin:
    try:
        return read_origin(url)
    except ValueError as error:
        raise permanent_failure("BadUrl", f"'{url}' is not a URL: {error}") from error


def _read_file(name: str, path: str) -> bytes:
    try:
        return read_bytes(Path(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        message = f"the document '{name}' cannot be read from {path}: {reason}"
        raise permanent_failure("NoDocument", message) from error


def _parse(name: str, text: bytes) -> dict[str, Any]:
    try:
        content = read_data(text)
    except ValueError as error:
        raise permanent_failure(
            "BadDocument", f"the document '{name}' cannot be read: it is neither JSON nor YAML: {error}"
        ) from error
    if not isinstance(content, dict):
        raise permanent_failure("BadDocument", f"the document '{name}' is not an object")
    return content


def _not_openapi(name: str, reason: str) -> CallFailed:
    return permanent_failure("BadDocument", f"the document '{name}' is not an OpenAPI document: {reason}")
