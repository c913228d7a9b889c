"""The model of a zigflow document: DSL 1.0 with another identity, and what its metadata say about activities.

zigflow is a runtime whose language has the shape of DSL 1.0. Its documents name a workflow type and a task queue of
Temporal where those of the specification have a name and a namespace.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from swf_temporal.languages.dsl.model.node import DurationParts, Node, Number, Template, Text, Truth
from swf_temporal.languages.dsl.model.workflow import Document, ListenTask, Workflow
from swf_temporal.languages.dsl.names import VERSION_FORM

ACTIVITY: Final = "activity"
"""The function that calls an activity of any task queue."""
QUERY, SIGNAL, UPDATE = "query", "signal", "update"
"""The kinds of messages that a listen task names."""
OPTIONS: Final = "activityOptions"
TIMEOUT: Final = "timeout"
"""The keys of the metadata of tasks."""
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_GO_DURATION: Final = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|m|s|us|µs|ns)")


class ZigflowDocument(Document):
    """The identity and description of a zigflow document."""

    dsl: Text = Field(json_schema_extra={"pattern": f"^{VERSION_FORM}$"})
    namespace: Text = Field(alias="taskQueue")
    name: Text = Field(alias="workflowType")


class ZigflowWorkflow(Workflow):
    """A zigflow document."""

    document: ZigflowDocument


class ActivityArguments(Node):
    """The arguments of `call: activity`."""

    name: Text
    arguments: Template = ()
    task_queue: Text = Field(alias="taskQueue")


class Message(Node):
    """A message of a listen task: its name, its kind, when it is the last, and the reply to it."""

    id: Text
    type: Literal["query", "signal", "update"]
    accept_if: Template = Field(default=None, alias="acceptIf")
    data: Template = None
    datacontenttype: Text | None = None
    source: Text | None = None


class ActivityRetryPolicy(Node):
    """The retry policy of an activity."""

    initial_interval: DurationParts | None = Field(default=None, alias="initialInterval")
    backoff_coefficient: float | None = Field(default=None, alias="backoffCoefficient", ge=1)
    maximum_interval: DurationParts | None = Field(default=None, alias="maximumInterval")
    maximum_attempts: Number | None = Field(default=None, alias="maximumAttempts", ge=0)
    non_retryable_error_types: tuple[Text, ...] | None = Field(default=None, alias="nonRetryableErrorTypes")


class ActivityPriority(Node):
    """The priority of an activity."""

    priority_key: Number | None = Field(default=None, alias="priorityKey", ge=1)
    fairness_key: Text | None = Field(default=None, alias="fairnessKey")
    fairness_weight: float | None = Field(default=None, alias="fairnessWeight")


class ActivityOptions(Node):
    """The options with which activities are run: `metadata.activityOptions`."""

    start_to_close: DurationParts | None = Field(default=None, alias="startToCloseTimeout")
    schedule_to_close: DurationParts | None = Field(default=None, alias="scheduleToCloseTimeout")
    schedule_to_start: DurationParts | None = Field(default=None, alias="scheduleToStartTimeout")
    heartbeat: DurationParts | None = Field(default=None, alias="heartbeatTimeout")
    retry_policy: ActivityRetryPolicy | None = Field(default=None, alias="retryPolicy")
    priority: ActivityPriority | None = None
    disable_eager_execution: Truth | None = Field(default=None, alias="disableEagerExecution")
    summary: Text | None = None


def go_seconds(text: str) -> float:
    """Return a duration as Go writes it, such as `1m30s`, in seconds. Raises ValueError."""
    parts = _GO_DURATION.findall(text)
    if text != "0" and (not parts or "".join(parts) != text):
        raise ValueError(text)
    total = 0.0
    for part in parts:
        number = part.rstrip("hmsunµ")
        total += float(number) * _UNITS[part[len(number) :]]
    return total


def messages_of(task: ListenTask) -> list[Message]:
    """Return the messages that *task* listens to."""
    to = task.listen.to
    given = (to.one,) if to.one is not None else (*(to.any or ()), *(to.all or ()))
    return [Message.model_validate(dict(one.with_)) for one in given]


def activity_at(given: Mapping[str, Any]) -> str:
    """Return the operation that means the activity of a task queue that the arguments of a call name."""
    return f"temporal:{given['name']}@{given['taskQueue']}"
