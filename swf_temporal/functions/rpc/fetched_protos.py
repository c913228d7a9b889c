"""Proto files that are fetched from a URL."""

import asyncio
import re
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias
from urllib.parse import quote, urljoin

from cachetools import LRUCache

from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.documents.documents import Headers
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.http.requests import Request
from swf_temporal.functions.rpc.protos import ProtoServices, compiled, included, services_of

_MAX_BYTES = 4 * 1024 * 1024
_MAX_FILES = 256
_MAX_CACHED = 64
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_IMPORT = re.compile(r"""^\s*import\s+(?:public\s+|weak\s+)?["']([^"']+)["']\s*;""", re.MULTILINE)
_NAME = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*")

_Sources: TypeAlias = dict[str, bytes]


class FetchedProtos:
    """Fetches proto files with what they import, and compiles the same texts only once."""

    def __init__(self, http: Http, lifetime: timedelta) -> None:
        self._http = http
        self._lifetime = lifetime.total_seconds()
        # What has expired is kept: a text that was fetched again is compiled only if it has changed.
        self._known = LRUCache[tuple[str, Headers], tuple[float, _Sources, ProtoServices]](_MAX_CACHED)

    async def load(self, name: str, url: str, headers: Headers = ()) -> ProtoServices:
        """Return the services in the proto file *name*, which is at *url*, and in what it imports.

        Imports are looked for beside the file, on the same server. Raises CallFailed if the file cannot be had, or is
        not a proto file.
        """
        key = (url, headers)  # a caller without credentials is not shown what others were
        expiry, sources, services = self._known.get(key, (0.0, {}, None))
        if services is None or time.monotonic() >= expiry:
            fetched = await self._fetched(name, url, headers)
            if services is None or fetched != sources:
                services = await _compiled(name, url, fetched)
            self._known[key] = time.monotonic() + self._lifetime, fetched, services
        return services

    async def _fetched(self, name: str, url: str, headers: Headers) -> _Sources:
        """Return the text of the file, and of all that it imports, by the names that imports have."""
        first = _file_name(url)
        text, url = await self._http.download(Request("GET", url, headers), _MAX_BYTES)
        sources = {first: text}
        waiting = _imports(sources[first])
        while waiting:
            wanted = waiting.pop()
            if wanted in sources or any((folder / wanted).is_file() for folder in included()):
                continue
            if len(sources) == _MAX_FILES:
                raise permanent_failure("BadDocument", f"the proto file '{name}' imports more than {_MAX_FILES} others")
            sources[wanted] = await self._imported(name, url, wanted, headers)
            waiting += _imports(sources[wanted])
        return sources

    async def _imported(self, name: str, url: str, wanted: str, headers: Headers) -> bytes:
        if not _NAME.fullmatch(wanted):
            raise permanent_failure(
                "BadDocument", f"the proto file '{name}' imports '{wanted}', which is not the name of a file"
            )
        try:
            text, _ = await self._http.download(Request("GET", urljoin(url, quote(wanted)), headers), _MAX_BYTES)
        except CallFailed as fault:
            message = f"the proto file '{name}' imports '{wanted}', which cannot be had: {fault.message}"
            raise CallFailed(message, code=fault.code, status=fault.status, retryable=fault.retryable) from fault
        return text


def _file_name(url: str) -> str:
    name = url.partition("?")[0].rpartition("/")[2]
    return name if _NAME.fullmatch(name) else "service.proto"


def _imports(source: bytes) -> list[str]:
    return _IMPORT.findall(_COMMENT.sub("", source.decode(errors="replace")))


async def _compiled(name: str, url: str, sources: _Sources) -> ProtoServices:
    with TemporaryDirectory() as folder:
        await asyncio.to_thread(_write, Path(folder), sources)
        files = await compiled(name, Path(folder, _file_name(url)), [Path(folder)])
    return services_of(f"the proto file '{name}'", files)


def _write(folder: Path, sources: _Sources) -> None:
    for name, source in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source)
