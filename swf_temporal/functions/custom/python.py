"""Calls functions that are written in Python. Section "Defining custom function types".

Arguments are bound by the function's signature: names decide where they go, annotations their types. Everything that
depends on the function alone is cached.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.call import Call
from swf_temporal.functions.custom.modules import Modules
from swf_temporal.functions.custom.outcomes import as_json, exceptions_as_faults
from swf_temporal.functions.custom.type import foreign_operation
from swf_temporal.functions.registry import Registry
from swf_temporal.settings.calls import Settings
from swf_temporal.text.suggestions import suggestion

_MAX_SHOWN = 5
"""The number of errors reported at once."""


@dataclass(frozen=True)
class _Taken:
    is_async: bool
    signature: inspect.Signature | None = None
    """The signature; None for some functions written in C."""
    adapters: dict[str, TypeAdapter[Any]] = field(default_factory=dict)
    """Converters of JSON values to the types of annotations, by parameter."""

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        return list(self.signature.parameters.values()) if self.signature else []

    @cached_property
    def names(self) -> list[str]:
        return [parameter.name for parameter in self.parameters]

    @cached_property
    def by_keyword(self) -> frozenset[str]:
        """The names of the parameters that can be given by keyword."""
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return frozenset(parameter.name for parameter in self.parameters if parameter.kind in kinds)

    @cached_property
    def needed(self) -> frozenset[str]:
        """The names of the required parameters."""
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        given = (one for one in self.parameters if one.kind not in variable)
        return frozenset(one.name for one in given if one.default is inspect.Parameter.empty)

    @cached_property
    def extra(self) -> str:
        """The name of the parameter for all other keywords; empty if the function has none."""
        return next((one.name for one in self.parameters if one.kind is inspect.Parameter.VAR_KEYWORD), "")

    def fits(self, keywords: Mapping[str, object]) -> bool:
        """Return whether *keywords* alone obviously match the signature, so that they need not be bound."""
        return self.needed <= keywords.keys() <= self.by_keyword


def bound(call: Call, function: Callable[..., Any]) -> tuple[tuple[object, ...], Mapping[str, object]]:
    """Return the arguments of a call for *function*. Raises CallFailed if they do not match its signature.

    An object is passed as keywords, unless the function's only parameter is not among its names: then it is passed
    whole, like a text, a number or an array. Null means no argument.
    """
    taken = _remembered(function)
    positional: tuple[object, ...] = ()
    keywords: Mapping[str, object] = {}
    arguments = call.arguments
    if isinstance(arguments, dict) and not _takes_whole(taken, arguments):
        keywords = arguments
    elif arguments is not None:
        positional = (arguments,)
    if taken.signature is None:
        return positional, keywords
    try:
        if positional or not taken.fits(keywords):
            taken.signature.bind(*positional, **keywords)
    except TypeError as error:
        message = f"custom function '{call.function.name}' takes {taken.signature}: {error}"
        raise permanent_failure("BadArguments", message) from error
    return _converted(call, taken, positional, keywords)


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether *function* is a coroutine function."""
    return _remembered(function).is_async


def _converted(
    call: Call, taken: _Taken, positional: tuple[object, ...], keywords: Mapping[str, object]
) -> tuple[tuple[object, ...], Mapping[str, object]]:
    """Return the arguments converted by their annotations."""
    if not taken.adapters:
        return positional, keywords
    wrong: list[str] = []

    def convert(parameter: str, name: str, value: object) -> object:
        adapter = taken.adapters.get(parameter)
        if adapter is None:
            return value
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            wrong.extend(_mistakes(name, error))
            return None

    names = taken.names
    first = tuple(convert(names[0], names[0], value) for value in positional)
    named = {key: convert(key if key in names else taken.extra, key, value) for key, value in keywords.items()}
    if wrong:
        more = f"; and {len(wrong) - _MAX_SHOWN} more" if len(wrong) > _MAX_SHOWN else ""
        message = (
            f"custom function '{call.function.name}' cannot take its arguments: {'; '.join(wrong[:_MAX_SHOWN])}{more}"
        )
        raise permanent_failure("BadArguments", message)
    return first, named


def _mistakes(name: str, error: ValidationError) -> Iterator[str]:
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in one["loc"])
        yield f"{name}{place}: {one['msg']}"


def _takes_whole(taken: _Taken, arguments: dict[str, JSON]) -> bool:
    parameters = taken.parameters
    return (
        len(parameters) == 1
        and parameters[0].kind in {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        and (parameters[0].kind is inspect.Parameter.POSITIONAL_ONLY or parameters[0].name not in arguments)
    )


def _remembered(function: Callable[..., Any]) -> _Taken:
    try:
        return _looked_up(function)
    except TypeError:  # it cannot be hashed, and thus not be cached
        return _looked_up.__wrapped__(function)


@lru_cache(maxsize=1024)
def _looked_up(function: Callable[..., Any]) -> _Taken:
    """Return the signature of *function* and its converters, which are slow to determine."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return _Taken(inspect.iscoroutinefunction(function))
    return _Taken(inspect.iscoroutinefunction(function), signature, dict(_adapters(function, signature)))


def _adapters(function: Callable[..., Any], signature: inspect.Signature) -> Iterator[tuple[str, TypeAdapter[Any]]]:
    """Yield the converter of each annotated parameter.

    An annotation with names that do not exist at run time, or that pydantic does not support, is only documentation:
    such a parameter accepts anything, like one without an annotation.
    """
    try:
        signature = inspect.signature(function, eval_str=True)
    except Exception:  # noqa: BLE001 - annotations are code, and may raise anything
        return
    for parameter in signature.parameters.values():
        if parameter.annotation in (inspect.Parameter.empty, Any, object):
            continue
        try:
            adapter = TypeAdapter[Any](parameter.annotation)
        except (PydanticSchemaGenerationError, PydanticUserError, NameError):
            continue
        yield parameter.name, adapter


_SERVICE = "service:python:"
"""SonataFlow's prefix for functions: `service:python:module::function`."""


class Python:
    """Calls functions registered by name, and functions named `module:function`."""

    def __init__(self, custom: Mapping[str, Callable[..., Any]], settings: Settings, threads: Executor) -> None:
        self._custom = custom
        offered = custom.modules if isinstance(custom, Registry) else {}
        self._modules = Modules(offered, settings.modules or ())
        self._threads = threads

    async def perform(self, call: Call) -> JSON:
        """Return the function's result. Raises CallFailed with the name of the exception that it raises."""
        function = self.find(call)
        positional, keywords = bound(call, function)
        return as_json(call, await self._result(function, positional, keywords))

    def find(self, call: Call) -> Callable[..., Any]:
        """Return the function to call. Raises CallFailed if it does not exist, or may not be called.

        A function of the definition is looked up by its operation, then by its name.
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
        """Return the result of *function*, or a list of everything that it yields.

        A function that is not async runs in a thread, so that it may block.
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
    """Return `module:function` for an operation."""
    if operation.startswith(_SERVICE):
        return operation.removeprefix(_SERVICE).replace("::", ":", 1)
    return operation.removeprefix("python:")


def _in_thread(function: Callable[..., Any], positional: tuple[object, ...], keywords: Mapping[str, object]) -> object:
    try:
        result = function(*positional, **keywords)
        # A generator runs while its items are read: do so here, and not where the result is converted.
        return list(result) if inspect.isgenerator(result) else result
    except StopIteration as error:
        # A future cannot hold it: the caller would wait forever.
        raise RuntimeError("the function raised StopIteration") from error
