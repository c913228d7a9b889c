"""Instances over HTTP with SonataFlow's paths, for clients that still use them.

A request that starts an instance is answered once it ends, or waits for the first time.
"""

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from starlette.responses import Response

from swf_temporal.base.client_errors import InstanceNotFoundError, RunEnded
from swf_temporal.base.errors import ExpressionFailed, SchemaMismatch, UsageError, WrongData
from swf_temporal.http.gateway.answers import MAX_ACTIVE
from swf_temporal.http.gateway.authentication import refuse_workflow
from swf_temporal.http.gateway.instances import (
    TenantInstance,
    current_data_of,
    instance_of,
    object_with,
    objects_with,
    output_of,
)
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.http.gateway.workflows import definition_of, show_input_schema, started
from swf_temporal.operations.client import Instance
from swf_temporal.operations.instances import PATIENCE, resting
from swf_temporal.operations.listing import filter_of, is_open, listed
from swf_temporal.operations.tasks import answers_of
from swf_temporal.temporal.client import change_data
from swf_temporal.temporal.statuses import OPEN

_DATA: Final = "workflowdata"
_NONE: Final = b"null"
_START_FROM: Final = "X-KOGITO-StartFromNode"
_STATUS_CODES: Final = ("400", "403", "404", "409", "412")
"""The fault codes that are also used as the status of the answer."""
ERROR_MESSAGE: Final = "ErrorMessage"
"""The name of the error when a message in a state's metadata makes an instance fail."""
_OF_DATA: Final = (ExpressionFailed, SchemaMismatch, WrongData)
"""Faults that SonataFlow attributed to the request."""
_MIN_PAUSE, _MAX_PAUSE = 0.02, 2.0
"""Seconds between two checks whether an instance waits."""


async def start_and_wait(asked: RequestContext) -> Response:
    """Start an instance, and wait for its end or its first wait."""
    if _START_FROM in asked.request.headers:
        raise Refused(501, "not-supported", f"{_START_FROM} has no effect: instances begin with the start state")
    definition, body = definition_of(asked), await asked.json()
    data = body[_DATA] if isinstance(body, dict) and _DATA in body else body
    instance = await started(asked, definition, data, 400)
    link = {"Location": f"/{quote(definition.id, safe='')}/{quote(instance.id, safe='')}"}
    try:
        output = await _data_after(asked, instance)
    except RunEnded as ended:
        told = {"id": instance.id, "message": ended.message}
        return Refused(_status_of(ended), "instance-failed", str(ended), headers=link, facts=told).response()
    except UsageError as error:
        refusal = refusal_of(error)
        refusal.hint = f"the instance {instance.id!r} was started: GET {link['Location']}"
        refusal.headers = link  # without Retry-After: a repetition would start another one
        raise refusal from None
    return _shown(instance.id, output, 201, link)


async def list_active(asked: RequestContext) -> Response:
    """List instances that have not ended, with their data."""
    definition = definition_of(asked)
    found = await listed(asked.client, filter_of(None, definition.id, OPEN), asked.number(MAX_ACTIVE))
    ids = [one["id"] for one in found.rows]
    data = await answers_of(ids, lambda instance_id: current_data_of(asked.client, instance_id))
    return objects_with({one: its or _NONE for one, its in zip(ids, data, strict=True)}, "id", _DATA)


async def show_schema(asked: RequestContext) -> Response:
    """Show the schema of the input."""
    return await show_input_schema(asked)


async def show_data(asked: RequestContext) -> Response:
    """Show the data of an instance that has not ended."""
    found = await _active(asked)
    return _shown(found.instance.id, await current_data_of(asked.client, found.instance.id))


async def abort_instance(asked: RequestContext) -> Response:
    """Cancel an instance, and wait for its end."""
    found = await _active(asked)
    await found.instance.cancel()
    try:
        async with asyncio.timeout(asked.seconds_to_wait(always=True)):
            data = await output_of(asked.client, found.instance)
    except (RunEnded, TimeoutError):
        data = await _data_if_shown(asked, found.instance.id)
    return _shown(found.instance.id, data)


async def change_instance(asked: RequestContext) -> Response:
    """Change the data of an instance by a JSON merge patch, once its calls in progress have ended."""
    found, patch = await _active(asked), await asked.json()
    if not isinstance(patch, dict):
        raise Refused(422, "bad-body", "the body is not an object", "send what changes, with null for what to remove")
    await change_data(asked.client.temporal, found.instance.id, patch, PATIENCE)
    data = await _data_if_shown(asked, found.instance.id)
    return _shown(found.instance.id, data)


async def _active(asked: RequestContext) -> TenantInstance:
    """Return the instance that the path names. Raises InstanceNotFoundError once it has ended."""
    definition_id, instance_id = asked.path_id(), asked.path_id("instance")
    refuse_workflow(asked.tenant, definition_id)
    found = await instance_of(asked, instance_id)
    if found.definition != definition_id or not is_open(found.status):
        message = f"there is no active instance {instance_id!r} of {definition_id!r}"
        raise InstanceNotFoundError(message, "GET /instances/{id}/result has its outcome", instance=instance_id)
    return found


async def _data_after(asked: RequestContext, instance: Instance) -> bytes:
    """Return the output of an instance, or its data once it waits or the request has waited its limit.

    Raises RunEnded if it has failed.
    """
    ending = asyncio.ensure_future(output_of(asked.client, instance))
    both = (ending, asyncio.ensure_future(_first_wait(asked, instance)))
    try:
        seconds = asked.seconds_to_wait(always=True)
        done, _ = await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if ending in done:
            return ending.result()
        for each in done:
            each.result()
        return await current_data_of(asked.client, instance.id)
    finally:
        for each in both:
            each.cancel()
        await asyncio.gather(*both, return_exceptions=True)


async def _data_if_shown(asked: RequestContext, instance_id: str) -> bytes:
    """Return the data of an instance that has been changed; null if it cannot be shown, since the change stays."""
    try:
        return await current_data_of(asked.client, instance_id)
    except UsageError:
        return _NONE


def _shown(instance_id: str, data: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return object_with({"id": instance_id}, _DATA, data, status, headers)


async def _first_wait(asked: RequestContext, instance: Instance) -> None:
    """Return once an instance waits. One that merely yields has continued by the next check."""
    pause, before = _MIN_PAUSE, list[int]()
    while not (now := await resting(asked.client, instance.id)) or now != before:
        before = now
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _MAX_PAUSE)


def _status_of(ended: RunEnded) -> int:
    """Return the status with which SonataFlow answered for a failed instance."""
    code = str(ended.status or ended.code)
    if code in _STATUS_CODES:
        return int(code)
    return 400 if isinstance(ended.fault, _OF_DATA) or ended.name == ERROR_MESSAGE else 500
