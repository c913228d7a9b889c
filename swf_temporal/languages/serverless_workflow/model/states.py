"""The states of a workflow and their transitions."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, get_args

from pydantic import Field

from swf_temporal.languages.serverless_workflow.model.actions import Action, EventDataFilter
from swf_temporal.languages.serverless_workflow.model.node import Expression, Filter, Node, Template, Text


class ProduceEvent(Node):
    """An event that is produced on leaving a state (section "ProducedEvent Definition")."""

    event_ref: Text
    data: Template = None
    context_attributes: dict[str, Template] = Field(default_factory=dict)


class Transition(Node):
    """A transition from a state to the next (section "Transition Definition")."""

    next_state: Text
    produce_events: tuple[ProduceEvent, ...] = ()
    compensate: bool = False
    condition: Template = Field(default=None, alias="@condition")
    """A condition on the state's output, before 0.6: if it does not hold, the run fails."""


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


class WithTransition(Node):
    """The base of states, conditions and error handlers: they lead to a state or to an end."""

    transition: Transition | None = None
    end: End | None = None


class OnError(WithTransition):
    """An error handler of a state (section "Error Definition")."""

    error_refs: tuple[Text, ...]
    code: Text | None = Field(default=None, alias="@code")
    """The code of the error, before 0.7, if it is not defined elsewhere."""
    retry_ref: Text | None = Field(default=None, alias="@retryRef")
    """The retry of the whole state on this error, before 0.7."""
    condition: Template = Field(default=None, alias="@condition")
    """A condition on the error, in place of names, in the draft of May 2020."""
    data: str | None = Field(default=None, alias="@data")
    """The part of the error that is put into the data, in the draft of May 2020."""


class StateRetry(Node):
    """A retry of a whole state: its condition, number and delay (draft of May 2020)."""

    condition: Template
    delay: str | None = None
    increment: str | None = None
    max_attempts: int
    """The maximum number of retries."""


class StateDataFilter(Node):
    """A filter of a state's input and output (section "State data filters")."""

    input: Filter = None
    output: Filter = None
    result: str | None = Field(default=None, alias="@result")
    """The path of the state's result, in the draft of November 2019."""


class StateTimeouts(Node):
    """The timeouts of a state and its parts (section "Workflow Timeouts")."""

    state_exec_timeout: str | None = None
    single_state_exec_timeout: str | None = Field(default=None, alias="stateExecTimeout.single")
    """The `single` of a `stateExecTimeout` that also has a `total`."""
    action_exec_timeout: str | None = None
    branch_exec_timeout: str | None = None
    event_timeout: str | None = None


class StateBase(WithTransition):
    """The base of all states."""

    name: Text
    id: Text | None = None
    state_data_filter: StateDataFilter | None = None
    timeouts: StateTimeouts = StateTimeouts()
    on_errors: tuple[OnError, ...] = ()
    retries: tuple[StateRetry, ...] = Field(default=(), alias="@retries")
    goes_on_when_late: bool = Field(default=False, alias="@goesOnWhenLate")
    """Whether it continues normally if an action times out, in the draft of May 2020."""
    written_type: str | None = Field(default=None, alias="@writtenType")
    """The type in the words of its version, if that is another word."""
    compensated_by: Text | None = None
    used_for_compensation: bool = False
    metadata: dict[str, Template] = Field(default_factory=dict)


class EventNeed(Node):
    """The events that an entry needs, in the draft of November 2019: one, or all or any of several parts."""

    join: Literal["event", "and", "or"]
    ref: Text = ""
    """The name of the event, if it is one."""
    parts: "tuple[EventNeed, ...]" = ()


class ExpectedEvent(WithTransition):
    """The event expression of an entry, with its own timeout and transition."""

    need: EventNeed
    timeout: str | None = None


class OnEvents(Node):
    """Events to wait for, and the actions to run when they arrive (section "OnEvents Definition")."""

    event_refs: tuple[Text, ...]
    action_mode: Literal["sequential", "parallel"] = "sequential"
    actions: tuple[Action, ...] = ()
    event_data_filter: EventDataFilter | None = None
    expected: ExpectedEvent | None = Field(default=None, alias="@expected")
    """The events that are needed, in the draft of November 2019: the first entry that is met is taken."""


class EventState(StateBase):
    """Waits for events and runs actions (section "Event State")."""

    type: Literal["event"]
    exclusive: bool = True
    on_events: tuple[OnEvents, ...]
    timeout_is_between_events: bool = Field(default=False, alias="@timeoutIsBetweenEvents")
    """Whether its timeout applies between events if the instance starts in it, as in the draft of May 2020."""


class Repeat(Node):
    """The repetition of a state's actions, in 0.6 (section "Repeat Definition")."""

    expression: Expression | None = None
    """They are run as long as this holds for the state's data."""
    check_before: bool = True
    max: int | str | None = None
    """The maximum number of runs; 0 means no limit."""
    continue_on_error: bool = False
    stop_on_events: tuple[Text, ...] = ()
    """They are run until one of these events has arrived."""


class OperationState(StateBase):
    """Runs actions (section "Operation State")."""

    type: Literal["operation"]
    action_mode: Literal["sequential", "parallel"] = "sequential"
    actions: tuple[Action, ...] = ()
    repeat: Repeat | None = Field(default=None, alias="@repeat")
    """The repetition of a sub-workflow."""


class DataCondition(WithTransition):
    """A condition of a switch state: an expression (section "Switch State Data Conditions")."""

    name: Text | None = None
    condition: Template
    metadata: dict[str, Template] = Field(default_factory=dict)


class EventCondition(WithTransition):
    """A condition of a switch state: an event that it waits for (section "Switch State Event Conditions")."""

    name: Text | None = None
    event_ref: Text
    event_data_filter: EventDataFilter | None = None
    metadata: dict[str, Template] = Field(default_factory=dict)


class DefaultCondition(WithTransition):
    """The default of a switch state: no condition holds, or no event arrived in time (section "Switch State")."""

    name: Text | None = None


class SwitchState(StateBase):
    """Chooses the transition by data or by the first event to arrive (section "Switch State")."""

    type: Literal["switch"]
    data_conditions: tuple[DataCondition, ...] = ()
    event_conditions: tuple[EventCondition, ...] = ()
    default_condition: DefaultCondition | None = None


class SleepState(StateBase):
    """Waits for a duration (section "Sleep State")."""

    type: Literal["sleep"]
    duration: str


class NestedStates(Node):
    """States that a branch or an iteration runs, in the drafts; since 0.5 these have only actions."""

    start: Text
    states: "tuple[State, ...]"
    window: str | None = None
    """The interval in which the start is active."""


class Branch(Node):
    """One of the paths of a parallel state (section "Parallel State Branch")."""

    name: Text
    actions: tuple[Action, ...]
    timeouts: StateTimeouts = StateTimeouts()
    scope: NestedStates | None = Field(default=None, alias="@scope")
    """The states that it runs in place of actions."""
    is_awaited: bool = Field(default=True, alias="@awaited")
    """Whether the state waits for it."""


class ParallelState(StateBase):
    """Runs branches concurrently (section "Parallel State")."""

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
    scope: NestedStates | None = Field(default=None, alias="@scope")
    """The states that an iteration runs in place of actions."""
    pause: str | None = Field(default=None, alias="@pause")
    """The pause between the starts of iterations or, if they are sequential, between iterations."""
    until: str | None = Field(default=None, alias="@until")
    """A condition that ends the state if it holds after an iteration, if they are sequential."""


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
STATE_TYPES: Final[tuple[str, ...]] = tuple(
    get_args(one.model_fields["type"].annotation)[0] for one in get_args(get_args(State)[0])
)
"""The types of states, as definitions write them."""


def scopes_of(state: State) -> Iterator[tuple[str, NestedStates]]:
    """Yield the scopes in *state*, each with its path relative to the state: the name of its branch."""
    if isinstance(state, ForeachState) and state.scope is not None:
        yield "", state.scope
    elif isinstance(state, ParallelState):
        yield from ((branch.name, branch.scope) for branch in state.branches if branch.scope is not None)


def expectations(state: State) -> tuple[ExpectedEvent, ...]:
    """Return the event expressions of *state*, if it is an event state with expressions; else an empty tuple."""
    entries = state.on_events if isinstance(state, EventState) else ()
    return tuple(entry.expected for entry in entries if entry.expected is not None)


def all_states(states: Iterable[State]) -> Iterator[State]:
    """Yield *states*, each with those that it contains, at any depth."""
    for state in states:
        yield state
        for _, scope in scopes_of(state):
            yield from all_states(scope.states)


_Kind = TypeVar("_Kind", bound=Node)


class NodesByKind:
    """Nodes, each with the words that identify it for an author, such as `action 'charge' of state 'Pay'`."""

    def __init__(self, located: Iterable[tuple[Node, str]]) -> None:
        """Group nodes by kind, once, since many rules iterate over the same ones."""
        self._by_class: dict[type[Node], list[tuple[Node, str]]] = {}
        for one in located:
            self._by_class.setdefault(type(one[0]), []).append(one)
        self._by_kind: dict[type, list[tuple[Any, str]]] = {}
        for of, found in self._by_class.items():
            for kind in of.__mro__:
                self._by_kind.setdefault(kind, []).extend(found)

    def all(self) -> Iterator[tuple[Node, str]]:
        """Yield every node, kind by kind."""
        for found in self._by_class.values():
            yield from found

    def each(self, kind: type[_Kind]) -> Iterator[tuple[_Kind, str]]:
        """Yield every node of *kind*, or of a kind derived from it, with the words for its location."""
        return iter(self._by_kind.get(kind, ()))
