"""Where is the document that describes a service, and what does it say?"""

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urljoin, urlsplit

import yaml

from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import refusal
from swf_temporal.functions.http import Http, Request

_LIMIT = 32 * 1024 * 1024
_KEPT = 64
_REFERENCE_DEPTH = 32
_YamlLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the quick one, where PyYAML was built with it

Headers = tuple[tuple[str, str], ...]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Document:
    """An OpenAPI document, and where it was found."""

    name: str
    """As the definition writes it."""
    location: str
    """The URL or path that it was read from."""
    content: dict[str, Any] = field(repr=False)

    @property
    def url(self) -> str | None:
        """The URL that the document was fetched from, or None if it is a file."""
        return self.location if is_web(self.location) else None

    @property
    def is_swagger(self) -> bool:
        """Whether the document is written in version 2.0."""
        return "swagger" in self.content

    def resolve(self, node: object) -> dict[str, Any]:
        """Return the object that *node* is, or that its `$ref` points to within this document."""
        for _ in range(_REFERENCE_DEPTH):
            if not isinstance(node, dict):
                return {}
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node
            node = self._at(reference)
        raise refusal("BadDocument", f"the document '{self.name}' has references that lead round in a circle")

    def _at(self, reference: str) -> object:
        if not reference.startswith("#"):
            message = f"'{self.name}' refers to '{reference}'; only references within a document are followed"
            raise refusal("BadDocument", message)
        node: object = self.content
        for step in unquote(reference[1:]).split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            node = node.get(key) if isinstance(node, dict) else None
        if node is None:
            raise refusal("BadDocument", f"'{self.name}' refers to '{reference}', which is not in it")
        return node


class Documents:
    """Reads documents, and reads the same text only once."""

    def __init__(self, http: Http, lifetime: timedelta) -> None:
        self._http = http
        self._lifetime = lifetime.total_seconds()
        self._parsed: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._fetched: OrderedDict[tuple[str, Headers], tuple[float, bytes]] = OrderedDict()

    async def load(self, name: str, base: str | None, headers: Headers = ()) -> Document:
        """Return the document *name*, a URL or a path, found relative to *base*.

        *headers* are sent to a URL. Raises CallFailed if the document is not there or is not OpenAPI.
        """
        location = locate(name, base)
        if is_web(location):
            text = await self._fetch(location, headers)
        else:
            text = await asyncio.to_thread(_read_file, name, location)
        return Document(name, location, await self._parse(name, text))

    async def _fetch(self, url: str, headers: Headers) -> bytes:
        # Whoever has no credentials must not be shown what others fetched with theirs.
        key = (url, headers)
        expiry, text = self._fetched.get(key, (0.0, b""))
        if time.monotonic() >= expiry:
            text = await self._http.fetch(Request("GET", url, headers), _LIMIT)
            _keep(self._fetched, key, (time.monotonic() + self._lifetime, text))
        return text

    async def _parse(self, name: str, text: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(text).hexdigest()
        content = self._parsed.get(digest)
        if content is None:
            # A large document takes seconds to read; other calls go on meanwhile.
            content = await asyncio.to_thread(_parse, name, text)
        _keep(self._parsed, digest, content)
        return content


def locate(name: str, base: str | None) -> str:
    """Return the URL or path of the document *name*, which may be relative to *base*."""
    if is_web(name):
        return name
    path = _path(name)
    if base is None or Path(path).is_absolute():
        return path
    if is_web(base):
        return urljoin(base, path)
    folder = Path(_path(base))
    return str((folder.parent if folder.is_file() else folder) / path)


def is_web(location: str) -> bool:
    """Tell whether *location* is fetched over HTTP."""
    return location.lower().startswith(("http://", "https://"))


def _path(location: str) -> str:
    # `classpath:` is what SonataFlow's users write for "beside the definition".
    if location.startswith("classpath:"):
        return location.removeprefix("classpath:").lstrip("/")
    if location.startswith("file:"):
        return unquote(urlsplit(location).path)
    return location


def _keep(kept: OrderedDict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Keep *value*, and let go of what was kept longest ago if there is too much."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _KEPT:
        kept.popitem(last=False)


def _read_file(name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        message = f"the document '{name}' cannot be read from {path}: {reason}"
        raise refusal("NoDocument", message) from error


def _parse(name: str, text: bytes) -> dict[str, Any]:
    try:
        is_json = text.lstrip().startswith(b"{")
        content = json.loads(text) if is_json else yaml.load(text, _YamlLoader)  # noqa: S506 - a safe loader
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise _not_openapi(name, f"it is neither JSON nor YAML: {error}") from error
    if not isinstance(content, dict) or not ({"openapi", "swagger"} & content.keys()):
        raise _not_openapi(name, "it has neither 'openapi' nor 'swagger' at its top")
    version = str(content.get("openapi", content.get("swagger")))
    if not version.startswith(("2.", "3.0", "3.1")):
        raise _not_openapi(name, f"version {version} is not one of 2.0, 3.0 and 3.1")
    if not isinstance(content.get("paths", {}), dict):
        raise _not_openapi(name, "its 'paths' is not an object")
    return content


def _not_openapi(name: str, reason: str) -> CallFailed:
    return refusal("BadDocument", f"the document '{name}' is not an OpenAPI document: {reason}")
