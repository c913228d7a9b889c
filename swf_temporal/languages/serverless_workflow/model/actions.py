"""Actions: calling a function, exchanging events, or running another workflow."""

from typing import Literal

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.node import Expression, Filter, Node, Template, Text

Invocation = Literal["sync", "async"]


class FunctionRef(Node):
    """A function and the arguments to call it with (section "FunctionRef Definition")."""

    ref_name: Text
    arguments: Template = None
    selection_set: str | None = None
    invoke: Invocation = "sync"


class EventRef(Node):
    """An event to produce, and one to wait for as the result (section "EventRef Definition")."""

    produce_event_ref: Text
    consume_event_ref: Text | None = None
    consume_event_timeout: str | None = None
    data: Template = None
    context_attributes: dict[str, Template] = Field(default_factory=dict)
    invoke: Invocation = "sync"


class SubflowRef(Node):
    """Another workflow to run (section "SubFlowRef Definition")."""

    workflow_id: Text
    version: Text | None = None
    invoke: Invocation = "sync"
    on_parent_complete: Literal["continue", "terminate"] = "terminate"


class ActionSleep(Node):
    """The times to wait before and after an action (section "Action Definition")."""

    before: str | None = None
    after: str | None = None


class ActionDataFilter(Node):
    """A filter of the data that an action gets, and the path of its results (section "Action data filters")."""

    from_state_data: Expression | None = None
    use_results: bool = True
    results: Filter = None
    to_state_data: Expression | None = None


class EventDataFilter(Node):
    """A filter of the data that a state takes from an event, and their path (section "Event data filters")."""

    use_data: bool = True
    data: Filter = None
    to_state_data: Expression | None = None


class ResultRetry(Node):
    """A retry on one result, or one error, of a function (draft of November 2019)."""

    match: Text
    """A result, the name or code of an error, or a word such as SYS.Timeout."""
    interval: str | None = None
    times: int | None = None
    """The maximum number of retries; none means no limit."""
    next_state: Text | None = None
    """The next state when the retries are used up."""


class Action(Node):
    """One thing that a state does (section "Action Definition")."""

    name: Text | None = None
    id: Text | None = None
    function_ref: FunctionRef | None = None
    event_ref: EventRef | None = None
    sub_flow_ref: SubflowRef | None = None
    sleep: ActionSleep | None = None
    retry_ref: Text | None = None
    retryable_errors: tuple[Text, ...] = ()
    non_retryable_errors: tuple[Text, ...] = ()
    action_data_filter: ActionDataFilter | None = None
    condition: Template = None
    timeout: str | None = Field(default=None, alias="@timeout")
    """Its own timeout, as before 0.7."""
    result_retries: tuple[ResultRetry, ...] = Field(default=(), alias="@resultRetries")
