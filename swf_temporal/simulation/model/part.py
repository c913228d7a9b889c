"""The base of all parts of a scenario, which are frozen and refuse unknown keys."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictInt,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from swf_temporal.base.durations import parse_duration
from swf_temporal.text.model_errors import validation_error
from swf_temporal.text.origin import Source, plain

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(?P<offset>Z|[+-]\d\d:\d\d)?", re.ASCII)
"""A date and time of RFC 3339."""
_Value = TypeVar("_Value")


class ScenarioPart(BaseModel):
    """A part of a scenario file."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, defer_build=True)

    @property
    def given(self) -> dict[str, Any]:
        """The values that the author wrote, by the keys of the file, without defaults."""
        fields = type(self).model_fields.items()
        return {field.alias or name: getattr(self, name) for name, field in fields if name in self.model_fields_set}


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """The file that is read: the context of the validation of the models."""

    path: Path
    source: Source
    line: int = 1
    """The line at which the scenario begins."""


def file_of(info: ValidationInfo) -> ScenarioFile:
    file: ScenarioFile = info.context  # type: ignore[assignment]  # models are validated with no other context
    return file


def beside(name: str, info: ValidationInfo, *key: str) -> Path:
    """Return the file *name* in the folder of the scenario; raise an error at *key* if it does not exist."""
    path = file_of(info).path.parent / name
    if not path.is_file():
        raise validation_error(f"there is no file {name!r} beside this one", *key, at_key=bool(key))
    return path


def _not_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null", "null is not a way to leave a key out")
    return value


def _file(value: object, info: ValidationInfo) -> object:
    return beside(value, info) if isinstance(value, str) else value


def _duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str) else value


def _moment(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = _MOMENT.fullmatch(value)
    if match is None:
        raise validation_error(f"{value!r} is not a date and time", hint="such as 2026-01-05T09:00:00Z")
    if not match["offset"]:
        hint = f"write {value}Z, or how far from UTC it is, such as {value}+01:00"
        raise validation_error(f"{value!r} does not say in which timezone it is", hint=hint)
    try:
        moment = datetime.fromisoformat(value)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise validation_error(f"{value!r} is not a date and time: there is no such day or hour") from None
    return moment


OptionalKey: TypeAlias = Annotated[_Value | None, BeforeValidator(_not_null)]
"""An optional value. A key without a value is refused: an expectation without one would always hold."""

Json: TypeAlias = Annotated[Any, AfterValidator(plain)]
"""Any JSON, without its positions."""

File: TypeAlias = Annotated[Path, BeforeValidator(_file, json_schema_input_type=str)]
"""The path of a file, relative to the folder of the scenario."""

Duration: TypeAlias = Annotated[timedelta, Strict(), BeforeValidator(_duration)]
"""A duration of ISO 8601."""

Moment: TypeAlias = Annotated[datetime, Strict(), BeforeValidator(_moment)]
"""A date and time with an offset from UTC."""


_ANSWERS = ("returns", "raises", "computes", "then")


class StubFailure(ScenarioPart):
    """The CallFailed that a function raises."""

    code: Json = None
    message: OptionalKey[str] = None
    status: OptionalKey[StrictInt] = None
    name: OptionalKey[str] = None
    body: Json = None
    retryable: StrictBool = True
    retry_after: OptionalKey[Duration] = None
    """The delay that the service requests."""


class StubAnswer(ScenarioPart):
    """The outcome of one attempt to call a function."""

    returns: Json = None
    computes: OptionalKey[str] = None
    """An expression on the arguments, which yields the result."""
    raises: OptionalKey[StubFailure] = None
    takes: Duration = timedelta()
    """The time that the function takes to answer."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [key for key in _ANSWERS if key in self.model_fields_set]
        if len(ways) > 1:
            raise validation_error(f"an answer is one of returns, raises and computes, not {' and '.join(ways)}")
        return self


def _is_script(value: Any) -> bool:
    """Return whether *value* is a script of answers, and not itself the answer."""
    return isinstance(value, dict) and bool(value) and all(key in (*_ANSWERS, "takes") for key in value)


def _in_full(value: Any) -> Any:
    return value if _is_script(value) or isinstance(value, StubAnswer) else {"returns": value}


class AnswerScript(StubAnswer):
    """The answers of a function, attempt by attempt."""

    then: OptionalKey[
        Annotated[
            tuple[Annotated[StubAnswer, BeforeValidator(_in_full, json_schema_input_type=StubAnswer | Any)], ...],
            Field(min_length=1),
        ]
    ] = None
    """The answers, one per attempt; the last repeats."""

    @property
    def answers(self) -> tuple[StubAnswer, ...]:
        """The answers, one per attempt. Those without `takes` use that of the script."""
        if self.then is None:
            return (self,)
        return tuple(
            answer if answer.takes else answer.model_copy(update={"takes": self.takes}) for answer in self.then
        )


ScriptedFunction: TypeAlias = Annotated[
    AnswerScript, BeforeValidator(_in_full, json_schema_input_type=AnswerScript | Any)
]
"""A script, or a value that is the result of every attempt."""
