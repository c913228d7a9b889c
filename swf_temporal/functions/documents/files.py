"""What are the bytes that a value stands for?

A file, or anything else that is no text, is `{"mediaType": …, "base64": …}` to a workflow.
"""

import base64
import binascii
from typing import Any, TypeGuard

from swf_temporal.data import JSON
from swf_temporal.functions.call import permanent_failure


def is_file(value: JSON) -> TypeGuard[dict[str, Any]]:
    """Tell whether *value* stands for bytes."""
    return isinstance(value, dict) and isinstance(value.get("base64"), str)


def bytes_of(value: dict[str, Any]) -> bytes:
    """Return the bytes that *value* stands for. Raises CallFailed if they cannot be read."""
    try:
        return base64.b64decode(value["base64"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise permanent_failure("BadArguments", f"'base64' does not hold base64: {error}") from error
