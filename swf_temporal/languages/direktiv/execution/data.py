"""The data of an instance, and what states make of them."""

from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.languages.direktiv.execution.lane import Lane

_UNCHANGED = ("", ".")
"""Transforms that mean nothing."""


def instance_data(given: JSON | bytes) -> dict[str, JSON]:
    """Return the data of an instance that is begun with *given*: an object as it is, all else under `input`."""
    if isinstance(given, bytes):
        given = json_or_base64(given)
    return given if isinstance(given, dict) else {"input": given}


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
