"""Answers with the data of instances, as these are stored: to read and write large ones again would hold up others."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response
from temporalio.common import RawValue
from temporalio.converter import DataConverter

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import write_json
from swf_temporal.operations.client import Client, Instance, warned_if_not_taken_up
from swf_temporal.operations.instances import PATIENCE, data_of
from swf_temporal.temporal.client import Handle, result

PLAIN_JSON: Final = b"json/plain"
"""The encoding of values that are stored as JSON."""
_MEDIA: Final = "application/json"


def written(value: RawValue | JSON, converter: DataConverter) -> bytes:
    """Return *value*, which *converter* may have decoded already, as JSON."""
    if not isinstance(value, RawValue):
        return write_json(value).encode()
    if value.payload.metadata.get("encoding") == PLAIN_JSON:
        return value.payload.data
    return write_json(next(iter(converter.payload_converter.from_payloads([value.payload])), None)).encode()


async def output_of(client: Client, instance: Instance) -> bytes:
    """Return the output of *instance* as JSON, once it has ended. Raises RunEnded if it has none."""
    temporal = client.temporal
    handle: Handle = temporal.get_workflow_handle(instance.id, run_id=instance.run_id, result_type=RawValue)
    async with warned_if_not_taken_up(temporal, handle):
        return written(await result(handle), temporal.data_converter)


async def current_data_of(client: Client, instance_id: str) -> bytes:
    """Return the data of an instance as JSON. Raises UsageError."""
    found = await data_of(client, instance_id, PATIENCE, result_type=RawValue)
    return written(found, client.temporal.data_converter)


def object_with(
    facts: Mapping[str, Any], name: str, value: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with an object that has *facts*, which are not empty, and as *name* the JSON *value*."""
    return Response(_joined(facts, name, value), status, headers, _MEDIA)


def objects_with(objects: Mapping[str, bytes], id_name: str, name: str) -> Response:
    """Answer with a list of objects, each with its id and as *name* its JSON value."""
    content = b",".join(_joined({id_name: one}, name, value) for one, value in objects.items())
    return Response(b"[" + content + b"]", media_type=_MEDIA)


def _joined(facts: Mapping[str, Any], name: str, value: bytes) -> bytes:
    return write_json(facts)[:-1].encode() + b"," + write_json(name).encode() + b":" + value + b"}"
