"""The base of all nodes of a definition: frozen, without other keys, with the place where it was written."""

from functools import partial
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, model_validator
from pydantic.json_schema import SkipJsonSchema

from swf_temporal.text.located import Object, with_floats
from swf_temporal.text.positions import NOWHERE, Where

T = TypeVar("T")


def _text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Structured: TypeAlias = Annotated[Any, BeforeValidator(partial(with_floats, convert=float))]
"""JSON in which `jq( … )` may stand in any text."""

Attributes: TypeAlias = Annotated[Any, BeforeValidator(partial(with_floats, convert=str))]
"""Attributes of events, in which `jq( … )` may stand, and which have no fractions: 1.10 is a text."""

_Written: TypeAlias = Annotated[str, Field(min_length=1)] | float
Text: TypeAlias = Annotated[StrictStr, BeforeValidator(_text, json_schema_input_type=_Written), Field(min_length=1)]
"""A text that says something, and may be written as a number."""

Word: TypeAlias = StrictStr
"""A text, perhaps an empty one."""


def _listed(value: object) -> object:
    return () if value is None else value


Listed: TypeAlias = Annotated[tuple[T, ...], BeforeValidator(_listed, json_schema_input_type=list[T] | None)]
"""A list; nothing under its key is an empty one."""


class Node(BaseModel):
    """A part of a definition."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    where: SkipJsonSchema[Where] = Field(default=NOWHERE, alias="@", exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _locate(cls, value: object) -> object:
        if not isinstance(value, Object):
            return value
        known = {name.lower(): name for name in cls.written()}
        # Letters of keys may be of either case, as in the engine.
        renamed = {
            known.get(key.lower(), key) if key not in known.values() else key: item for key, item in value.items()
        }
        return {**renamed, "@": value.where}

    @classmethod
    def written(cls) -> list[str]:
        return [info.alias or name for name, info in cls.model_fields.items() if name != "where"]
