"""The data of an instance, and what states make of them."""

from base64 import b64encode

from swf_temporal.data import JSON
from swf_temporal.errors import ExpressionFailed
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.strict_json import NotJSON, read_json

_UNCHANGED = ("", ".")
"""Transforms that mean nothing."""


def instance_data(given: JSON | bytes) -> dict[str, JSON]:
    """Return the data of an instance that is begun with *given*: an object as it is, all else under `input`."""
    if isinstance(given, bytes):
        given = decoded(given)
    return given if isinstance(given, dict) else {"input": given}


def decoded(content: bytes) -> JSON:
    """Return the JSON that *content* is, or base64 of it if it is none; nothing is an empty text."""
    try:
        value: JSON = read_json(content)
    except NotJSON:
        return b64encode(content).decode()
    return value


async def transformed(transform: JSON, data: JSON, lane: Lane) -> JSON:
    if transform is None or transform in _UNCHANGED:
        return data
    try:
        return await lane.object_of(transform, data, "its result")
    except ExpressionFailed as fault:
        fault.message = f"unable to apply transform: {fault.message}"
        raise


def with_result(data: JSON, key: str, value: JSON) -> dict[str, JSON]:
    """Return *data* with *value* under *key*, where it takes the place of what was there."""
    return {**(data if isinstance(data, dict) else {}), key: value}
