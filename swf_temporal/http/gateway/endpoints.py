"""The endpoints of the gateway: path, permission, parameters, bodies and answers of each.

The routes are generated from this table, and so is the OpenAPI description, together with the docstrings of the
functions. Ids in paths are percent-encoded, slashes too.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Final
from urllib.parse import quote

from pydantic import Field
from pydantic.alias_generators import to_camel
from starlette.responses import JSONResponse, Response
from temporalio.service import RPCError

from swf_temporal.base.client_errors import AlreadyStartedError
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import DefinitionsUnavailable, UnknownDefinition, UsageError
from swf_temporal.http.gateway import answers, events, instances, sonataflow
from swf_temporal.http.gateway.answers import (
    EVENT,
    FIRST_WAIT,
    IDEMPOTENCY_KEY,
    INSTANCE_FILTERS,
    MAX_ACTIVE,
    NEW_ID,
    RERUN_OPTIONS,
    RETRY_OPTIONS,
    START_OPTIONS,
    SYNCHRONOUS_START_OPTIONS,
    TASK_FILTERS,
    VERSION,
    WAIT,
    Outcome,
    Workflow,
    Workflows,
)
from swf_temporal.http.gateway.authentication import refuse_workflow
from swf_temporal.http.gateway.events import BATCH, STRUCTURED
from swf_temporal.http.gateway.instances import TenantInstance, link_to, outcome
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Instance
from swf_temporal.operations.event_sending import latest_of
from swf_temporal.operations.listing import RUNNING
from swf_temporal.settings.http import Operation
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


JSON_MEDIA: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Endpoint:
    method: str
    path: str
    work: Callable[[RequestContext], Awaitable[Response]]
    permits: Operation | None
    """The operation that a tenant needs permission for; None if everyone may ask."""
    answers: Mapping[int, Any] = field(default_factory=dict)
    """The type of the answer, by status. The type's description is used."""
    parameters: tuple[dict[str, Any], ...] = ()
    """The parameters besides the id in its path."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """The type of the body by media type, if it accepts one."""
    media: str = JSON_MEDIA
    """The media type of the answer."""
    problems: tuple[int, ...] = ()
    """The statuses of its refusals besides the usual ones."""

    @property
    def name(self) -> str:
        return to_camel(self.work.__name__)

    @property
    def tag(self) -> str:
        return self.work.__module__.rpartition(".")[2]

    @property
    def always_waits(self) -> bool:
        """Whether it waits as long as allowed, unless the client sets a limit."""
        return FIRST_WAIT in self.parameters

    @property
    def takes_events(self) -> bool:
        """Whether its body is events: then it is required, PUT is allowed too, and each event has its own timeout."""
        return BATCH in self.body


def _said(kind: Any, description: str) -> Any:
    """Return *kind* with another description."""
    return Annotated[kind, Field(description=description)]


_EVENTS: Final = {STRUCTURED: answers.Event, BATCH: list[answers.Event]}
_TAKEN: Final = {
    200: _said(answers.Taken | answers.TakenBatch, "No instance takes it: do not send it again"),
    202: _said(answers.Taken | answers.TakenBatch, "Temporal has stored it"),
}
_OUTCOME: Final = {
    200: _said(answers.Outcome, "How the instance ended"),
    202: _said(answers.Outcome, "The instance is running: poll Location"),
}
_ASKED: Final = {202: _said(answers.InstanceFacts, "The request was passed on to the instance")}
_RERUN: Final = {
    200: _said(answers.Rerun, "What would be done (a dry run)"),
    202: _said(answers.Rerun, "The instance continues from there"),
}
_OF_RERUNS: Final = (409, 422)
_REASON: Final = {JSON_MEDIA: answers.Reason}
_DATA: Final = {JSON_MEDIA: _said(Any, "The data of the event")}

START: Final = Endpoint(
    "POST", "/workflows/{id}", start_workflow, Operation.START, _OUTCOME, START_OPTIONS, {JSON_MEDIA: Any}
)
ENDPOINTS: Final = (
    Endpoint("POST", "/events", events.send_events, Operation.EVENTS, _TAKEN, body=_EVENTS),
    Endpoint("GET", "/workflows", list_workflows, Operation.READ, {200: answers.Workflows}),
    Endpoint("GET", "/workflows/{id}", show_workflow, Operation.READ, {200: answers.Workflow}, (VERSION,)),
    START,
    Endpoint(
        "GET",
        "/workflows/{id}/schemas/input",
        show_input_schema,
        Operation.READ,
        {200: _said(Any, "The schema")},
        (VERSION,),
        media=SCHEMA_MEDIA,
    ),
    Endpoint(
        "GET",
        "/instances",
        instances.list_instances,
        Operation.READ,
        {200: answers.Instances},
        INSTANCE_FILTERS,
        problems=(409,),
    ),
    Endpoint("GET", "/instances/{id}", instances.show_instance, Operation.READ, {200: answers.Instance}),
    Endpoint("GET", "/instances/{id}/audit", instances.show_audit_trail, Operation.READ, {200: answers.AuditTrail}),
    Endpoint("GET", "/instances/{id}/result", instances.show_result, Operation.READ, _OUTCOME, (WAIT,)),
    Endpoint("POST", "/instances/{id}/events", events.deliver_events, Operation.EVENTS, _TAKEN, body=_EVENTS),
    Endpoint("POST", "/instances/{id}/cancel", instances.cancel_instance, Operation.END, _ASKED, body=_REASON),
    Endpoint("POST", "/instances/{id}/terminate", instances.terminate_instance, Operation.END, _ASKED, body=_REASON),
    Endpoint(
        "POST",
        "/instances/{id}/pause",
        instances.pause_instance,
        Operation.END,
        _ASKED,
        body=_REASON,
        problems=(409, 501),
    ),
    Endpoint(
        "POST",
        "/instances/{id}/resume",
        instances.resume_instance,
        Operation.END,
        _ASKED,
        body=_REASON,
        problems=(409,),
    ),
    Endpoint(
        "POST",
        "/instances/{id}/retry",
        instances.retry_instance,
        Operation.RERUN,
        _RERUN,
        RETRY_OPTIONS,
        problems=_OF_RERUNS,
    ),
    Endpoint(
        "POST",
        "/instances/{id}/rerun",
        instances.rerun_instance,
        Operation.RERUN,
        _RERUN,
        RERUN_OPTIONS,
        {JSON_MEDIA: answers.ChangedData},
        problems=_OF_RERUNS,
    ),
    Endpoint("GET", "/tasks", instances.show_tasks, Operation.TASKS, {200: answers.Tasks}, TASK_FILTERS),
    Endpoint("GET", "/tasks/{id}", instances.show_task, Operation.TASKS, {200: answers.TaskWithSchema}, (EVENT,)),
    Endpoint("POST", "/tasks/{id}", instances.do_task, Operation.TASKS, {202: answers.Done}, (EVENT,), _DATA),
)
"""The endpoints that clients see in the description."""

_OF_FAILURES: Final = (412, 500)
SONATAFLOW: Final = (
    Endpoint(
        "POST",
        "/{id}",
        sonataflow.start_and_wait,
        Operation.START,
        {201: _said(answers.WorkflowData, "The instance has completed, or waits")},
        SYNCHRONOUS_START_OPTIONS,
        {JSON_MEDIA: _said(Any, "The input, or an object with it as `workflowdata`, whose other members are ignored")},
        problems=_OF_FAILURES,
    ),
    Endpoint(
        "GET",
        "/{id}",
        sonataflow.list_active,
        Operation.READ,
        {200: _said(list[answers.WorkflowData], "The instances, the latest started first")},
        (VERSION, MAX_ACTIVE),
    ),
    Endpoint(
        "GET",
        "/{id}/schema",
        sonataflow.show_schema,
        Operation.READ,
        {200: _said(Any, "The schema")},
        (VERSION,),
        media=SCHEMA_MEDIA,
    ),
    Endpoint("GET", "/{id}/{instance}", sonataflow.show_data, Operation.READ, {200: answers.WorkflowData}),
    Endpoint(
        "PATCH",
        "/{id}/{instance}",
        sonataflow.change_instance,
        Operation.CHANGE,
        {200: answers.WorkflowData},
        body={JSON_MEDIA: _said(dict[str, Any], "A JSON merge patch: null removes a member")},
    ),
    Endpoint(
        "DELETE",
        "/{id}/{instance}",
        sonataflow.abort_instance,
        Operation.END,
        {200: answers.WorkflowData},
        (FIRST_WAIT,),
    ),
)
"""The endpoints of SonataFlow, if the gateway serves them."""
