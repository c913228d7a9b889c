"""Command line options for settings, each generated from the field of the setting.

They are used by the commands that run until they are stopped, which have an option for many settings.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from itertools import pairwise
from textwrap import dedent
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeAlias, Union, get_args, get_origin

import typer
from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

from swf_temporal.cli.options import Command, not_empty, spread
from swf_temporal.settings.configuration import Section
from swf_temporal.settings.forms import WHOLE
from swf_temporal.settings.values import Option

Given: TypeAlias = Mapping[str, Any]
"""The given values of a section's settings, by name; None means not given."""

_SENTENCE: Final = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


def taking(parameter: str, section: type[Section], *names: str) -> Callable[[Command], Command]:
    """Return a decorator that replaces *parameter* of a command, a `Given`, by options.

    The options are those of all settings in *section*, or of those in *names*.
    """
    found = {name: option for name, option in options_of(section) if not names or name in names}
    assert not names or found.keys() == set(names)  # noqa: S101 - a mistake of the developer, found at import

    def given(**values: Any) -> Given:
        return values

    given.__signature__ = inspect.Signature([*found.values()])  # type: ignore[attr-defined]  # `spread` reads it
    return spread(parameter, given)


def options_of(section: type[Section]) -> Iterator[tuple[str, inspect.Parameter]]:
    """Yield the settings of *section* that are options: their names, and the parameters of commands for them."""
    texts = _docstrings(section)
    for name, field in section.model_fields.items():
        option = next((one for one in field.metadata if isinstance(one, Option)), None)
        if option is not None:
            kind: Any = Annotated[_typed(field) | None, _option(name, field, option, texts.get(name, ""))]
            yield name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def _typed(field: FieldInfo) -> Any:
    """Return the type that typer parses an option as; strings are parsed by the setting itself."""
    kind, said = _parts(field.annotation, field.metadata)
    is_kind = isinstance(kind, type)
    return kind if is_kind and (kind is bool or WHOLE in said or issubclass(kind, Enum)) else str


def _option(name: str, field: FieldInfo, option: Option, text: str) -> Any:
    kind, said = _parts(field.annotation, field.metadata)
    is_read = any(isinstance(one, BeforeValidator) for one in said)  # then it has its own error message
    shown = option.default or (None if field.default in (None, ()) else str(field.default))
    sentence = _SENTENCE.match(text)
    return typer.Option(
        option.name or f"--{name.replace('_', '-')}",
        metavar=option.metavar,
        min=next((one.ge for one in said if hasattr(one, "ge")), None),
        max=next((one.le for one in said if hasattr(one, "le")), None),
        callback=not_empty if kind is str and not is_read else None,
        show_default=shown if kind is not bool and shown else False,
        help=" ".join(sentence[0].replace("`", "").split()) if sentence else "",
    )


def _parts(annotation: Any, said: list[Any]) -> tuple[Any, list[Any]]:
    """Return the type of a setting without None, and its metadata."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _parts(inner, [*said, *(part for one in more for part in getattr(one, "metadata", [one]))])
    if get_origin(annotation) in (Union, UnionType):
        kinds = [one for one in get_args(annotation) if one is not NoneType]
        return _parts(kinds[0], said) if len(kinds) == 1 else (annotation, said)
    return annotation, said


def _docstrings(section: type[Section]) -> dict[str, str]:
    """Return the docstrings of the fields of *section*; empty if its source is missing."""
    found: dict[str, str] = {}
    for one in reversed(section.__mro__):
        if issubclass(one, Section):
            try:
                [defined] = ast.parse(dedent(inspect.getsource(one))).body
            except OSError:
                continue
            assert isinstance(defined, ast.ClassDef)  # noqa: S101 - for the type checker
            for field, text in pairwise(defined.body):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                        found[name] = said
    return found
