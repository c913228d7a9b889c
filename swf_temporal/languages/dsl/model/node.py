"""The base of all nodes of a definition, and the types of their fields."""

from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import CoreSchema

from swf_temporal.text.model_errors import wrong_form
from swf_temporal.text.origin import NOWHERE, Object, Where, with_floats

Text: TypeAlias = StrictStr
Truth: TypeAlias = StrictBool
Number: TypeAlias = StrictInt

Expression: TypeAlias = StrictStr
"""A text that is a runtime expression; `${ }` around it may be left out."""


def _json(value: object) -> object:
    return with_floats(value, float)


Template: TypeAlias = Annotated[Any, BeforeValidator(_json)]
"""JSON whose texts may contain runtime expressions, `${ … }`."""


def _object(value: object) -> object:
    if not isinstance(value, dict):
        raise wrong_form("an object")
    return value


FreeForm: TypeAlias = Annotated[Any, BeforeValidator(_object), WithJsonSchema({"type": "object"})]
"""An object whose keys are the author's, with its positions."""


class Node(BaseModel):
    """A part of a definition."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    where: SkipJsonSchema[Where] = Field(default=NOWHERE, alias="@", exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _locate(cls, value: object) -> object:
        if isinstance(value, Object):
            return {**value, "@": value.where}
        if isinstance(value, dict) and not isinstance(value.get("@", NOWHERE), Where):
            return {key: one for key, one in value.items() if key != "@"}  # it is data that has such a key
        return value

    @classmethod
    def written(cls) -> list[str]:
        """Return the keys that authors may write."""
        return [info.alias or name for name, info in cls.model_fields.items() if name != "where"]


ONLY: Final = "*only*"
"""The step of an error's path that stands for the one key of an element of a list of names and values."""


class NamedValue(Node):
    """An element of a list of names and values: an object with one key, its name."""

    name: StrictStr

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema of an object with one key, as authors write it."""
        schema = handler(core_schema)
        whole = handler.resolve_ref_schema(schema)
        value = whole.pop("properties")[ONLY]
        del whole["required"]
        whole |= {"additionalProperties": value, "minProperties": 1, "maxProperties": 1}
        return schema


def _form(value: object) -> str:
    return OBJECT if isinstance(value, dict | Node) else TEXT


OBJECT = "*object*"
TEXT = "*text*"
"""The tags of the alternatives of a part that is a text or an object."""


N = TypeVar("N")

TextOr: TypeAlias = Annotated[Annotated[StrictStr, Tag(TEXT)] | Annotated[N, Tag(OBJECT)], Discriminator(_form)]
"""A part that is a text or an object."""


PARTS = ("days", "hours", "minutes", "seconds", "milliseconds")


class DurationParts(Node):
    """A duration by its parts."""

    days: Number = 0
    hours: Number = 0
    minutes: Number = 0
    seconds: Number = 0
    milliseconds: Number = 0

    @model_validator(mode="before")
    @classmethod
    def _has_parts(cls, value: object) -> object:
        if isinstance(value, dict) and not value:
            raise wrong_form("an object with days, hours, minutes, seconds or milliseconds")
        return value


Duration: TypeAlias = TextOr[DurationParts]
"""A duration: by its parts, by ISO 8601, or by an expression that yields the latter."""
