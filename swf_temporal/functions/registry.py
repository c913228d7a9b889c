"""The registry of Python functions that workflows call by name, and of custom function types."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any, TypeVar, overload

from swf_temporal.base.arguments import check_kind, check_text, kind_of
from swf_temporal.base.errors import UsageError

if TYPE_CHECKING:
    from swf_temporal.functions.port import FunctionType

Handler = TypeVar("Handler", bound=Callable[..., Any])
Kind = TypeVar("Kind", bound="type[FunctionType] | FunctionType")
T = TypeVar("T")
Resource = Callable[[], AbstractAsyncContextManager[T] | AbstractContextManager[T]]


class Registry(dict[str, Callable[..., Any]]):
    """Custom functions by name, and custom function types, for a worker.

        registry = Registry()

        @registry.custom("greet")
        def greet(name: str) -> str:
            return f"Hello, {name}!"

    It is also a mapping from names to functions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.types: dict[str, type[FunctionType] | FunctionType] = {}
        """The performers of custom types: an object, or a class that a worker instantiates."""
        self.resources: list[Resource[Any]] = []
        """The resources that are opened when a worker begins, and closed when it ends."""
        self.modules: dict[str, dict[str, Callable[..., Any]]] = {}
        """The functions that each module offers, by their names there, for `module:function`."""

    @overload
    def custom(self, name: str | None = None) -> Callable[[Handler], Handler]: ...

    @overload
    def custom(self, name: Handler) -> Handler: ...

    def custom(self, name: Any = None) -> Any:
        """Register the decorated function under *name*, or its own name, for workflows; it is returned unchanged."""
        if callable(name):
            return self.custom(None)(name)
        check_text("the name of a custom function", name)
        given: str | None = name

        def register(handler: Handler) -> Handler:
            name = given or getattr(handler, "__name__", None)
            if not callable(handler):
                raise UsageError(f"a custom function must be callable, and {handler!r} is {kind_of(handler)}")
            if not isinstance(name, str) or name == "<lambda>":
                raise UsageError(f"{handler!r} has no name", "give it one, as in registry.custom('price')(…)")
            if name in self:
                raise UsageError(f"there is a custom function '{name}' already")
            self[name] = handler
            return handler

        return register

    def type(self, name: str) -> Callable[[Kind], Kind]:
        """Register the decorated class, or the object, for functions of the type *name*.

        It has `async def perform(call)`. Each worker instantiates a class without arguments when it begins, and closes
        it when it ends; an object belongs to the program.
        """
        from swf_temporal.base.function_types import TYPES  # noqa: PLC0415 - most registries have no types

        check_text("the name of a function type", name)

        def register(kind: Kind) -> Kind:
            if name in TYPES:
                raise UsageError(f"the type '{name}' is reserved", "choose another name")
            if name in self.types:
                raise UsageError(f"the function type '{name}' is already registered")
            if not iscoroutinefunction(getattr(kind, "perform", None)):
                raise UsageError(f"the function type '{name}' must have `async def perform(call)`")
            self.types[name] = kind
            return kind

        return register

    def resource(self, opening: Resource[T]) -> Resource[T]:
        """Have each worker open, and close at its end, the context manager that the decorated function returns.

        It may be async or not. Functions get the value that it yields by `current_resource(opening)`.
        """
        if not callable(opening):
            kind = kind_of(opening)
            raise UsageError(f"a resource is a function that returns a context manager, and {opening!r} is {kind}")
        if isgeneratorfunction(opening) or isasyncgenfunction(opening) or iscoroutinefunction(opening):
            name = "contextmanager" if isgeneratorfunction(opening) else "asynccontextmanager"
            message = f"the resource {opening.__name__!r} does not return a context manager"
            raise UsageError(message, f"let it yield once, and write @{name} of contextlib right above it")
        self.resources.append(opening)
        return opening

    def include(self, other: "Registry") -> None:
        """Add what *other* offers; it overrides existing entries of the same names."""
        check_kind("what a registry includes", other, Registry)
        self.update(other)
        self.types.update(other.types)
        self.resources += [one for one in other.resources if one not in self.resources]
        for module, functions in other.modules.items():
            self.modules.setdefault(module, {}).update(functions)
