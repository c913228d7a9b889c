"""The documents that definitions may include, and their allowed origins."""

import os
import re
import stat
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias
from urllib.parse import unquote, urljoin, urlsplit

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import is_folder
from swf_temporal.text.origin import (
    DEFAULT_CATALOG,
    FROM_FOLDERS,
    ForbiddenResourceError,
    MissingResourceError,
    NoCatalogError,
    Resource,
    UnreadableResourceError,
)

_GITHUB: Final = re.compile(r"/(?P<repo>[^/]+/[^/]+?)(?:\.git)?/(?:tree|blob|raw)/(?P<ref>[^/]+)(?P<path>/.*)?")
_GITHUB_AT: Final = re.compile(r"/(?P<repo>[^/]+/[^/]+)(?P<path>/[^@]+)@(?P<ref>[^/@]+)")
_GITHUB_ROOT: Final = re.compile(r"/(?P<repo>[^/]+/[^/]+?)(?:\.git)?/?")
_GITLAB: Final = re.compile(r"(?P<before>.+)/-/(?:tree|blob)(?P<path>/.+)")
_FIXED: Final = re.compile(r"v?\d+(?:\.\d+)*(?:[-+].*)?|[0-9a-f]{40}|HEAD")
"""A tag with a version, or a commit: any other reference is taken as a branch."""


def raw(uri: str) -> str:
    """Return *uri*, or the URL of the raw content if it is a page of GitHub or GitLab."""
    try:
        parts = urlsplit(uri)
        host = (parts.hostname or "").lower()
    except ValueError:
        return uri
    if host in ("github.com", "www.github.com"):
        found = _GITHUB.fullmatch(parts.path) or _GITHUB_AT.fullmatch(parts.path)
        if found is None:
            whole = _GITHUB_ROOT.fullmatch(parts.path)
            return uri if whole is None else f"https://raw.githubusercontent.com/{whole['repo']}/HEAD"
        ref = found["ref"] if _FIXED.fullmatch(found["ref"]) else f"refs/heads/{found['ref']}"
        return f"https://raw.githubusercontent.com/{found['repo']}/{ref}{found['path'] or ''}"
    gitlab = _GITLAB.fullmatch(parts.path)
    if gitlab is not None:
        return f"{parts.scheme}://{parts.netloc}{gitlab['before']}/-/raw{gitlab['path']}"
    is_project = host == "gitlab.com" and "/-/" not in parts.path and "." not in parts.path.rpartition("/")[2]
    return f"{uri.rstrip('/')}/-/raw/HEAD" if is_project else uri


_HOSTS = "SWF_RESOURCE_HOSTS"
_AUTH = "SWF_RESOURCE_AUTH_"
_PATTERN = re.compile(r"(?:\*\.)?(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_ORDINARY = (80, 443)
_SECURE = 443


def hosts_in(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that the environment allows. Raises UsageError for invalid ones."""
    hosts = tuple(host.strip().lower() for host in env.get(_HOSTS, "").split(",") if host.strip())
    for host in hosts:
        if not _PATTERN.fullmatch(host):
            message = f"{_HOSTS} has {host!r}, which is not a host"
            raise UsageError(message, "write example.com, *.example.com or example.com:8080, with commas between")
    return hosts


def credentials_in(env: Mapping[str, str]) -> dict[str, str]:
    """Return the credentials in the environment, as headers, by the names of hosts in variables."""
    return {key.removeprefix(_AUTH): _header(key, value) for key, value in env.items() if key.startswith(_AUTH)}


def is_allowed(host: str, port: int, patterns: Iterable[str]) -> bool:
    """Return whether any of *patterns* matches *host*. A pattern without a port allows only 80 and 443."""
    return any(_matches(host.lower(), port, pattern) for pattern in patterns)


def variable_name(host: str, port: int) -> str:
    """Return *host* as in names of variables, with the port unless it is 443: EXAMPLE_COM for `example.com`."""
    name = host if port == _SECURE else f"{host}_{port}"
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def _matches(host: str, port: int, pattern: str) -> bool:
    name, colon, number = pattern.rpartition(":")
    if not colon or "]" in number:
        name, number = pattern, ""
    if not (port == int(number) if number else port in _ORDINARY):
        return False
    name = name.strip("[]")
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def _header(key: str, value: str) -> str:
    value = value.strip()
    if value.lower().startswith("bearer ") and value.isascii() and value.isprintable():
        return f"Bearer {value[7:].strip()}"
    if ":" in value:
        return f"Basic {b64encode(value.encode()).decode()}"
    raise UsageError(f"{key} is neither user:password nor 'Bearer' and a token")


LIMIT = 2 * 1024 * 1024
"""The maximum size of a document, in bytes: every run carries all of it."""

TOO_LARGE = "it is larger than 2 MiB"


def read_file(path: Path, folders: Iterable[Path]) -> Resource:
    """Return the file at *path*. Links are followed first: the real place of the file counts.

    The errors do not reveal whether a forbidden file exists.
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
            raise UnreadableResourceError(f"the folder {inside} does not exist") from None
        raise MissingResourceError from None
    except OSError as error:
        raise UnreadableResourceError(error.strerror or str(error)) from None
    if len(content) > LIMIT:
        raise UnreadableResourceError(TOO_LARGE)
    return Resource(str(path), content)


ReadingMode: TypeAlias = Literal["sonataflow"]


def reading_mode(name: str | None) -> ReadingMode | None:
    """Return the mode *name*, or None without a name. Raises UsageError if there is no such mode."""
    if name not in (None, "", "sonataflow"):
        raise UsageError(f"there is no mode {name!r}", "there is sonataflow")
    return "sonataflow" if name else None


@dataclass(frozen=True, slots=True)
class Resources:
    """The documents that the operator allows definitions to read, besides those in their own folders."""

    folders: tuple[Path, ...] = ()
    """Folders whose files may be read, including subfolders."""
    hosts: tuple[str, ...] = ()
    """Hosts that may be called: `example.com`, `*.example.com` for its subdomains, `example.com:8080`."""
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of the header Authorization, by the names that `hosts.variable_name` gives to hosts."""
    timeout: timedelta = timedelta(seconds=10)
    """The time limit of fetching one document."""
    catalog: str | None = None
    """The folder or the URL of the default catalog of functions."""
    mode: ReadingMode | None = None
    """The runtime whose behaviour definitions are read and run with; None means the specification's."""

    @classmethod
    def from_environment(cls, env: Mapping[str, str], folders: Iterable[Path] = ()) -> Self:
        """Return the resources that variables named `SWF_RESOURCE_…` allow, and *folders*.

        `SWF_RESOURCE_FOLDERS` is a list with colons, `SWF_RESOURCE_HOSTS` one with commas, and
        `SWF_RESOURCE_AUTH_<HOST>` is `user:password` or `Bearer …`; `SWF_RESOURCE_CATALOG` is a folder or a URL, and
        `SWF_MODE` the mode. Raises UsageError for invalid values.
        """
        named = (Path(name) for name in env.get("SWF_RESOURCE_FOLDERS", "").split(":") if name.strip())
        return cls(
            (*named, *folders),
            hosts_in(env),
            credentials_in(env),
            catalog=env.get("SWF_RESOURCE_CATALOG", "").strip() or None,
            mode=reading_mode(env.get("SWF_MODE")),
        )

    def fetch(self, uri: str, base: Path | str | None = None) -> Resource:
        """Return the document *uri*, which may be relative to *base*: a folder, or the URL of a definition.

        Raises MissingResourceError, ForbiddenResourceError or UnreadableResourceError.
        """
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise UnreadableResourceError(f"it is not a URI ({error})") from None
        if uri.startswith(DEFAULT_CATALOG):
            return self._of_catalog(uri.removeprefix(DEFAULT_CATALOG))
        if is_web(uri):
            return self._get(uri)
        if parts.scheme == "" and isinstance(base, str):
            return self._get(urljoin(base, uri))
        if parts.scheme not in ("", "file", "classpath"):
            raise ForbiddenResourceError(
                f"and '{parts.scheme}:' is not a way to get documents", "use a path, or https:"
            )
        return self._read(Path(_path(uri)), base if isinstance(base, Path) else None)

    def _of_catalog(self, path: str) -> Resource:
        if self.catalog is None:
            raise NoCatalogError
        if is_web(self.catalog):
            return self._get(f"{raw(self.catalog).rstrip('/')}/{path}")
        folder = Path(self.catalog)
        return read_file(folder / unquote(path), (folder,))

    def _read(self, path: Path, folder: Path | None) -> Resource:
        if folder is None and not path.is_absolute():
            raise MissingResourceError
        own = () if folder is None else (folder,)
        return read_file(path if folder is None else folder / path, (*own, *self.folders))

    def _get(self, url: str) -> Resource:
        # Most definitions do not name documents on the web, and need not wait for the import of an HTTP client.
        from swf_temporal.text.fetching.web import Web  # noqa: PLC0415 - heavy

        return Web(self.hosts, self.credentials, self.timeout).get(url)


def in_mode(mode: ReadingMode | None) -> Resources:
    """Return the resources that the environment allows, with *mode*."""
    return replace(Resources.from_environment(os.environ), mode=mode)


def is_web(uri: str) -> bool:
    """Return whether *uri* names something that is fetched over HTTP."""
    return uri.lower().startswith(("http:", "https:"))


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.scheme == "classpath":
        # SonataFlow's users write this for a file beside the definition.
        return unquote(parts.path.lstrip("/"))
    if parts.scheme == "":
        return unquote(uri)
    # file://functions.json names a host, but is how official examples write a file beside the definition.
    host = "" if parts.netloc == "localhost" else parts.netloc
    return unquote(host + parts.path)
