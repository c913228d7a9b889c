"""Imports of modules whose names are values."""

from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from swf_temporal.base.errors import MissingExtra, permanent_failure


def module_named(name: str) -> ModuleType:
    """Return the module *name*, as an import statement does.

    `importlib.import_module` bypasses the SDK's sandbox: it runs the module once more, even if imports are passed
    through, and its classes are not the worker's.
    """
    return __import__(name, fromlist=("__name__",))


def optional(module: str, extra: str, what: str) -> Any:
    """Return *module*, which *extra* installs for *what*. Raises CallFailed if it is not installed."""
    try:
        return module_named(module)
    except ImportError as error:
        raise permanent_failure("NotInstalled", MissingExtra(extra, what, error.name or module).line) from error


PORTS = {"http": 80, "https": 443}
MAX_PORT = 65535


class Origin(NamedTuple):
    """A server, for the purpose of credentials: those of one must not be sent to another."""

    scheme: str
    host: str
    port: int


def read_origin(url: str) -> Origin:
    """Return the origin of *url*, with the port that its scheme implies. Raises ValueError if it is not a URL."""
    parts = urlsplit(url)
    return Origin(parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0))


def origin_of(url: str) -> Origin:
    """Return the origin of *url*; if it is not a URL, an origin that no server has."""
    try:
        return read_origin(url)
    except ValueError:
        return Origin("", url, 0)
