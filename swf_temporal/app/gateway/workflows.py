"""Definitions over HTTP: which there are, what their input has to be, and starting instances of them."""

import asyncio
import hashlib
import re
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import JSONResponse, Response

from swf_temporal.app.event_routes import latest_of
from swf_temporal.app.gateway.authentication import refuse_workflow
from swf_temporal.app.gateway.instances import Found, link_to, outcome
from swf_temporal.app.gateway.refusals import Refused
from swf_temporal.app.gateway.requests import Asked
from swf_temporal.app.gateway.settings import Operation
from swf_temporal.app.instances import RUNNING
from swf_temporal.errors import UnknownDefinition
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client_errors import AlreadyStartedError

LONGEST_KEY: Final = 200
KEY_PATTERN: Final = f"^[!-~]{{1,{LONGEST_KEY}}}$"
"""The ids of instances, and keys of requests, that clients choose."""
_OURS: Final = "swf-"
"""The beginning of the ids of workflows that hold events and variables."""


def path_of(definition_id: str) -> str:
    """Return the path of a definition."""
    return f"/workflows/{quote(definition_id, safe='')}"


async def list_workflows(asked: Asked) -> Response:
    """Tell of the tenant's definitions."""
    asked.permit(Operation.READ)
    return JSONResponse({"workflows": [_facts(one) for one in latest_of(asked.catalogue)]})


async def show_workflow(asked: Asked) -> Response:
    """Tell of a definition."""
    asked.permit(Operation.READ)
    return JSONResponse(_facts(_definition(asked)))


async def show_input_schema(asked: Asked) -> Response:
    """Tell what the input of a definition has to be."""
    asked.permit(Operation.READ)
    schema = _definition(asked).input_schema
    return JSONResponse({} if schema is None else schema, media_type="application/schema+json")


async def start_workflow(asked: Asked) -> Response:
    """Start an instance, and wait for what comes of it if the client wants to."""
    asked.permit(Operation.START)
    definition, seconds = _definition(asked), asked.seconds_to_wait()
    workflow_id, once = _workflow_id(asked, definition)
    data = await asked.json()
    given = {} if data is None else data
    refusal = await asyncio.to_thread(definition.refusal_of, given)
    if refusal is not None:
        raise Refused(422, "unfit-input", refusal, f"see {path_of(definition.id)}/schemas/input")
    others = [one for one in asked.catalogue.with_reachable(definition) if one is not definition]
    facts: dict[str, Any] = {"definition": definition.id, "status": RUNNING}
    try:
        instance = await asked.client.start(
            definition,
            given,
            workflow_id=workflow_id,
            task_queue=asked.task_queue,
            sub_workflows=others,
            once=once,
        )
    except AlreadyStartedError as error:
        link = link_to(str(workflow_id))
        if not once:
            raise Refused(
                409, "already-started", error.message, f"it is at {link}", headers={"Location": link}
            ) from None
        instance = asked.client.instance(str(workflow_id))
    if seconds:
        answer = await outcome(Found(instance, definition.id, RUNNING), seconds)
        if answer.status_code == 200:  # noqa: PLR2004 - it has ended
            return answer
    return JSONResponse({"id": instance.id, **facts}, 202, {"Location": link_to(instance.id)})


def _definition(asked: Asked) -> Definition:
    """Return the definition that the path names. Raises Refused."""
    definition_id, version = asked.path_id(), asked.query("version")
    refuse_workflow(asked.tenant, definition_id)
    try:
        return asked.catalogue.find(definition_id, version)
    except UnknownDefinition as error:
        raise Refused(404, "unknown-definition", str(error), "GET /workflows tells which there are") from None


def _workflow_id(asked: Asked, definition: Definition) -> tuple[str | None, bool]:
    """Return the id of the instance that is to be started, if it is not to be any, and whether it is started once."""
    chosen, key = asked.query("id"), asked.request.headers.get("idempotency-key")
    for name, value in (("the parameter id", chosen), ("the header Idempotency-Key", key)):
        if value is not None and not re.fullmatch(KEY_PATTERN, value):
            hint = f"it has 1 to {LONGEST_KEY} characters of ASCII, and no space"
            raise Refused(400, "bad-parameter", f"{name} cannot be {value!r}", hint)
    if chosen is not None and chosen.startswith(_OURS):
        raise Refused(400, "bad-parameter", f"ids that begin with {_OURS} are not to be chosen")
    if chosen is not None:
        return chosen, key is not None
    if key is None:
        return None, False
    whose = f"{asked.tenant.name}\n{definition.id}\n{key}"
    return f"{definition.id}:{hashlib.sha256(whose.encode()).hexdigest()[:24]}", True


def _facts(definition: Definition) -> dict[str, Any]:
    return {
        "id": definition.id,
        "version": definition.version,
        "name": definition.name,
        "description": definition.description,
        "events": [
            {"name": one.name, "type": one.type, "source": one.source, "kind": one.kind, "starts": one.starts}
            for one in definition.events
        ],
        "links": {"start": path_of(definition.id), "inputSchema": f"{path_of(definition.id)}/schemas/input"},
    }
