"""The Python functions that `module:function` may name.

A definition can come with the input of a workflow, from any client that may start one. So a name only reaches what the
operator has allowed, and nothing else that happens to be installed: what is offered by modules that a worker is given
or by installed packages; and the public functions defined in packages that its settings list.

A package offers functions by entry points, which a worker finds without the name of the package.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from swf_temporal.base.errors import UsageError, permanent_failure
from swf_temporal.base.grammar import with_article
from swf_temporal.functions.registry import Registry
from swf_temporal.text.suggestions import suggestion

_Functions = Mapping[str, Callable[..., Any]]


class Modules:
    """The modules whose functions may be named."""

    def __init__(self, offered: Mapping[str, _Functions], allowed: Iterable[str]) -> None:
        self._offered = offered
        self._allowed = tuple(allowed)

    def find(self, module_name: str, name: str) -> Callable[..., Any]:
        """Return the function *name* of a module. Raises CallFailed, saying what is missing or has to be allowed."""
        offered = self._offered.get(module_name, {})
        if name in offered:
            return offered[name]
        if is_in(module_name, self._allowed):
            return self._imported(module_name, name)
        if module_name in self._offered:
            message = f"the module '{module_name}' has no function '{name}'{suggestion(name, offered)}"
            raise permanent_failure("UnknownFunction", message)
        message = (
            f"'{module_name}:{name}' may not be called here, as the worker was not given the module '{module_name}': "
            f"start it with --functions {module_name}, or list the module in SWF_FUNCTION_MODULES"
        )
        raise permanent_failure("UnknownFunction", message)

    def _imported(self, module_name: str, name: str) -> Callable[..., Any]:
        try:
            module = importlib.import_module(module_name)
        except Exception as error:
            message = f"the module '{module_name}' cannot be imported: {type(error).__name__}: {error}"
            raise permanent_failure("UnknownFunction", message) from error
        function: Callable[..., Any] | None = getattr(module, name, None)
        if not callable(function):
            known = (key for key, value in vars(module).items() if self._offers(module, key, value))
            message = f"the module '{module_name}' has no function '{name}'{suggestion(name, known)}"
            raise permanent_failure("UnknownFunction", message)
        if not self._offers(module, name, function):
            message = (
                f"'{module_name}:{name}' may not be called here: it is private, or comes from a module that "
                f"SWF_FUNCTION_MODULES does not list; the module '{module_name}' may offer it by its __all__"
            )
            raise permanent_failure("UnknownFunction", message)
        return function

    def _offers(self, module: ModuleType, name: str, value: object) -> bool:
        """Return whether *value* is a public function of *module*, and not one that it merely uses."""
        if not callable(value):
            return False
        if name in getattr(module, "__all__", ()):
            return True
        home = getattr(value, "__module__", None)
        return not name.startswith("_") and isinstance(home, str) and is_in(home, self._allowed)


def is_in(module_name: str, packages: Iterable[str]) -> bool:
    return any(f"{module_name}.".startswith(f"{name}.") for name in packages)


FUNCTIONS = "swf_temporal.functions"
TYPES = "swf_temporal.function_types"


def installed(modules: tuple[str, ...] | None = None) -> Registry:
    """Return what installed packages offer, from *modules* and their content, or from everywhere.

    Raises UsageError for what cannot be loaded: a worker that lacks a function would permanently fail the instances
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
    """Return what *module* offers: the content of its registries or, without any, its public functions by their names.

    `module:function` refers to the same functions, by the name of the module, or by *name*.
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
        raise UsageError(message, "fix or uninstall it, or leave it out of SWF_FUNCTION_MODULES") from error


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
