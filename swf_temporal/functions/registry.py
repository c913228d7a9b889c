"""Which Python functions may workflows call by name?"""

from collections.abc import Callable
from typing import Any, TypeVar

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Registry(dict[str, Callable[..., Any]]):
    """Custom functions by name, to be given to a worker.

    registry = Registry()

    @registry.custom("greet")
    def greet(name: str) -> str:
        return f"Hello, {name}!"
    """

    def custom(self, name: str) -> Callable[[Handler], Handler]:
        """Make the decorated function the one that workflows call *name*; it stays usable as it is."""

        def register(handler: Handler) -> Handler:
            if name in self:
                raise ValueError(f"there is a custom function '{name}' already")
            self[name] = handler
            return handler

        return register
