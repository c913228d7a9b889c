"""Values of Python as JSON: dates, models and so on, wherever a program of the user's hands some over."""

from typing import Any

from swf_temporal.base.strict_json import NotJSON, json_of


def json_from(value: object) -> Any:
    """Return *value* as JSON, in which dates, models, dataclasses, sets and so on are what pydantic makes of them.

    Raises NotJSON, with the place, for what is neither.
    """
    return json_of(value, _converted)


def _converted(value: object) -> object:
    from pydantic_core import PydanticSerializationError, to_jsonable_python  # noqa: PLC0415 - most values are JSON

    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        raise NotJSON(f"JSON cannot write what is of the type {type(value).__name__!r}") from None
