"""Calls functions that are written in Python. Section "Defining custom function types"."""

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.call import Call
from swf_temporal.functions.custom.arguments import bound, is_async
from swf_temporal.functions.custom.modules import Modules
from swf_temporal.functions.custom.outcomes import as_json, exceptions_as_faults
from swf_temporal.functions.custom.type import foreign_operation
from swf_temporal.functions.registry import Registry
from swf_temporal.settings.calls import Settings
from swf_temporal.text.suggestions import suggestion

_SERVICE = "service:python:"
"""SonataFlow's way to name a function: `service:python:module::function`."""


class Python:
    """Calls functions registered by name, and functions named `module:function`."""

    def __init__(self, custom: Mapping[str, Callable[..., Any]], settings: Settings, threads: Executor) -> None:
        self._custom = custom
        offered = custom.modules if isinstance(custom, Registry) else {}
        self._modules = Modules(offered, settings.modules or ())
        self._threads = threads

    async def perform(self, call: Call) -> JSON:
        """Return what the function returns. Raises CallFailed with the name of the exception that it raises."""
        function = self.find(call)
        positional, keywords = bound(call, function)
        return as_json(call, await self._result(function, positional, keywords))

    def find(self, call: Call) -> Callable[..., Any]:
        """Return the function that is called. Raises CallFailed if there is none, or if it may not be called.

        A function of the definition is looked for by its operation, then by its name.
        """
        operation = call.function.operation
        text = operation.strip() if isinstance(operation, str) else ""
        for name in (text, call.function.name):
            if name in self._custom:
                return self._custom[name]
        try:
            return self._referred(call, _reference(text))
        except CallFailed:
            foreign = foreign_operation(text)
            if foreign is None:
                raise
            what, instead = foreign
            raise permanent_failure("UnknownFunction", f"{what}: {instead}") from None

    async def _result(
        self, function: Callable[..., Any], positional: tuple[object, ...], keywords: Mapping[str, object]
    ) -> object:
        """Return what *function* returns, or all that it yields.

        One that is not async runs in a thread, so that it may block.
        """
        with exceptions_as_faults():
            if is_async(function):
                return await function(*positional, **keywords)
            context = contextvars.copy_context()
            result = await asyncio.get_running_loop().run_in_executor(
                self._threads, context.run, _in_thread, function, positional, keywords
            )
            if inspect.isasyncgen(result):
                return [item async for item in result]
            return await result if inspect.isawaitable(result) else result

    def _referred(self, call: Call, text: str) -> Callable[..., Any]:
        module_name, _, name = text.partition(":")
        if not module_name or not name:
            wanted, kind = text or call.function.name, call.function.type
            message = f"no custom function '{wanted}' is known{suggestion(wanted, self._custom)}"
            own = "" if kind == "custom" else f"; nor are there functions of the type '{kind}'"
            raise permanent_failure("UnknownFunction", message + own)
        return self._modules.find(module_name, name)


def _reference(operation: str) -> str:
    """Return `module:function` as an operation has it."""
    if operation.startswith(_SERVICE):
        return operation.removeprefix(_SERVICE).replace("::", ":", 1)
    return operation.removeprefix("python:")


def _in_thread(function: Callable[..., Any], positional: tuple[object, ...], keywords: Mapping[str, object]) -> object:
    try:
        result = function(*positional, **keywords)
        # The code of a generator runs as its items are taken: here, and not where the result is converted.
        return list(result) if inspect.isgenerator(result) else result
    except StopIteration as error:
        # A future cannot carry it: the caller would wait for ever.
        raise RuntimeError("the function raised StopIteration") from error
