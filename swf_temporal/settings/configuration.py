"""The configuration: settings in sections of a file, and environment variables, which override it.

A setting is one field of a `Section`: the field's type defines its form, its bounds and its default are the field's,
its key in the file is its name in camel case, and its variable is the prefix of the section and its name. The file is
YAML or JSON, and `--config` or `SWF_CONFIG` names it.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import read_text, why_unreadable
from swf_temporal.settings.credentials import without_password
from swf_temporal.text.model_errors import allowed_words, expected_form, fields_at
from swf_temporal.text.suggestions import suggestion

SECTIONS: Final = (
    *("calls", "functions", "services", "hosts", "network", "modules", "scripts", "runners", "worker"),
    *("localCallTypes", "storage", "encryption", "compression", "codecServer", "events", "gateway"),
)
"""The keys at the top of the file."""
_FILE: Final = "SWF_CONFIG"
_NAMED: Final = f"it is named by --config or {_FILE}"
NO_KEY: Final = "\0"
"""The first character of keys that a file cannot contain."""
_OF_A_KEY: Final = "[key]"
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Variable:
    """Options of the environment variable of a setting, in the annotation of its field."""

    name: str | None = None
    """None means the prefix of the section and the name of the field; an empty name means no variable."""
    is_confidential: bool = False
    """Whether error messages omit the value, which may contain a password."""
    may_be_empty: bool = False
    """Whether an empty variable has a meaning; otherwise it counts as not set."""


NO_VARIABLE: Final = Variable("")


class FromVariable(str):
    """A text from an environment variable."""

    __slots__ = ("variable",)
    variable: Variable

    def __new__(cls, text: str, variable: Variable) -> Self:
        self = super().__new__(cls, text)
        self.variable = variable
        return self


@dataclass(frozen=True, slots=True)
class Reading:
    """The sources of values that a configuration names: variables, and files relative to it."""

    env: Mapping[str, str]
    folder: Path

    def held(self, source: str) -> str:
        """Return the value of `env:VARIABLE` or `file:PATH`. Raises ValueError."""
        kind, _, name = source.partition(":")
        if kind == "env":
            if name not in self.env:
                raise ValueError(f"the variable {name} is not set")
            return self.env[name]
        try:
            return (self.folder / name).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ValueError(f"the file {name} cannot be read: {why_unreadable(error)}") from None


def reading(info: ValidationInfo) -> Reading | None:
    """Return the sources of the configuration that is read; None if a program makes a section."""
    return info.context if isinstance(info.context, Reading) else None


def argument(default: Any) -> Any:
    """Return a field of a section that is not a setting: programs and commands pass it."""
    return Field(default, alias=NO_KEY)


class Setting(NamedTuple):
    """A setting of a section: its names, or the nested section that it is."""

    key: str
    variable: Variable | None
    section: "type[Section] | None"


class Section(BaseModel):
    """A part of the configuration; keys that are not its settings are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True, hide_input_in_errors=True
    )
    section: ClassVar[str | None] = None
    """Its key at the top of the file; None if its settings are there, or within another section."""
    prefix: ClassVar[str | None] = None
    """The beginning of its variables; None if it has none."""

    if not TYPE_CHECKING:  # its arguments are the fields

        def __init__(self, **values: object) -> None:
            """Make a section of *values*. Raises UsageError that names invalid ones."""
            try:
                super().__init__(**values)
            except ValidationError as error:
                told = [_told_of_field(details, type(self)) for details in error.errors(include_url=False)]
                raise UsageError("\n".join(told)) from None

        __init__.__pydantic_base_init__ = True  # sections within others are validated without it

    def replace(self, **changes: Any) -> Self:
        """Return this section with *changes*."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | changes)

    @classmethod
    def settings(cls) -> Iterator[Setting]:
        """Yield all settings."""
        for name, field in cls.model_fields.items():
            annotation = field.annotation
            kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
            section = next((one for one in kinds if isinstance(one, type) and issubclass(one, Section)), None)
            variable = next((one for one in field.metadata if isinstance(one, Variable)), Variable())
            if variable.name is None and cls.prefix is not None and section is None:
                variable = replace(variable, name=f"{cls.prefix}{name.upper()}")
            if not str(field.alias).startswith(NO_KEY):
                yield Setting(str(field.alias), variable if variable.name else None, section)

    @classmethod
    def merged(cls, content: Any, env: Mapping[str, str], ending: str = "") -> Any:
        """Return *content*, the section in a file, merged with variables of *env* that have that *ending*."""
        if not isinstance(content, dict):
            return content
        found = dict(content)
        for key, variable, section in cls.settings():
            if section is not None and (part := section.merged(found.get(key, {}), env, ending)):
                found[key] = part
            elif variable is not None:
                name = f"{variable.name}{ending}"
                if name in env and (env[name].strip() or variable.may_be_empty):
                    found[key] = FromVariable(env[name].strip(), replace(variable, name=name))
        return found

    @classmethod
    def read(
        cls,
        env: Mapping[str, str] = os.environ,
        *,
        file: Path | None = None,
        arguments: Mapping[str, object] | None = None,
        with_secrets: bool = True,
    ) -> Self:
        """Return the section from *arguments*, else *env*, else the configuration *file* or that in `SWF_CONFIG`.

        Arguments that are None are ignored. Unless *with_secrets*, secrets are not resolved. Raises UsageError for
        invalid settings, with the place or the variable.
        """
        path = file or (Path(env[_FILE]) if env.get(_FILE) else None)
        content = {} if path is None else _content_of(path)
        if cls.section is None:
            keys = {setting.key for setting in cls.settings()}
            content = {key: value for key, value in content.items() if key in keys}
        merged = cls.merged(content if cls.section is None else content.get(cls.section, {}), env)
        context = Reading(env, path.parent if path else Path()) if with_secrets else None
        try:
            settings = cls.model_validate(merged, by_name=False, context=context)
        except ValidationError as error:
            found_wrong = (_told(details, cls, merged, path) for details in error.errors(include_url=False))
            told = [*dict.fromkeys(found_wrong)]  # a variable may be for a function, a service and a host
            if len(told) == 1:
                raise UsageError(*told[0]) from None
            raise UsageError("\n".join(": ".join(filter(None, one)) for one in told)) from None
        given = {name: value for name, value in (arguments or {}).items() if value is not None}
        try:
            found = {name: getattr(settings, name) for name in settings.model_fields_set} | given
            return cls.model_validate(found, by_name=True) if given else settings
        except ValidationError as error:
            wrong = [(_place_of(details), _text_of(details, cls)) for details in error.errors(include_url=False)]
            raise UsageError("\n".join(f"--{place.replace('_', '-')}: {text}" for place, text in wrong)) from None


def _content_of(path: Path) -> dict[str, JSON]:
    """Return the sections of the configuration at *path*. Raises UsageError."""
    from swf_temporal.text.parsing import read_data  # noqa: PLC0415 - a program may have no such file

    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"the configuration {path} cannot be read: {why_unreadable(error)}", _NAMED) from error
    try:
        content: JSON = read_data(text)
    except ValueError as error:
        raise UsageError(f"the configuration {path} is neither YAML nor JSON: {error}", _NAMED) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UsageError(f"{path}: the file: it must be an object")
    for key in content:
        if key not in SECTIONS:
            raise UsageError(f"{path}: {key}: there is no such option{suggestion(str(key), SECTIONS)}")
    return content


def _told(details: ErrorDetails, model: type[Section], content: Any, path: Path | None) -> tuple[str, str | None]:
    """Return the message, with the place in the file or the variable, and a hint."""
    facts = details.get("ctx", {}) if details["type"] == "custom" else {}
    text, hint, value = _text_of(details, model), facts.get("hint"), content
    place = [] if model.section is None else [model.section]
    steps = [step for step in (*details["loc"], *facts.get("path", ())) if step != _OF_A_KEY]
    for number, step in enumerate(steps):
        has = step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int)
        value = value[step] if has else None
        if isinstance(value, FromVariable):
            shown = "is invalid" if value.variable.is_confidential else f"is {without_password(value)!r}"
            rest = [one for one in steps[number + 1 :] if isinstance(one, str)]
            return f"{value.variable.name} {shown}", "; ".join(filter(None, (": ".join([*rest, text]), hint)))
        name = value.get("name") if isinstance(step, int) and isinstance(value, dict) else None
        place.append(name if isinstance(name, str) else str(step))
    where = " › ".join(place)
    return f"{path}: {where}: {text}" if path else f"{where}: {text}", hint


def _place_of(details: ErrorDetails) -> str:
    path = details.get("ctx", {}).get("path", ()) if details["type"] == "custom" else ()
    return ".".join(str(step) for step in (*details["loc"], *path) if step != _OF_A_KEY)


def _told_of_field(details: ErrorDetails, model: type[Section]) -> str:
    """Return the message about an argument of a program."""
    place = _place_of(details)
    if details["type"] == "extra_forbidden":
        text = f"there is no such setting{suggestion(str(details['loc'][-1]), model.model_fields)}"
    else:
        text = _text_of(details, model)
    return f"{model.__name__}({place}=…): {text}" if place else f"{model.__name__}: {text}"


def _text_of(details: ErrorDetails, model: type[Section]) -> str:
    kind, facts = details["type"], details.get("ctx", {})
    *place, last = details["loc"] or ("",)
    match kind:
        case "extra_forbidden":
            return f"there is no such option{suggestion(str(last), fields_at(model, place))}"
        case "missing":
            variable = next((one for key, one, _ in _section_at(model, place).settings() if key == last), None)
            return "it is missing" + (f"; write it here, or set {variable.name}" if variable else "")
        case "enum" | "literal_error":
            return f"it must be one of {', '.join(allowed_words(details))}"
        case "greater_than_equal":
            return f"it must be at least {_number(facts['ge'])}"
        case "less_than_equal":
            return f"it must be at most {_number(facts['le'])}"
    expected = expected_form(kind)
    return details["msg"].removeprefix("Value error, ") if expected is None else f"it must be {expected}"


def _section_at(model: type[Section], place: list[int | str]) -> type[Section]:
    for step in place:
        model = next((inner for key, _, inner in model.settings() if key == step and inner), model)
    return model


def _number(bound: int) -> str:
    return f"{bound // _MIB}MiB" if bound % _MIB == 0 else f"{bound:,}"
