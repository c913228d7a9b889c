"""Definitions over HTTP: a list, their input schemas, and starting instances."""

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from typing import Final
from urllib.parse import quote

from starlette.responses import JSONResponse, Response
from temporalio.service import RPCError

from swf_temporal.base.client_errors import AlreadyStartedError
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import DefinitionsUnavailable, UnknownDefinition, UsageError
from swf_temporal.http.gateway.answers import IDEMPOTENCY_KEY, NEW_ID, VERSION, Outcome, Workflow, Workflows
from swf_temporal.http.gateway.authentication import refuse_workflow
from swf_temporal.http.gateway.instances import TenantInstance, link_to, outcome
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Instance
from swf_temporal.operations.event_sending import latest_of
from swf_temporal.operations.listing import RUNNING
from swf_temporal.temporal import start_options
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.text.suggestions import did_you_mean

_UNAVAILABLE: Final = 503
SCHEMA_MEDIA: Final = "application/schema+json"


def path_of(definition_id: str) -> str:
    return f"/workflows/{quote(definition_id, safe='')}"


async def list_workflows(asked: RequestContext) -> Response:
    """List definitions."""
    return JSONResponse(Workflows(workflows=[_facts(one) for one in latest_of(asked.catalogue)]))


async def show_workflow(asked: RequestContext) -> Response:
    """Show a definition."""
    return JSONResponse(_facts(definition_of(asked)))


async def show_input_schema(asked: RequestContext) -> Response:
    """Show the input schema."""
    schema = definition_of(asked).input_schema
    return JSONResponse({} if schema is None else schema, media_type=SCHEMA_MEDIA)


async def start_workflow(asked: RequestContext) -> Response:
    """Start an instance."""
    definition, seconds = definition_of(asked), asked.seconds_to_wait()
    instance = await started(asked, definition, await asked.json(), 422)
    if seconds:
        ended = await outcome(asked.client, TenantInstance(instance, definition.id, RUNNING), seconds)
        if ended.status_code == 200:  # noqa: PLR2004 - not always set
            return ended
    answer: Outcome = {"id": instance.id, "definition": definition.id, "status": RUNNING}
    return JSONResponse(answer, 202, {"Location": link_to(instance.id)})


async def started(asked: RequestContext, definition: Definition, data: JSON, unfit_status: int) -> Instance:
    """Start an instance, or return the one already started with the same key.

    Raises Refused, with *unfit_status* if *data* does not match the input schema.
    """
    given = {} if data is None else data
    unfit = await asyncio.to_thread(definition.refusal_of, given)
    if unfit is not None:
        raise Refused(unfit_status, "unfit-input", unfit, f"see {path_of(definition.id)}/schemas/input")
    others = [one for one in asked.catalogue.with_reachable(definition) if one is not definition]
    chosen, key, memo = asked.parameter(NEW_ID), asked.parameter(IDEMPOTENCY_KEY), asked.memo()
    once = None if key is None else f"{asked.tenant.name}\n{key}"
    if once is not None and chosen is not None:  # otherwise the id identifies the key
        memo[start_options.IDEMPOTENCY_KEY] = sha256(once.encode()).hexdigest()
    try:
        return await asked.client.start(
            definition,
            given,
            workflow_id=chosen,
            task_queue=asked.task_queue,
            sub_workflows=others,
            idempotency_key=once,
            memo=memo,
        )
    except AlreadyStartedError as error:
        if key is not None and await _is_of(asked, error.instance, definition, memo):
            return asked.client.instance(error.instance)
        link = {"Location": link_to(error.instance)}
        raise Refused(409, "already-started", error.message, "choose another id", headers=link) from None
    except UsageError as error:
        refusal = refusal_of(error)
        if refusal.status == _UNAVAILABLE and key is None:
            refusal.hint = "it may have been started; with an Idempotency-Key, repeated requests start it once"
        raise refusal from None


def definition_of(asked: RequestContext) -> Definition:
    """Return the definition that the path names. Raises Refused, and DefinitionsUnavailable."""
    definition_id, version = asked.path_id(), asked.parameter(VERSION)
    refuse_workflow(asked.tenant, definition_id)
    known, why = asked.known(), f"there is no definition {definition_id!r}"
    hint = "GET /workflows lists the definitions"
    try:
        if definition_id in known:
            return asked.catalogue.find(definition_id, version)
        hint = did_you_mean(definition_id, known) or hint
    except UnknownDefinition as error:
        why = str(error)
    if asked.catalogue.unreadable is not None:
        raise DefinitionsUnavailable(asked.catalogue.unreadable)
    raise Refused(404, "unknown-definition", why, hint)


async def _is_of(asked: RequestContext, workflow_id: str, definition: Definition, memo: Mapping[str, JSON]) -> bool:
    """Return whether the instance of that id is of *definition*, so that the tenant may see it, and of the same key."""
    try:
        found = await asked.client.instance(workflow_id).handle.describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    key = await found.memo_value(start_options.IDEMPOTENCY_KEY, None)
    return bool(found.workflow_type == definition.id and key == memo.get(start_options.IDEMPOTENCY_KEY))


def _facts(definition: Definition) -> Workflow:
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
