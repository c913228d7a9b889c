"""Imports of what is named by values: modules, and the objects that installed packages offer by entry points."""

from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from swf_temporal.base.errors import MissingExtra, UsageError, permanent_failure

SECRET_PROVIDERS = "swf_temporal.secret_providers"  # noqa: S105 - the name of a group
EVENT_SOURCES = "swf_temporal.event_sources"
EVENT_SINKS = "swf_temporal.event_sinks"
_WORDS = {SECRET_PROVIDERS: "secret provider", EVENT_SOURCES: "source of events", EVENT_SINKS: "sink of events"}


def offered(group: str, name: str, method: str) -> Any:
    """Return what an installed package offers as *name* in *group*, which has the *method*; a class is instantiated.

    Raises UsageError if none does, or several do, or it cannot be loaded.
    """
    what, points = _WORDS[group], entry_points(group=group)
    found = {(one.value, one.dist.name if one.dist else ""): one for one in points if one.name == name}
    if not found:
        known = ", ".join(sorted({one.name for one in points})) or "nothing"
        hint = f"installed packages offer {known} by the entry points {group}"
        raise UsageError(f"no installed package offers the {what} {name!r}", hint)
    if len(found) > 1:
        both = " and ".join(sorted(f"{package} ({value})" for value, package in found))
        raise UsageError(f"several packages offer the {what} {name!r}: {both}", "uninstall the others")
    [point] = found.values()
    made = _loaded(point, what)
    if not callable(getattr(made, method, None)):
        raise UsageError(f"the {what} {name!r} ({point.value}) has no method {method!r}")
    return made


def _loaded(point: EntryPoint, what: str) -> Any:
    try:
        value = point.load()
        return value() if isinstance(value, type) else value
    except (Exception, SystemExit) as error:
        why = error.message if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"the {what} {point.name!r} ({point.value}) cannot be loaded: {why}") from error


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
