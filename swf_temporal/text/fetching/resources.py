"""The documents that definitions may take, and from where."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Literal, Self, TypeAlias
from urllib.parse import unquote, urljoin, urlsplit

from swf_temporal.base.errors import UsageError
from swf_temporal.text.fetching.files import read_file
from swf_temporal.text.fetching.hosts import credentials_in, hosts_in
from swf_temporal.text.resources import (
    ForbiddenResourceError,
    MissingResourceError,
    Resource,
    UnreadableResourceError,
)

ReadingMode: TypeAlias = Literal["sonataflow"]


def reading_mode(name: str | None) -> ReadingMode | None:
    """Return the mode *name*; None for none. Raises UsageError if there is no such mode."""
    if name not in (None, "", "sonataflow"):
        raise UsageError(f"there is no mode {name!r}", "there is sonataflow")
    return "sonataflow" if name else None


@dataclass(frozen=True, slots=True)
class Resources:
    """The documents that the operator allows definitions to read, besides their own folders: by default none."""

    folders: tuple[Path, ...] = ()
    """Folders whose files may be read, with all that is in them."""
    hosts: tuple[str, ...] = ()
    """Hosts that may be asked: `example.com`, `*.example.com` for those below it, `example.com:8080`."""
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of the header Authorization, by the names that `hosts.variable_name` gives to hosts."""
    timeout: timedelta = timedelta(seconds=10)
    """The longest that one document may take."""
    mode: ReadingMode | None = None
    """The runtime in whose way definitions are read and run; None for the specification's."""

    @classmethod
    def from_environment(cls, env: Mapping[str, str], folders: Iterable[Path] = ()) -> Self:
        """Return what variables named `SWF_RESOURCE_…` allow, and *folders* besides.

        `SWF_RESOURCE_FOLDERS` is a list with colons, `SWF_RESOURCE_HOSTS` one with commas, and
        `SWF_RESOURCE_AUTH_<HOST>` is `user:password` or `Bearer …`; `SWF_MODE` is the mode. Raises UsageError for what
        cannot be read.
        """
        named = (Path(name) for name in env.get("SWF_RESOURCE_FOLDERS", "").split(":") if name.strip())
        return cls((*named, *folders), hosts_in(env), credentials_in(env), mode=reading_mode(env.get("SWF_MODE")))

    def fetch(self, uri: str, base: Path | str | None = None) -> Resource:
        """Return the document *uri*, which may be relative to *base*: a folder, or the URL of a definition.

        Raises MissingResourceError, ForbiddenResourceError or UnreadableResourceError.
        """
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise UnreadableResourceError(f"it is not a URI ({error})") from None
        if is_web(uri):
            return self._get(uri)
        if parts.scheme == "" and isinstance(base, str):
            return self._get(urljoin(base, uri))
        if parts.scheme not in ("", "file", "classpath"):
            raise ForbiddenResourceError(
                f"and '{parts.scheme}:' is not a way to get documents", "use a path, or https:"
            )
        return self._read(Path(_path(uri)), base if isinstance(base, Path) else None)

    def _read(self, path: Path, folder: Path | None) -> Resource:
        if folder is None and not path.is_absolute():
            raise MissingResourceError
        own = () if folder is None else (folder,)
        return read_file(path if folder is None else folder / path, (*own, *self.folders))

    def _get(self, url: str) -> Resource:
        # Most definitions name nothing on the web: they need not wait until an HTTP client is imported.
        from swf_temporal.text.fetching.web import Web  # noqa: PLC0415 - heavy

        return Web(self.hosts, self.credentials, self.timeout).get(url)


def in_mode(mode: ReadingMode | None) -> Resources:
    """Return what the environment allows, with definitions read in *mode*."""
    return replace(Resources.from_environment(os.environ), mode=mode)


def is_web(uri: str) -> bool:
    """Tell whether *uri* names something that is fetched over HTTP."""
    return uri.lower().startswith(("http:", "https:"))


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.scheme == "classpath":
        # What SonataFlow's users write for "beside the definition".
        return unquote(parts.path.lstrip("/"))
    if parts.scheme == "":
        return unquote(uri)
    # file://functions.json names a host, but is how official examples write a file beside the definition.
    host = "" if parts.netloc == "localhost" else parts.netloc
    return unquote(host + parts.path)
