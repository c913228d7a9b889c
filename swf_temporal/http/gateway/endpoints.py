"""The endpoints of the gateway: path, permission, parameters, bodies and answers of each.

The routes are generated from this table, and so is the OpenAPI description, together with the docstrings of the
functions. Ids in paths are percent-encoded, slashes too.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from swf_temporal.http.gateway import answers, events, instances, sonataflow, workflows
from swf_temporal.http.gateway.answers import (
    EVENT,
    FIRST_WAIT,
    INSTANCE_FILTERS,
    MAX_ACTIVE,
    RERUN_OPTIONS,
    RETRY_OPTIONS,
    START_OPTIONS,
    SYNCHRONOUS_START_OPTIONS,
    TASK_FILTERS,
    VERSION,
    WAIT,
)
from swf_temporal.http.gateway.cloud_events import BATCH, STRUCTURED
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.settings.http import Operation

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
    "POST", "/workflows/{id}", workflows.start_workflow, Operation.START, _OUTCOME, START_OPTIONS, {JSON_MEDIA: Any}
)
ENDPOINTS: Final = (
    Endpoint("POST", "/events", events.send_events, Operation.EVENTS, _TAKEN, body=_EVENTS),
    Endpoint("GET", "/workflows", workflows.list_workflows, Operation.READ, {200: answers.Workflows}),
    Endpoint("GET", "/workflows/{id}", workflows.show_workflow, Operation.READ, {200: answers.Workflow}, (VERSION,)),
    START,
    Endpoint(
        "GET",
        "/workflows/{id}/schemas/input",
        workflows.show_input_schema,
        Operation.READ,
        {200: _said(Any, "The schema")},
        (VERSION,),
        media=workflows.SCHEMA_MEDIA,
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
        media=workflows.SCHEMA_MEDIA,
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
