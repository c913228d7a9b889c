"""The base of all nodes of a definition: frozen, with its position in the text."""

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from swf_temporal.text.origin import NOWHERE, Where

Expression: TypeAlias = str
"""A text that is an expression, with or without `${ }` around it."""

Template: TypeAlias = Any
"""JSON in which texts may contain `${ … }`."""


def _filter(value: object) -> object:
    if value is None or isinstance(value, str | dict | list):
        return value
    raise PydanticCustomError("filter_type", "a filter is an expression")


Filter: TypeAlias = Annotated[Any, AfterValidator(_filter)]
"""A filter of data: an expression, or an object or a list in which texts may contain `${ … }`."""


def _text(value: object) -> object:
    # A YAML author writes `version: 1.0` or `code: 404` and means the text.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return str(value)


Text: TypeAlias = Annotated[str, BeforeValidator(_text)]
"""A text that may be written as a number."""


class Node(BaseModel):
    """A part of a definition."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        arbitrary_types_allowed=True,
        # Most kinds of nodes are only validated as parts of others: building a validator for each takes long.
        defer_build=True,
    )

    where: Where = Field(default=NOWHERE, alias="@", exclude=True, repr=False)
