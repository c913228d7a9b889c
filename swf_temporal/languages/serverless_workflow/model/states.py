"""The states of a workflow, and how one leads to the next."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.actions import Action, EventDataFilter
from swf_temporal.languages.serverless_workflow.model.node import Expression, Filter, Node, Template, Text


class ProduceEvent(Node):
    """An event that is produced on leaving a state (section "ProducedEvent Definition")."""

    event_ref: Text
    data: Template = None
    context_attributes: dict[str, Template] = Field(default_factory=dict)


class Transition(Node):
    """Where a state leads (section "Transition Definition")."""

    next_state: Text
    produce_events: tuple[ProduceEvent, ...] = ()
    compensate: bool = False


class ContinueAs(Node):
    """The execution that takes over from this one (section "Continuing as a new Execution")."""

    workflow_id: Text
    version: Text | None = None
    data: Template = None
    workflow_exec_timeout: Template = None


class End(Node):
    """The end of a path (section "End Definition")."""

    terminate: bool = False
    produce_events: tuple[ProduceEvent, ...] = ()
    compensate: bool = False
    continue_as: ContinueAs | None = None


class Leaving(Node):
    """What states, conditions and error handlers share: they lead to a state or to an end."""

    transition: Transition | None = None
    end: End | None = None


class OnError(Leaving):
    """What to do when a state meets an error (section "Error Definition")."""

    error_refs: tuple[Text, ...]


class StateDataFilter(Node):
    """What a state sees of its input, and what it gives on (section "State data filters")."""

    input: Filter = None
    output: Filter = None


class StateTimeouts(Node):
    """How long a state, and what is in it, may take (section "Workflow Timeouts")."""

    state_exec_timeout: str | None = None
    single_state_exec_timeout: str | None = Field(default=None, alias="stateExecTimeout.single")
    """The `single` of a `stateExecTimeout` that says a `total` as well."""
    action_exec_timeout: str | None = None
    branch_exec_timeout: str | None = None
    event_timeout: str | None = None


class StateBase(Leaving):
    """What all states share."""

    name: Text
    id: Text | None = None
    state_data_filter: StateDataFilter | None = None
    timeouts: StateTimeouts = StateTimeouts()
    on_errors: tuple[OnError, ...] = ()
    compensated_by: Text | None = None
    used_for_compensation: bool = False
    metadata: dict[str, Template] = Field(default_factory=dict)


class OnEvents(Node):
    """Events to wait for, and the actions to run when they came (section "OnEvents Definition")."""

    event_refs: tuple[Text, ...]
    action_mode: Literal["sequential", "parallel"] = "sequential"
    actions: tuple[Action, ...] = ()
    event_data_filter: EventDataFilter | None = None


class EventState(StateBase):
    """Waits for events and runs actions (section "Event State")."""

    type: Literal["event"]
    exclusive: bool = True
    on_events: tuple[OnEvents, ...]


class OperationState(StateBase):
    """Runs actions (section "Operation State")."""

    type: Literal["operation"]
    action_mode: Literal["sequential", "parallel"] = "sequential"
    actions: tuple[Action, ...] = ()


class DataCondition(Leaving):
    """Where to go if an expression holds (section "Switch State Data Conditions")."""

    name: Text | None = None
    condition: Template
    metadata: dict[str, Template] = Field(default_factory=dict)


class EventCondition(Leaving):
    """Where to go if an event comes (section "Switch State Event Conditions")."""

    name: Text | None = None
    event_ref: Text
    event_data_filter: EventDataFilter | None = None
    metadata: dict[str, Template] = Field(default_factory=dict)


class DefaultCondition(Leaving):
    """Where to go if nothing else holds, or no event came in time."""

    name: Text | None = None


class SwitchState(StateBase):
    """Chooses the way by data or by the first event to come (section "Switch State")."""

    type: Literal["switch"]
    data_conditions: tuple[DataCondition, ...] = ()
    event_conditions: tuple[EventCondition, ...] = ()
    default_condition: DefaultCondition | None = None


class SleepState(StateBase):
    """Waits for a time (section "Sleep State")."""

    type: Literal["sleep"]
    duration: str


class Branch(Node):
    """One of the paths of a parallel state (section "Parallel State Branch")."""

    name: Text
    actions: tuple[Action, ...]
    timeouts: StateTimeouts = StateTimeouts()


class ParallelState(StateBase):
    """Runs branches side by side (section "Parallel State")."""

    type: Literal["parallel"]
    branches: tuple[Branch, ...]
    completion_type: Literal["allOf", "atLeast"] = "allOf"
    num_completed: int | str | None = None


class InjectState(StateBase):
    """Puts literal data into the workflow's data (section "Inject State")."""

    type: Literal["inject"]
    data: Template


class ForeachState(StateBase):
    """Runs actions for each element of an array (section "ForEach State")."""

    type: Literal["foreach"]
    input_collection: Expression
    output_collection: Expression | None = None
    iteration_param: Text = "item"
    batch_size: int | str | None = None
    mode: Literal["sequential", "parallel"] = "parallel"
    actions: tuple[Action, ...] = ()


class CallbackState(StateBase):
    """Runs an action, then waits for the event that answers it (section "Callback State")."""

    type: Literal["callback"]
    action: Action
    event_ref: Text
    event_data_filter: EventDataFilter | None = None


State: TypeAlias = Annotated[
    EventState | OperationState | SwitchState | SleepState | ParallelState | InjectState | ForeachState | CallbackState,
    Field(discriminator="type"),
]
