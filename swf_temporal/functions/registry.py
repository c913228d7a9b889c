"""The registry of Python functions that workflows call by name, and of types of functions that users add."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from swf_temporal.function_types import TYPES
from swf_temporal.functions.port import FunctionType

Handler = TypeVar("Handler", bound=Callable[..., Any])
Kind = TypeVar("Kind", bound="type[FunctionType] | FunctionType")


class Registry(dict[str, Callable[..., Any]]):
    """Custom functions by name, and types of functions, to be given to a worker.

    registry = Registry()

    @registry.custom("greet")
    def greet(name: str) -> str:
        return f"Hello, {name}!"
    """

    def __init__(self) -> None:
        super().__init__()
        self.types: dict[str, FunctionType] = {}
        """What carries out the functions of each type."""
        self.modules: dict[str, dict[str, Callable[..., Any]]] = {}
        """What each module offers, by the names that it has there: what `module:function` may name."""

    def custom(self, name: str) -> Callable[[Handler], Handler]:
        """Make the decorated function the one that workflows call *name*; it stays usable as it is."""

        def register(handler: Handler) -> Handler:
            if name in self:
                raise ValueError(f"there is a custom function '{name}' already")
            self[name] = handler
            return handler

        return register

    def type(self, name: str) -> Callable[[Kind], Kind]:
        """Make the decorated class, or the object, the one that carries out functions of the type *name*.

        It has `async def perform(call)`. A class is instantiated without arguments.
        """

        def register(kind: Kind) -> Kind:
            if name in TYPES:
                raise ValueError(f"the type '{name}' has a meaning already: choose another word")
            if name in self.types:
                raise ValueError(f"there is a function type '{name}' already")
            self.types[name] = _made(name, kind)
            return kind

        return register

    def include(self, other: "Registry") -> None:
        """Take over what *other* offers; it wins over what is here under the same names."""
        self.update(other)
        self.types.update(other.types)
        for module, functions in other.modules.items():
            self.modules.setdefault(module, {}).update(functions)


def _made(name: str, kind: object) -> FunctionType:
    made = kind() if isinstance(kind, type) else kind
    if not isinstance(made, FunctionType) or not inspect.iscoroutinefunction(made.perform):
        raise TypeError(f"what carries out the function type '{name}' must have `async def perform(call)`")
    return made
