"""The Python functions that `module:function` may name.

A definition can come with the input of a workflow, from anyone who may start one. So a name reaches what the operator
has named, and nothing else that happens to be installed: modules that a worker is given, or that installed packages
offer, with what they offer; and packages that its settings list, with the public functions that are defined in them.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from swf_temporal.base.errors import permanent_failure
from swf_temporal.text.suggestions import suggestion

_Functions = Mapping[str, Callable[..., Any]]


class Modules:
    """The modules whose functions may be named."""

    def __init__(self, offered: Mapping[str, _Functions], allowed: Iterable[str]) -> None:
        self._offered = offered
        self._allowed = tuple(allowed)

    def find(self, module_name: str, name: str) -> Callable[..., Any]:
        """Return the function *name* of a module. Raises CallFailed, saying what is missing or has to be named."""
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
        """Tell whether *value* is a public function of *module*, and not one that it merely uses."""
        if not callable(value):
            return False
        if name in getattr(module, "__all__", ()):
            return True
        home = getattr(value, "__module__", None)
        return not name.startswith("_") and isinstance(home, str) and is_in(home, self._allowed)


def is_in(module_name: str, packages: Iterable[str]) -> bool:
    return any(f"{module_name}.".startswith(f"{name}.") for name in packages)
