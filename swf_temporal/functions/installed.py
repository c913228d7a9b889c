"""Functions, and types of functions, that installed packages offer.

A package offers them by entry points. A worker finds them without being told the name of the package.
"""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from swf_temporal.base.errors import UsageError
from swf_temporal.base.grammar import with_article
from swf_temporal.functions.custom.modules import is_in
from swf_temporal.functions.registry import Registry

FUNCTIONS = "swf_temporal.functions"
TYPES = "swf_temporal.function_types"


def installed(modules: tuple[str, ...] | None = None) -> Registry:
    """Return what installed packages offer, from *modules* and what is in them, or from everywhere.

    Raises UsageError for what cannot be loaded: a worker that lacks a function would fail, for good, the instances
    that call it.
    """
    found = Registry()
    owners: dict[tuple[str, str], EntryPoint] = {}
    for group in (FUNCTIONS, TYPES):
        for point in sorted(entry_points(group=group), key=_origin):
            if modules is not None and not is_in(point.module, modules):
                continue
            offered = _offered(point)
            for key in [(FUNCTIONS, name) for name in offered] + [(TYPES, name) for name in offered.types]:
                if key in owners:
                    both = f"{_origin(owners[key])} and {_origin(point)}"
                    raise UsageError(f"'{key[1]}' is offered by {both}", "name one of them in SWF_FUNCTION_MODULES")
                owners[key] = point
            found.include(offered)
    return found


def offered_by(module: ModuleType, name: str | None = None) -> Registry:
    """Return what *module* offers: what its registries hold or, without any, its public functions by their names.

    `module:function` names the same functions, by the name of the module, or by *name*.
    """
    offered = Registry()
    registries = [value for value in vars(module).values() if isinstance(value, Registry)]
    for registry in registries:
        offered.include(registry)
    if not registries:
        offered.update(_public(module))
    own = {id(value) for value in offered.values()}
    by_attribute = {key: value for key, value in vars(module).items() if id(value) in own}
    offered.modules[name or module.__name__] = {**by_attribute, **offered}
    return offered


def _offered(point: EntryPoint) -> Registry:
    try:
        return _read(point)
    except (Exception, SystemExit) as error:
        why = error.message if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
        message = f"{_origin(point)} cannot be loaded: {why}"
        raise UsageError(message, "mend or uninstall it, or leave it out of SWF_FUNCTION_MODULES") from error


def _read(point: EntryPoint) -> Registry:
    value = point.load()
    if isinstance(value, Registry):
        return value
    if isinstance(value, ModuleType):
        return offered_by(value)
    offered = Registry()
    if point.group == TYPES:
        offered.type(point.name)(value)
    elif callable(value):
        offered.custom(point.name)(value)
        offered.modules[point.module] = {point.attr: value}
    else:
        raise TypeError(f"it is {with_article(type(value).__name__)}, not a function, module or registry")
    return offered


def _public(module: ModuleType) -> dict[str, Callable[..., Any]]:
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }


def _origin(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "an unknown package"
    return f"the entry point '{point.name}' ({point.value}) of {package}"
