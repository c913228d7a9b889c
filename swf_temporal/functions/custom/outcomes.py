"""Results and exceptions of Python code, as a workflow sees them."""

import json

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call, permanent_failure


def as_json(call: Call, result: object) -> JSON:
    """Return *result* as JSON, or as what pydantic makes of it. Raises CallFailed if that is not possible."""
    try:
        value: JSON = to_jsonable_python(result)
        if not _is_surely_json(value):
            json.dumps(value, allow_nan=False)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        message = f"custom function '{call.function.name}' returned a {type(result).__name__}, not JSON: {error}"
        raise permanent_failure("NotJSON", message) from error
    return value


def _is_surely_json(value: JSON) -> bool:
    """Tell whether *value* has no number that JSON cannot write; False if it takes a slower look to know."""
    try:
        text = to_json(value)
    except PydanticSerializationError:
        return False
    return b"NaN" not in text and b"Infinity" not in text


def raised(error: BaseException) -> CallFailed:
    """Return the fault that an exception is: its name and code are the exception's class."""
    if isinstance(error, CallFailed):
        return error
    name = type(error).__name__
    return CallFailed(str(error) or name, name=name, code=name, cause=name)
