"""Parameters that several commands have in common, written once."""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeAlias

Command: TypeAlias = Callable[..., None]


def spread(parameter: str, made: Callable[..., Any], *, but: Collection[str] = ()) -> Callable[[Command], Command]:
    """Return a decorator of a command that puts the parameters of *made* in the place of one of its own.

    The command gets what *made* returns for their values there. Those in *but* it leaves out, with their defaults.
    """
    found = {name: one for name, one in inspect.signature(made).parameters.items() if name not in but}

    def decorated(command: Command) -> Command:
        @wraps(command)
        def with_all(**values: Any) -> None:
            given = {name: values.pop(name) for name in found}
            command(**{parameter: made(**given)}, **values)

        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(command).parameters.values():
            parameters += [one] if one.name != parameter else found.values()
        with_all.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        with_all.__annotations__ = {one.name: one.annotation for one in parameters}
        return with_all

    return decorated
