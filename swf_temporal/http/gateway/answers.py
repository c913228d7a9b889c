"""The JSON that the gateway takes and answers. Its OpenAPI description has the schemas of these types."""

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from swf_temporal.operations.listing import STATUSES

Text = Annotated[str, Field(min_length=1)]
Status = Annotated[str, Field(json_schema_extra={"enum": list(STATUSES)})]

_OF_EVENTS: Final[Any] = {
    "propertyNames": {"pattern": "^([a-z0-9]{1,20}|data_base64)$"},
    "additionalProperties": {"type": ["string", "integer", "boolean", "null"]},
    "if": {"required": ["data_base64"], "properties": {"data_base64": {"type": "string"}}},
    "then": {"properties": {"data": {"type": "null"}}},
    "example": {"specversion": "1.0", "id": "e-1", "source": "shop", "type": "order.placed", "data": {"item": "mouse"}},
}
"""What the schema of events says besides their attributes."""


class EventFacts(TypedDict):
    """By what an event is known."""

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
    """What became of an event at one definition or instance."""

    definition: Text | None
    instance: Text | None
    status: Annotated[str, Field(description="What the instance did with the event.")]


class NotTaken(TypedDict):
    """Why a definition does not take an event."""

    definition: Text
    event: str | None
    reason: str


class Taken(TypedDict):
    """What became of an event."""

    event: EventFacts
    status: Annotated[
        str,
        Field(
            description="`accepted`; `duplicate`: it had its effect before; `ignored`: no instance takes it. "
            "Of an event for one instance: `taken`, `kept`, `duplicate`, or `sent` if that is not known."
        ),
    ]
    receipts: list[Receipt]
    reasons: NotRequired[list[NotTaken]]


class TakenBatch(TypedDict):
    """What became of each event of a batch, in its order."""

    events: list[Taken]


class WorkflowEvent(TypedDict):
    """An event that a definition consumes or produces."""

    name: str
    type: str | None
    source: str | None
    kind: Literal["consumed", "produced"]
    starts: bool


class WorkflowLinks(TypedDict):
    """Where a definition is started, and where its input schema is."""

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
    """By what an instance is known."""

    id: Text
    definition: Text


class Instance(InstanceFacts):
    """An instance. While a worker answers for it, or its workers set search attributes, also its state."""

    runId: Text
    status: Status
    started: str | None
    ended: str | None
    version: NotRequired[str | None]
    state: NotRequired[str | None]
    businessKey: NotRequired[str]
    errorCode: NotRequired[str]
    reason: NotRequired[str | None]


class Instances(TypedDict):
    """Instances: those that run first, then what ended last."""

    instances: list[Instance]


class DoneSince(TypedDict):
    """A call, or a sub-workflow, that an instance has begun: it is made again, with the same idempotency key."""

    id: str
    name: Annotated[str, Field(description="The function, or the definition.")]
    kind: Literal["call", "subflow"]
    outcome: str


_Place = TypedDict("_Place", {"from": Text, "action": NotRequired[Text]})


class Rerun(InstanceFacts, _Place):
    """What becomes of an instance that goes on from where it failed, or from a state or an action, once more."""

    status: Annotated[Status, Field(description="Its status before. If it runs, that run is terminated.")]
    entered: Annotated[str, Field(description="When it came there.")]
    times: Annotated[int, Field(description="How often it came there. It goes on from the last time.")]
    again: Annotated[list[str], Field(description="The states that are done again, or go on.")]
    done: Annotated[
        list[DoneSince], Field(description="What it has begun outside, and makes again where it comes to it.")
    ]
    data: NotRequired[Annotated[Any, Field(description="The JSON merge patch that changes its data.")]]
    events: Annotated[int, Field(description="How many events have come since.")]
    runId: NotRequired[Annotated[Text, Field(description="Its new run; not there if it is only planned.")]]


class Fault(TypedDict):
    """Why an instance has no output."""

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
    workflowdata: Annotated[Any, Field(description="Null if no worker told it.")]


class Task(TypedDict):
    """An event that an instance waits for."""

    instance: Text
    definition: Text
    state: str
    kind: str | None
    event: Text
    type: str | None
    until: str | None


class TaskWithSchema(Task):
    """A task, and the data that completes it."""

    schema: Annotated[Any, Field(description="The JSON Schema of its data; null without one.")]


class Tasks(TypedDict):
    """Tasks, and how complete the list is."""

    tasks: list[Task]
    silent: Annotated[
        list[Text], Field(description="The instances that did not answer: no worker runs, or they are paused.")
    ]
    more: Annotated[int, Field(description="How many more instances run that were not asked.")]


class Done(TypedDict):
    """A task that is completed."""

    id: Text
    status: Literal["taken", "sent"]


@with_config(ConfigDict(json_schema_extra={"example": {"reason": "the order was withdrawn"}}))
class ChangedData(TypedDict):
    """With what data an instance enters the state, where they are not those that it had."""

    data: Annotated[dict[str, Any], Field(description="A JSON merge patch: null removes a member.")]


class Reason(TypedDict):
    """Why an instance is to end."""

    reason: str


class ProblemOfEvent(TypedDict):
    """What is wrong with one event of a batch."""

    index: int
    detail: str


class Problem(TypedDict):
    """Why a request is rejected, by RFC 9457."""

    type: str
    title: str
    status: int
    code: Annotated[str, Field(description="The reason, for programs.")]
    detail: Annotated[str, Field(description="The reason, for people.")]
    hint: NotRequired[Annotated[str, Field(description="What to do.")]]
    errors: NotRequired[list[ProblemOfEvent]]
