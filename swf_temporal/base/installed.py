"""Objects that installed packages offer by entry points, besides functions, and that settings name."""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from swf_temporal.base.errors import UsageError

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
