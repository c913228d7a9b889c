"""The model of the draft of November 2019, and of the texts after it until the spring of 2020.

Names of fields are the draft's own. Other names or shapes in later texts are rewritten before the model is built: see
`spellings`.
"""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.node import Node, Template, Text
from swf_temporal.text.origin import UNWRITTEN, Source

Mode: TypeAlias = Literal["SEQUENTIAL", "PARALLEL"]

Operator: TypeAlias = Literal[
    "EQ", "LT", "LTEQ", "GT", "GTEQ", "StrEQ", "StrLT", "StrLTEQ", "StrGT", "StrGTEQ",
    "Exists", "NotExists", "Null", "NotNull", "Equals", "NotEquals",
    "LessThan", "LessThanEquals", "GreaterThan", "GreaterThanEquals",
]  # fmt: skip
"""The operators of a rule. The first ten are the draft's; the others were added in December."""


class Filter(Node):
    """A filter of input and output data, and the path of the result (section "Filter Definition")."""

    input_path: str | None = None
    result_path: str | None = None
    """The path at which the result is put."""
    output_path: str | None = None


class Trigger(Node):
    """An event that states wait for (section "Trigger Definition")."""

    name: Text
    source: str
    type: Text
    correlation_token: str | None = None
    """A JSONPath into the event: events of one instance have the same value there."""
    metadata: dict[str, Template] = Field(default_factory=dict)


class Function(Node):
    """A function that an action calls (section "Function Definition")."""

    name: Text
    type: Text | None = None
    resource: Text | None = None
    """The operation that is called; in the draft, the name identifies it."""
    parameters: dict[str, Template] | None = None
    """The arguments, in place of the action's data; texts that are JSONPaths select from those."""
    metadata: dict[str, Template] = Field(default_factory=dict)


class Retry(Node):
    """A retry on one result, or one error, of a function (section "Retry Definition")."""

    match: Text
    """A result, the name or code of an error, or a word such as SYS.Timeout."""
    retry_interval: str | None = None
    max_retry: int | None = Field(default=None, ge=0)
    next_state: Text | None = None
    """The next state when the retries are used up."""
    metadata: dict[str, Template] = Field(default_factory=dict)


class Action(Node):
    """A function to call (section "Action Definition")."""

    name: Text | None = None
    function: Function
    timeout: str | None = None
    retry: tuple[Retry, ...] = ()
    filter: Filter | None = None
    metadata: dict[str, Template] = Field(default_factory=dict)


class EventDefinition(Node):
    """Events to wait for, and what to do when they arrive (section "Event State: Event Definitions")."""

    event_expression: str
    timeout: str | None = None
    action_mode: Mode = "SEQUENTIAL"
    actions: tuple[Action, ...] = ()
    filter: Filter | None = None
    next_state: Text | None = None
    metadata: dict[str, Template] = Field(default_factory=dict)


class Rule(Node):
    """A comparison of the value at a path with another value (section "Switch State: Choices")."""

    path: str
    value: Text | bool | None = None
    operator: Operator = "EQ"


class Choice(Node):
    """A choice of a switch state: the rules of its only key, and the next state (section "Switch State: Choices")."""

    single: tuple[Rule, ...] | None = None
    and_: tuple[Rule, ...] | None = Field(default=None, alias="and")
    or_: tuple[Rule, ...] | None = Field(default=None, alias="or")
    not_: tuple[Rule, ...] | None = Field(default=None, alias="not")
    next_state: Text
    metadata: dict[str, Template] = Field(default_factory=dict)


class Condition(Node):
    """A condition in the Spring Expression Language, in the texts of December."""

    body: str
    expression_language: str | None = None


class ErrorHandler(Node):
    """A handler of the errors for which a condition holds, in the texts of December."""

    condition: Condition
    next_state: Text | None = None
    end: bool = False


class Loop(Node):
    """A loop: a state is repeated for each element of an array, in the texts of December."""

    input_collection: str
    output_collection: str | None = None
    completion_condition: Condition | None = None
    """A condition that ends the loop if it holds after an iteration."""
    time_delay: str | None = None


class StateBase(Node):
    """The base of all states."""

    name: Text
    id: Text | None = None
    end: bool = False
    filter: Filter | None = None
    next_state: Text | None = None
    condition: Condition | None = None
    """A condition of the transition; later texts write it there."""
    loop: Loop | None = None
    on_error: tuple[ErrorHandler, ...] = ()
    metadata: dict[str, Template] = Field(default_factory=dict)


class EventState(StateBase):
    """Waits for events and calls functions (section "Event State")."""

    type: Literal["EVENT"]
    events: tuple[EventDefinition, ...]


class OperationState(StateBase):
    """Calls functions (section "Operation State")."""

    type: Literal["OPERATION"]
    action_mode: Mode = "SEQUENTIAL"
    actions: tuple[Action, ...] = ()


class SwitchState(StateBase):
    """Chooses the transition by data (section "Switch State")."""

    type: Literal["SWITCH"]
    choices: tuple[Choice, ...]
    default: Text | None = None


class DelayState(StateBase):
    """Waits for a duration (section "Delay State")."""

    type: Literal["DELAY"]
    time_delay: Text


class Branch(Node):
    """One of the paths of a parallel state (section "Parallel State: Branch")."""

    name: Text
    starts_at: Text
    states: "tuple[State, ...]"
    wait_for_completion: bool = False
    metadata: dict[str, Template] = Field(default_factory=dict)


class ParallelState(StateBase):
    """Runs branches concurrently (section "Parallel State")."""

    type: Literal["PARALLEL"]
    branches: tuple[Branch, ...]


class SubFlowState(StateBase):
    """Runs another workflow (section "SubFlow State")."""

    type: Literal["SUBFLOW"]
    workflow_id: Text
    wait_for_completion: bool = False


class RelayState(StateBase):
    """Puts literal data into the state's data, in the texts of 2020."""

    type: Literal["RELAY"]
    inject: dict[str, Template] = Field(default_factory=dict)


STATES: Final = (EventState, OperationState, SwitchState, DelayState, ParallelState, SubFlowState, RelayState)
"""The kinds of states."""

State: TypeAlias = Annotated[
    EventState | OperationState | SwitchState | DelayState | ParallelState | SubFlowState | RelayState,
    Field(discriminator="type"),
]

Branch.model_rebuild()


class Definition(Node):
    """A workflow definition (section "Workflow Definition")."""

    id: Text
    name: Text | None = None
    description: str | None = None
    version: Text | None = None
    schema_version: Text | None = None
    starts_at: Text
    exec_status: Literal["Success", "Fail", "Timeout", "Invalid"] | None = None
    """The outcome of an instance: it is reported, and not an instruction."""
    trigger_defs: tuple[Trigger, ...] = ()
    states: tuple[State, ...]
    extensions: tuple[Template, ...] = ()
    metadata: dict[str, Template] = Field(default_factory=dict)

    source: Source = Field(default=UNWRITTEN, exclude=True, repr=False)
