"""How is a function called that is written in Python? Section "Defining custom function types"."""

import asyncio
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call, did_you_mean, refusal
from swf_temporal.functions.custom.arguments import bound
from swf_temporal.functions.custom.outcomes import as_json, raised
from swf_temporal.functions.operator.settings import Settings

_SERVICE = "service:python:"
"""SonataFlow's way to name a function: `service:python:module::function`."""


class Python:
    """Calls functions registered by name, and functions named `module:function`."""

    def __init__(self, custom: Mapping[str, Callable[..., Any]], settings: Settings) -> None:
        self._custom = custom
        self._settings = settings

    async def perform(self, call: Call) -> JSON:
        """Return what the function returns. Raises CallFailed with the name of the exception that it raises.

        A function of the definition is looked for by its operation, then by its name.
        """
        operation = call.function.operation
        text = operation.strip() if isinstance(operation, str) else ""
        for name in (text, call.function.name):
            if name in self._custom:
                return await _run(call, self._custom[name])
        return await _run(call, self._imported(call, _reference(text)))

    def _imported(self, call: Call, text: str) -> Callable[..., Any]:
        module_name, _, name = text.partition(":")
        if not module_name or not name:
            wanted, kind = text or call.function.name, call.function.type
            message = f"no custom function '{wanted}' is known{did_you_mean(wanted, self._custom)}"
            own = "" if kind == "custom" else f"; and nothing here carries out functions of the type '{kind}'"
            raise refusal("UnknownFunction", message + own)
        self._check_allowed(module_name)
        try:
            module = importlib.import_module(module_name)
        except Exception as error:
            message = f"the module '{module_name}' cannot be imported: {type(error).__name__}: {error}"
            raise refusal("UnknownFunction", message) from error
        function: Callable[..., Any] | None = getattr(module, name, None)
        if not callable(function):
            known = (key for key, value in vars(module).items() if callable(value))
            message = f"the module '{module_name}' has no function '{name}'{did_you_mean(name, known)}"
            raise refusal("UnknownFunction", message)
        return function

    def _check_allowed(self, module_name: str) -> None:
        if not is_allowed(module_name, self._settings.modules):
            message = f"functions may not come from the module '{module_name}' (see SWF_FUNCTION_MODULES)"
            raise refusal("UnknownFunction", message)


def is_allowed(module_name: str, allowed: tuple[str, ...] | None) -> bool:
    """Tell whether functions may come from a module: it, or a package that it is in, is among those *allowed*."""
    return allowed is None or any(f"{module_name}.".startswith(f"{name}.") for name in allowed)


def _reference(operation: str) -> str:
    """Return `module:function` as an operation has it."""
    if operation.startswith(_SERVICE):
        return operation.removeprefix(_SERVICE).replace("::", ":", 1)
    return operation.removeprefix("python:")


async def _run(call: Call, function: Callable[..., Any]) -> JSON:
    positional, keywords = bound(call, function)
    return as_json(call, await _result(function, positional, keywords))


async def _result(
    function: Callable[..., Any], positional: tuple[object, ...], keywords: Mapping[str, object]
) -> object:
    """Return what *function* returns; one that is not async runs in a thread, so that it may block."""
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*positional, **keywords)
        result = await asyncio.to_thread(_in_thread, function, positional, keywords)
        return await result if inspect.isawaitable(result) else result
    except (Exception, SystemExit) as error:
        raise raised(error) from error


def _in_thread(function: Callable[..., Any], positional: tuple[object, ...], keywords: Mapping[str, object]) -> object:
    try:
        return function(*positional, **keywords)
    except StopIteration as error:
        # A future cannot carry it: the caller would wait for ever.
        raise RuntimeError("the function raised StopIteration") from error
