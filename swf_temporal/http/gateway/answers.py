"""The JSON that the gateway accepts and answers with. Its OpenAPI description has the schemas of these types."""

import re
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from swf_temporal.operations.listing import STATUSES
from swf_temporal.runtime.ids import FREE_ID_PATTERN, why_reserved

Text = Annotated[str, Field(min_length=1)]
Status = Annotated[str, Field(json_schema_extra={"enum": list(STATUSES)})]

_OF_EVENTS: Final[Any] = {
    "propertyNames": {"pattern": "^([a-z0-9]{1,20}|data_base64)$"},
    "additionalProperties": {"type": ["string", "integer", "boolean", "null"]},
    "if": {"required": ["data_base64"], "properties": {"data_base64": {"type": "string"}}},
    "then": {"properties": {"data": {"type": "null"}}},
    "example": {"specversion": "1.0", "id": "e-1", "source": "shop", "type": "order.placed", "data": {"item": "mouse"}},
}
"""Parts of the schema of events besides their attributes."""


class EventFacts(TypedDict):
    """The attributes that identify an event."""

    id: Annotated[Text, Field(description="Unique among the events of its source.")]
    source: Text
    type: Text


@with_config(ConfigDict(json_schema_extra=_OF_EVENTS))
class Event(EventFacts):
    """A CloudEvent. Names of further attributes: lower-case letters and digits. Null counts as missing."""

    specversion: Literal["1.0"]
    subject: NotRequired[Text | None]
    time: NotRequired[Annotated[str, Field(json_schema_extra={"format": "date-time"})] | None]
    datacontenttype: NotRequired[Text | None]
    dataschema: NotRequired[Text | None]
    data: NotRequired[Annotated[Any, Field(description="Any JSON value.")]]
    data_base64: NotRequired[
        Annotated[str, Field(pattern="^([A-Za-z0-9+/]{4})*$", json_schema_extra={"contentEncoding": "base64"})] | None
    ]


class Receipt(TypedDict):
    """The outcome of an event at one definition or instance."""

    definition: Text | None
    instance: Text | None
    status: Annotated[str, Field(description="What the instance did with the event.")]


class NotTaken(TypedDict):
    """The reason why a definition does not take an event."""

    definition: Text
    event: str | None
    reason: str


class Taken(TypedDict):
    """The outcome of an event."""

    event: EventFacts
    status: Annotated[
        str,
        Field(
            description="`accepted`; `duplicate`: it was processed before; `ignored`: no instance takes it. "
            "For an event to one instance: `taken`, `kept`, `duplicate`, or `sent` if the outcome is not known."
        ),
    ]
    receipts: list[Receipt]
    reasons: NotRequired[list[NotTaken]]


class TakenBatch(TypedDict):
    """The outcomes of the events of a batch, in their order."""

    events: list[Taken]


class WorkflowEvent(TypedDict):
    """An event that a definition consumes or produces."""

    name: str
    type: str | None
    source: str | None
    kind: Literal["consumed", "produced"]
    starts: bool


class WorkflowLinks(TypedDict):
    """Links to start a definition, and to its input schema."""

    start: str
    inputSchema: str


class Workflow(TypedDict):
    """A definition."""

    id: Text
    version: str | None
    name: str | None
    description: str | None
    events: list[WorkflowEvent]
    links: WorkflowLinks


class Workflows(TypedDict):
    """The definitions that the client may see."""

    workflows: list[Workflow]


class InstanceFacts(TypedDict):
    """The ids of an instance."""

    id: Text
    definition: Text


class Instance(InstanceFacts):
    """An instance. While a worker responds, or if its workers set search attributes, also its state."""

    runId: Text
    status: Status
    started: str | None
    ended: str | None
    version: NotRequired[str | None]
    state: NotRequired[str | None]
    businessKey: NotRequired[str]
    errorName: NotRequired[str]
    errorCode: NotRequired[str]
    waitsFor: NotRequired[list[str]]
    since: NotRequired[str]
    reason: NotRequired[str | None]


class AuditEntry(TypedDict):
    """Something that was done to an instance from outside."""

    at: str
    what: Annotated[str, Field(description="Such as `started`, `event`, `paused`, `cancellation requested`.")]
    by: NotRequired[Annotated[str, Field(description="Who did it; missing if it was the server.")]]
    detail: NotRequired[Annotated[str, Field(description="The reason, or the name or the type of the event.")]]


class AuditTrail(TypedDict):
    """The audit trail of an instance's latest run: its latest 100 entries, in order."""

    runId: Text
    entries: list[AuditEntry]


class Instances(TypedDict):
    """Instances: running ones first, then the latest to end."""

    instances: list[Instance]


class DoneSince(TypedDict):
    """A call or a sub-workflow that an instance has begun: it is repeated with the same idempotency key."""

    id: str
    name: Annotated[str, Field(description="The function, or the definition.")]
    kind: Literal["call", "subflow"]
    outcome: str


_Place = TypedDict("_Place", {"from": Text, "action": NotRequired[Text]})


class Rerun(InstanceFacts, _Place):
    """The plan for an instance to continue from where it failed, or from a state or an action."""

    status: Annotated[Status, Field(description="Its status before. If it runs, that run is terminated.")]
    entered: Annotated[str, Field(description="When it reached that point.")]
    times: Annotated[int, Field(description="How often it reached that point. It continues from the last time.")]
    again: Annotated[list[str], Field(description="The states that are repeated, or continue.")]
    done: Annotated[list[DoneSince], Field(description="Calls and sub-workflows to repeat if it reaches them again.")]
    data: NotRequired[Annotated[Any, Field(description="The JSON merge patch that changes its data.")]]
    events: Annotated[int, Field(description="The number of events received since.")]
    runId: NotRequired[Annotated[Text, Field(description="Its new run; missing if it is only planned.")]]


class Fault(TypedDict):
    """The reason why an instance has no output."""

    name: str
    code: str
    message: str


class Outcome(InstanceFacts):
    """The outcome of an instance, if it has ended."""

    status: Status
    output: NotRequired[Annotated[Any, Field(description="The output of an instance that has completed.")]]
    error: NotRequired[Fault]


class WorkflowData(TypedDict):
    """An instance and its data, or its output if it has completed."""

    id: Text
    workflowdata: Annotated[Any, Field(description="Null if no worker responds, or it is too large.")]


class Task(TypedDict):
    """An event that an instance waits for."""

    instance: Text
    definition: Text
    state: str
    kind: str | None
    event: Text
    type: str | None
    since: Annotated[str | None, Field(description="When it began to wait.")]
    until: str | None
    roles: Annotated[list[str], Field(description="Who may answer, by the definition.")]
    assignee: Annotated[str | None, Field(description="The person whose answer is awaited, by the definition.")]


class TaskWithSchema(Task):
    """A task, and the schema of the data that completes it."""

    schema: Annotated[Any, Field(description="The JSON Schema of its data; null if it has none.")]


class Tasks(TypedDict):
    """Tasks, and how complete the list is."""

    tasks: list[Task]
    silent: Annotated[
        list[Text], Field(description="The instances that did not answer: no worker runs, or they are paused.")
    ]
    more: Annotated[int, Field(description="The number of further running instances that were not asked.")]


class Done(TypedDict):
    """A completed task."""

    id: Text
    status: Literal["taken", "sent"]


@with_config(ConfigDict(json_schema_extra={"example": {"reason": "the order was withdrawn"}}))
class ChangedData(TypedDict):
    """Changes to the data before the state is entered."""

    data: Annotated[dict[str, Any], Field(description="A JSON merge patch: null removes a member.")]


class Reason(TypedDict):
    """The reason to end or pause an instance, or to resume it."""

    reason: str


class ProblemOfEvent(TypedDict):
    """An error in one event of a batch."""

    index: int
    detail: str


class Problem(TypedDict):
    """A rejected request, by RFC 9457."""

    type: str
    title: str
    status: int
    code: Annotated[str, Field(description="The reason, for programs.")]
    detail: Annotated[str, Field(description="The reason, for people.")]
    hint: NotRequired[Annotated[str, Field(description="What to do.")]]
    errors: NotRequired[list[ProblemOfEvent]]


Parameter: TypeAlias = dict[str, Any]

_KEY: Final = "^[!-~]{1,200}$"
"""The pattern of instance ids and idempotency keys that clients choose."""
_FREE_KEY: Final = f"^(?={FREE_ID_PATTERN}$)[!-~]{{1,200}}$"
"""The pattern of ids for new instances: generated ids have a reserved form."""


def _parameter(
    name: str, description: str | None = None, where: str = "query", *, required: bool = False, **schema: Any
) -> Parameter:
    about = {} if description is None else {"description": description}
    needed = {"required": True} if required or where == "path" else {}
    return {"name": name, "in": where, "schema": {"type": "string"} | schema, **about, **needed}


DEFINITION_ID: Final = _parameter("id", "The id of a definition", "path", minLength=1)
INSTANCE_ID: Final = _parameter("id", "The id of an instance", "path", minLength=1)
INSTANCE: Final = _parameter("instance", "The id of an instance", "path", minLength=1)

VERSION: Final = _parameter("version", "The version of the definition. The default is the latest.")
_NEW_ID: Final = "The id of the new instance, not of a reserved form. By default one is generated."
NEW_ID: Final = _parameter("id", _NEW_ID, pattern=_FREE_KEY)
_ONCE: Final = "Requests with the same key start only one instance."
IDEMPOTENCY_KEY: Final = _parameter("Idempotency-Key", _ONCE, "header", pattern=_KEY)
_WAIT: Final = "The number of seconds to wait for the result. The header `Prefer: wait=SECONDS` has the same effect."
WAIT: Final = _parameter("wait", _WAIT, type="integer", minimum=0, maximum=999_999_999, example=10)
_FIRST_WAIT: Final = "The maximum number of seconds to wait. By default as long as the gateway allows."
FIRST_WAIT: Final = WAIT | {"description": _FIRST_WAIT}
_BUSINESS_KEY: Final = "The client's key for the instance. Several instances may have the same. Empty, it is ignored."
BUSINESS_KEY: Final = _parameter("businessKey", _BUSINESS_KEY)
_START: Final = (VERSION, NEW_ID, IDEMPOTENCY_KEY, BUSINESS_KEY)
START_OPTIONS: Final = (*_START, WAIT)
SYNCHRONOUS_START_OPTIONS: Final = (*_START, FIRST_WAIT)

DEFINITION: Final = _parameter("definition", "Only instances of this definition.")
STATUS: Final = _parameter("status", enum=list(STATUSES))
MAX_INSTANCES: Final = _parameter("limit", type="integer", minimum=1, maximum=100, default=20)
_FOUND_BY: Final = "Only instances with this {}, by a search attribute."
INSTANCE_FACTS: Final = (
    _parameter("version", _FOUND_BY.format("version"), minLength=1),
    _parameter("state", _FOUND_BY.format("state"), minLength=1),
    _parameter("businessKey", _FOUND_BY.format("business key"), minLength=1),
    _parameter("errorName", _FOUND_BY.format("name of an error"), minLength=1),
    _parameter("errorCode", _FOUND_BY.format("error code"), minLength=1),
)
INSTANCE_FILTERS: Final = (DEFINITION, STATUS, *INSTANCE_FACTS, MAX_INSTANCES)
MAX_ACTIVE: Final = _parameter("limit", type="integer", minimum=1, maximum=200, default=200)
MAX_TASKS: Final = _parameter("limit", type="integer", minimum=1, maximum=200, default=100)
ROLE: Final = _parameter("role", "Only tasks that this role may answer.", minLength=1)
ASSIGNEE: Final = _parameter("assignee", "Only tasks of this person.", minLength=1)
_WAITING: Final = "Only tasks that have waited at least as long, in seconds or as a duration of ISO 8601."
_LENGTH: Final = r"^([1-9][0-9]{0,7}|P([1-9][0-9]{0,3}D|T[1-9][0-9]{0,5}[HMS]))$"
"""The pattern of the lengths of time that every client can write; others are accepted, too."""
WAITING: Final = _parameter("waiting", _WAITING, pattern=_LENGTH, example="PT1H")
TASK_FILTERS: Final = (DEFINITION, ROLE, ASSIGNEE, WAITING, MAX_TASKS)
_EVENT: Final = "The name of the event in the definition, if the instance waits for several."
EVENT: Final = _parameter("event", _EVENT, minLength=1)

DRY_RUN: Final = _parameter("dryRun", "Return the plan only, and change nothing.", type="boolean", default=False)
_DROP: Final = "Drop the events received since, instead of delivering them again."
DROP_EVENTS: Final = _parameter("dropEvents", _DROP, type="boolean", default=False)
RETRY_OPTIONS: Final = (DRY_RUN, DROP_EVENTS)
FROM: Final = _parameter("from", "The state from which it continues.", required=True, minLength=1)
ACTION: Final = _parameter("action", "The action of that state from which it continues.", minLength=1)
RERUN_OPTIONS: Final = (FROM, ACTION, *RETRY_OPTIONS)


def what_is_wrong(parameter: Parameter, text: str) -> str | None:
    """Return what is wrong with *text* as the value of *parameter*; None if it is valid."""
    schema = parameter["schema"]
    if schema["type"] == "boolean":
        return None if text in ("true", "false") else "it must be true or false"
    if "enum" in schema:
        return None if text in schema["enum"] else f"it must be one of {', '.join(schema['enum'])}"
    if "pattern" in schema:
        if re.fullmatch(schema["pattern"], text):
            return None
        is_free = schema["pattern"] == _KEY or not (why := why_reserved(text))
        return "it must have 1 to 200 ASCII characters, without spaces" if is_free else f"it cannot be chosen: it {why}"
    if schema["type"] == "integer":
        least, most = schema["minimum"], schema["maximum"]
        fits = re.fullmatch(r"\d{1,9}", text, re.ASCII) and least <= int(text) <= most
        return None if fits else f"it must be a whole number from {least} to {most}"
    return "it must not be empty" if len(text) < schema.get("minLength", 0) else None
