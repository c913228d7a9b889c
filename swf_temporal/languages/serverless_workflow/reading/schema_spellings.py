"""How does the JSON Schema say what is read in another shape than the model's?

Other names of a property follow from the table in `serverless_workflow`. What its steps do to a node is said here
once more, as what they accept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from swf_temporal.languages.serverless_workflow.model import actions, states, workflow
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import TRUTHS
from swf_temporal.languages.serverless_workflow.reading.reshaping import COMPLETIONS

Schema: TypeAlias = dict[str, Any]

TEXT: Schema = {"type": ["string", "number"]}
"""A text, which may be written as a number."""

TRUTH_PATTERN = f"^({'|'.join(''.join(f'[{c.upper()}{c}]' for c in word) for word in TRUTHS)})$"
"""The texts that are read as true or false."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What else a kind of node may have, and in what other shapes its properties come."""

    more: Mapping[str, Schema] = field(default_factory=dict)
    """Properties that are moved or rewritten when they are read."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Further JSON types of properties."""
    widened: Mapping[str, Schema] = field(default_factory=dict)
    """Further shapes of properties."""
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a required property, those that do as well."""
    is_open: bool = False
    """Whether it may have properties that nobody has defined."""


def to(kind: type[Node]) -> Schema:
    """Return the reference to the schema of *kind*."""
    return {"$ref": f"#/$defs/{kind.__name__}"}


_TIME: Schema = {"type": "string"}
_EVENT_TIMEOUT = dict.fromkeys(("eventTimeout", "timeout", "timeDelay"), _TIME)
_ATTRIBUTES: Mapping[str, Schema] = {"contextAttributes": {"type": "array", "items": {"type": "object"}}}
_TOTAL: Schema = {
    "type": "object",
    "properties": {"total": _TIME, "single": _TIME},
    "required": ["total"],
    "additionalProperties": False,
}
_SUBFLOW: Mapping[str, Schema] = {"workflowId": to(actions.SubflowRef)}
_FREE: Schema = {"type": "object"}

ACCEPTED: Mapping[type[Node], Accepted] = {
    workflow.Workflow: Accepted(
        more={"execTimeout": to(workflow.WorkflowExecTimeout)},
        widened={"auth": {"$ref": "#/$defs/Auth"}},
        instead={"id": ("key", "name")},
        is_open=True,
    ),
    # What has no `schema` is the schema itself, whose properties are any.
    workflow.DataSchema: Accepted(instead={"schema": ()}, is_open=True),
    workflow.WorkflowTimeouts: Accepted(widened={"stateExecTimeout": _TOTAL}),
    actions.Action: Accepted(more=dict.fromkeys(("arguments", "args", "parameters"), _FREE)),
    actions.FunctionRef: Accepted(
        more={
            "retryRef": TEXT,
            "retryableErrors": {"type": "array", "items": TEXT},
            "nonRetryableErrors": {"type": "array", "items": TEXT},
        }
    ),
    actions.EventRef: Accepted(widened=_ATTRIBUTES),
    states.ProduceEvent: Accepted(widened=_ATTRIBUTES),
    states.OnError: Accepted(more={"errorRef": TEXT, "error": TEXT}, instead={"errorRefs": ("errorRef", "error")}),
    states.StateTimeouts: Accepted(widened={"stateExecTimeout": _TOTAL}),
    states.EventState: Accepted(more=_EVENT_TIMEOUT),
    states.OperationState: Accepted(more=_SUBFLOW),
    states.SwitchState: Accepted(more=_EVENT_TIMEOUT),
    states.ParallelState: Accepted(widened={"completionType": {"enum": list(COMPLETIONS)}}),
    states.Branch: Accepted(more=_SUBFLOW, instead={"actions": ("workflowId",)}),
    states.ForeachState: Accepted(more=_SUBFLOW),
    states.CallbackState: Accepted(more=_EVENT_TIMEOUT),
}
