"""Conversion of texts on the command line into values.

typer asks pydantic for that, and importing it takes longer than all else that `swf` does before a command begins. A
text, a path, a number or a word out of a few needs no pydantic. What is none of these, or is wrong, is left to typer,
which has the messages.
"""

from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup


class QuickCommand(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that for help among them."""
        return _quickened(super().get_params(ctx))


class QuickGroup(TyperGroup):
    """A group of commands whose own values are converted here."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, that for help among them."""
        return _quickened(super().get_params(ctx))


def _quickened(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        descriptor = getattr(parameter, "type_descriptor", None)
        # typer looks there first. A release of it that does not is as slow as this one would be.
        if descriptor is not None and getattr(parameter, "_runtime_param", parameter) is None:
            parameter._runtime_param = _Quick(descriptor)  # noqa: SLF001 - as above
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = _nothing  # help would have types of Python, such as `list[Path]`
    return parameters


def _nothing(ctx: Any) -> None:  # noqa: ARG001 - asked for by the library
    return None


class _Quick:
    def __init__(self, descriptor: Any) -> None:
        annotation = descriptor.annotation
        is_list = get_origin(annotation) is list
        self._kind = get_args(annotation)[0] if is_list else annotation
        info = descriptor.parameter_info
        self._least, self._most = getattr(info, "min", None), getattr(info, "max", None)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value that *value*, a text or a list of them, stands for."""
        is_many = param.multiple or param.nargs == -1
        if value is None:
            return () if is_many else None
        try:
            return [self._one(each) for each in value] if is_many else self._one(value)
        except ValueError:
            param._runtime_param = None  # noqa: SLF001 - as above: typer makes its own, and keeps it
            try:
                return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
            except typer.BadParameter as error:
                error.message = error.message.removeprefix("Value error, ")
                raise

    def _one(self, value: Any) -> Any:
        kind = self._kind
        if not isinstance(kind, type):
            raise ValueError  # noqa: TRY004 - whatever it is, it is typer's
        if isinstance(value, kind):
            return value
        if not isinstance(value, str):
            raise ValueError  # noqa: TRY004 - as above
        if issubclass(kind, (Enum, Path)):
            return kind(value)
        if kind is int and (self._least or 0) <= int(value) <= (int(value) if self._most is None else self._most):
            return int(value)
        raise ValueError
