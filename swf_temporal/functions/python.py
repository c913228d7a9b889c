"""How is a function called that is written in Python? Section "Defining custom function types"."""

import asyncio
import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call, did_you_mean, refusal
from swf_temporal.functions.settings import Settings


class Python:
    """Calls functions registered by name, and functions named `module:function`."""

    def __init__(self, custom: Mapping[str, Callable[..., Any]], settings: Settings) -> None:
        self._custom = custom
        self._settings = settings

    async def perform(self, call: Call) -> JSON:
        """Return what the function returns. Raises CallFailed with the name of the exception that it raises.

        A function of the definition is looked for by its operation, then by its name. A word as `type` that
        the specification does not know names the function that carries out all of that type; it is given the
        Call.
        """
        operation = call.function.operation
        text = operation.strip() if isinstance(operation, str) else ""
        for name in (text, call.function.name):
            if name in self._custom:
                return await _run(call, self._custom[name])
        if call.function.type in self._custom:
            return _as_json(call, await _result(self._custom[call.function.type], (call,), {}))
        return await _run(call, self._imported(call, text.removeprefix("python:")))

    def _imported(self, call: Call, text: str) -> Callable[..., Any]:
        module_name, _, name = text.partition(":")
        if not module_name or not name:
            wanted = text or call.function.name
            raise refusal(
                "UnknownFunction",
                f"no custom function '{wanted}' is known{did_you_mean(wanted, self._custom)}",
            )
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
        allowed = self._settings.modules
        if allowed is None or any(f"{module_name}.".startswith(f"{name}.") for name in allowed):
            return
        message = f"functions may not come from the module '{module_name}' (see SWF_FUNCTION_MODULES)"
        raise refusal("UnknownFunction", message)


async def _run(call: Call, function: Callable[..., Any]) -> JSON:
    positional, keywords = _bound(call, function)
    return _as_json(call, await _result(function, positional, keywords))


async def _result(function: Callable[..., Any], positional: tuple[object, ...], keywords: dict[str, JSON]) -> object:
    """Return what *function* returns; one that is not async runs in a thread, so that it may block."""
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*positional, **keywords)
        result = await asyncio.to_thread(_in_thread, function, positional, keywords)
        return await result if inspect.isawaitable(result) else result
    except CallFailed:
        raise
    except (Exception, SystemExit) as error:
        name = type(error).__name__
        raise CallFailed(str(error) or name, name=name, code=name, cause=name) from error


def _in_thread(function: Callable[..., Any], positional: tuple[object, ...], keywords: dict[str, JSON]) -> object:
    try:
        return function(*positional, **keywords)
    except StopIteration as error:
        # A future cannot carry it: the caller would wait for ever.
        raise RuntimeError("the function raised StopIteration") from error


def _bound(call: Call, function: Callable[..., Any]) -> tuple[tuple[JSON, ...], dict[str, JSON]]:
    """Return the arguments of a call as Python's.

    An object is passed by keywords, except to a function whose only parameter it does not name: that takes
    the object as it is, as it would take a text, a number or an array. Null is no argument at all.
    """
    try:
        signature = _signature(function)
    except TypeError:  # it cannot be hashed, and so not be remembered
        signature = _signature.__wrapped__(function)
    positional: tuple[JSON, ...] = ()
    keywords: dict[str, JSON] = {}
    arguments = call.arguments
    if isinstance(arguments, dict) and not (signature and _takes_whole(signature, arguments)):
        keywords = arguments
    elif arguments is not None:
        positional = (arguments,)
    if signature:
        try:
            signature.bind(*positional, **keywords)
        except TypeError as error:
            message = f"custom function '{call.function.name}' takes {signature}: {error}"
            raise refusal("BadArguments", message) from error
    return positional, keywords


@lru_cache(maxsize=1024)
def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return what *function* takes. Looking is slow, and the same function is called again and again."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None  # some functions written in C do not say what they take


def _takes_whole(signature: inspect.Signature, arguments: dict[str, JSON]) -> bool:
    parameters = list(signature.parameters.values())
    return (
        len(parameters) == 1
        and parameters[0].kind in {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        and (parameters[0].kind is inspect.Parameter.POSITIONAL_ONLY or parameters[0].name not in arguments)
    )


def _as_json(call: Call, result: object) -> JSON:
    try:
        value: JSON = to_jsonable_python(result)
        json.dumps(value, allow_nan=False)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        message = f"custom function '{call.function.name}' returned a {type(result).__name__}, not JSON: {error}"
        raise refusal("NotJSON", message) from error
    return value
