"""Instances over HTTP: their status, result and termination; and tasks, the events that they wait for.

Data of instances are answered as they are stored: to read and write large ones again would hold up other requests.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import JSONResponse, Response
from temporalio.common import RawValue
from temporalio.converter import DataConverter

from swf_temporal.base.client_errors import InstanceNotFoundError, RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.durations import LENGTHS, parse_length
from swf_temporal.base.strict_json import write_json
from swf_temporal.http.gateway.answers import (
    ACTION,
    ASSIGNEE,
    DEFINITION,
    DROP_EVENTS,
    DRY_RUN,
    EVENT,
    FROM,
    INSTANCE_FACTS,
    MAX_INSTANCES,
    MAX_TASKS,
    ROLE,
    STATUS,
    WAITING,
    Fault,
    InstanceFacts,
    Outcome,
)
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.operations.audit import audit_trail
from swf_temporal.operations.changing import CANCEL, PAUSE, RESUME, TERMINATE, Change
from swf_temporal.operations.client import Client, Instance, warned_if_not_taken_up
from swf_temporal.operations.instances import PATIENCE, data_of, described, execution_of, facts_of
from swf_temporal.operations.listing import RUNNING, Conditions, filter_of, is_open, listed
from swf_temporal.operations.rerunning import Plan, plan_rerun, plan_retry
from swf_temporal.operations.tasks import TaskFilter, complete_task, find_task, list_tasks
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.temporal.client import Handle, result
from swf_temporal.temporal.search_attributes import NotRegisteredError

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


_PATIENCE: Final = 2.0
"""Seconds for which to look for an instance: an accepted event starts one shortly."""
_PAUSE: Final = 0.1
"""Seconds between two attempts to find an instance."""


@dataclass(frozen=True, slots=True)
class TenantInstance:
    instance: Instance
    definition: str
    status: str | None


def link_to(instance_id: str) -> str:
    return f"/instances/{quote(instance_id, safe='')}"


async def instance_of(asked: RequestContext, instance_id: str, seconds: float | None = None) -> TenantInstance:
    """Return an instance of the tenant's, waiting for it *seconds* at most (by default two).

    Raises InstanceNotFoundError, also for another tenant's, after the same time, so that the caller does not learn
    which ids are taken.
    """
    until = time.monotonic() + (_PATIENCE if seconds is None else seconds)
    while True:
        try:
            return await _instance_of(asked, instance_id)
        except InstanceNotFoundError:
            if time.monotonic() + _PAUSE > until:
                raise
            await asyncio.sleep(_PAUSE)


async def _instance_of(asked: RequestContext, instance_id: str) -> TenantInstance:
    row = await described(asked.client, instance_id)
    if not asked.tenant.has_workflow(row["definition"]) or row["definition"] in WORKFLOW_TYPES:
        raise InstanceNotFoundError(f"there is no instance {instance_id!r}", instance=instance_id)
    return TenantInstance(asked.client.instance(instance_id), row["definition"], row["status"])


async def list_instances(asked: RequestContext) -> Response:
    """List instances."""
    definition, status = asked.parameter(DEFINITION), asked.parameter(STATUS)
    facts = {one["name"]: asked.parameter(one) for one in INSTANCE_FACTS}
    limit, known = asked.number(MAX_INSTANCES), asked.known(definition)
    if not known:
        return JSONResponse({"instances": []})
    types = ", ".join("'" + one.replace("'", "''") + "'" for one in known)
    wanted = filter_of(status, None, f"WorkflowType IN ({types})", conditions=Conditions(attributes=facts))
    try:
        found = await listed(asked.client, wanted, limit)
    except NotRegisteredError as error:
        raise Refused(409, "not-registered", error.message, error.hint) from None
    return JSONResponse({"instances": found.rows})


async def show_instance(asked: RequestContext) -> Response:
    """Show an instance's status."""
    instance_id = asked.path_id()
    await instance_of(asked, instance_id)
    return JSONResponse(await facts_of(asked.client, instance_id))


async def show_audit_trail(asked: RequestContext) -> Response:
    """Show what was done to an instance from outside, and by whom."""
    found = await instance_of(asked, asked.path_id())
    trail = await audit_trail(asked.client, await execution_of(asked.client, found.instance.id))
    return JSONResponse({"runId": trail.run_id, "entries": trail.facts()})


async def show_result(asked: RequestContext) -> Response:
    """Show an instance's result."""
    instance_id, seconds = asked.path_id(), asked.seconds_to_wait()
    until = time.monotonic() + seconds
    found = await instance_of(asked, instance_id, max(seconds, _PATIENCE))
    return await outcome(asked.client, found, max(0.0, until - time.monotonic()))


async def cancel_instance(asked: RequestContext) -> Response:
    """Cancel an instance."""
    return await _change(asked, CANCEL)


async def terminate_instance(asked: RequestContext) -> Response:
    """Terminate an instance."""
    return await _change(asked, TERMINATE)


async def pause_instance(asked: RequestContext) -> Response:
    """Pause an instance, which takes no further step until it is resumed."""
    return await _change(asked, PAUSE)


async def resume_instance(asked: RequestContext) -> Response:
    """Resume a paused instance."""
    return await _change(asked, RESUME)


async def _change(asked: RequestContext, change: Change) -> Response:
    body = await asked.json()
    if body is not None and not (isinstance(body, dict) and isinstance(body.get("reason", ""), str)):
        raise Refused(422, "bad-body", "the body is not an object with a reason", 'send {"reason": "…"}, or nothing')
    reason = body.get("reason") if isinstance(body, dict) else None
    found = await instance_of(asked, asked.path_id())
    await change.of_one(asked.client, found.instance.id, str(reason) if reason else None)
    return JSONResponse(InstanceFacts(id=found.instance.id, definition=found.definition), 202)


async def retry_instance(asked: RequestContext) -> Response:
    """Retry an instance that failed, from the state in which it failed."""
    return await _go_on(asked, plan_retry)


async def rerun_instance(asked: RequestContext) -> Response:
    """Rerun an instance from a state that it has reached before."""
    state, action, body = str(asked.parameter(FROM)), asked.parameter(ACTION), await asked.json()
    patch = body.get("data") if isinstance(body, dict) else None
    if body is not None and not isinstance(patch, dict):
        raise Refused(422, "bad-body", "the body is not an object with data", 'send {"data": {…}}, or nothing')
    return await _go_on(asked, lambda client, instance_id: plan_rerun(client, instance_id, state, action, patch))


async def _go_on(asked: RequestContext, planned: Plan) -> Response:
    is_planned, drop_events = asked.flag(DRY_RUN), asked.flag(DROP_EVENTS)
    found = await instance_of(asked, asked.path_id())
    plan = await planned(asked.client, found.instance.id)
    if is_planned:
        return JSONResponse(plan.facts())
    run = await plan.begin(asked.client, drop_events=drop_events)
    return JSONResponse(plan.facts() | {"runId": run}, 202, {"Location": link_to(plan.workflow_id)})


async def outcome(client: Client, found: TenantInstance, seconds: float) -> Response:
    """Answer with the outcome of an instance if it ends within *seconds*, or else with where to poll."""
    answer: Outcome = {"id": found.instance.id, "definition": found.definition, "status": RUNNING}
    try:
        # One that has ended answers at once.
        async with asyncio.timeout(seconds if is_open(found.status) else None):
            output = await output_of(client, found.instance)
    except TimeoutError:
        link = link_to(found.instance.id)
        return JSONResponse(answer, 202, {"Location": link})
    except RunEnded as ended:
        return JSONResponse(answer | {"status": ended.how, "error": _error(ended)})
    return object_with(answer | {"status": "completed"}, "output", output)


def _error(ended: RunEnded) -> Fault:
    return {"name": ended.name, "code": ended.code, "message": str(ended)}


async def show_tasks(asked: RequestContext) -> Response:
    """List open tasks."""
    waiting = asked.parameter(WAITING)
    if waiting is not None and parse_length(waiting) is None:
        raise Refused(400, "bad-parameter", f"the parameter waiting is {waiting!r}", LENGTHS)
    wanted = TaskFilter(
        definitions_for(asked, asked.parameter(DEFINITION)),
        asked.parameter(ROLE),
        asked.parameter(ASSIGNEE),
        parse_length(waiting or "0") or timedelta(),
    )
    found = await list_tasks(asked.client, wanted, limit=asked.number(MAX_TASKS))
    tasks = [one.facts() for one in found.tasks]
    return JSONResponse({"tasks": tasks, "silent": found.silent, "more": found.more})


def definitions_for(asked: RequestContext, definition: str | None) -> list[str] | None:
    """Return the ids of the tenant's definitions, or only that one; None if these are all there are."""
    return None if asked.sees_everything and definition is None else asked.known(definition)


async def show_task(asked: RequestContext) -> Response:
    """Show an instance's task."""
    instance_id, event = asked.path_id(), asked.parameter(EVENT)
    await instance_of(asked, instance_id)
    task = await find_task(asked.client, instance_id, event)
    return JSONResponse({**task.facts(), "schema": task.data_schema})


async def do_task(asked: RequestContext) -> Response:
    """Complete an instance's task."""
    instance_id, event = asked.path_id(), asked.parameter(EVENT)
    data = await asked.json()
    await instance_of(asked, instance_id)
    status = await complete_task(asked.client, instance_id, event, data)
    return JSONResponse({"id": instance_id, "status": status}, 202)
