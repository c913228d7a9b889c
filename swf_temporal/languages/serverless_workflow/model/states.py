"""The states of a workflow, and how one leads to the next."""

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
    """What has to hold of the state's output, before 0.6: else the run fails."""


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
    """The code of the error, where it is not defined elsewhere: before 0.7."""
    retry_ref: Text | None = Field(default=None, alias="@retryRef")
    """The retry by which the whole state is run once more on this error: before 0.7."""
    condition: Template = Field(default=None, alias="@condition")
    """What has to hold of the error, in place of names, in the draft of May 2020."""
    data: str | None = Field(default=None, alias="@data")
    """What of the error goes into the data there."""


class StateRetry(Node):
    """A retry of a whole state: on which errors, how often, and after how long (draft of May 2020)."""

    condition: Template
    delay: str | None = None
    increment: str | None = None
    max_attempts: int
    """How often it is run once more."""


class StateDataFilter(Node):
    """A filter of a state's input and output (section "State data filters")."""

    input: Filter = None
    output: Filter = None
    result: str | None = Field(default=None, alias="@result")
    """Where what the state came to is put, in the draft of November 2019."""


class StateTimeouts(Node):
    """The timeouts of a state, and of what is in it (section "Workflow Timeouts")."""

    state_exec_timeout: str | None = None
    single_state_exec_timeout: str | None = Field(default=None, alias="stateExecTimeout.single")
    """The `single` of a `stateExecTimeout` that says a `total` as well."""
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
    """Whether it is left in its own way where an action takes longer than it may, in the draft of May 2020."""
    written_type: str | None = Field(default=None, alias="@writtenType")
    """What its version calls a state that does this, where it is another word than the type."""
    compensated_by: Text | None = None
    used_for_compensation: bool = False
    metadata: dict[str, Template] = Field(default_factory=dict)


class EventNeed(Node):
    """The events that an entry needs, in the draft of November 2019: one, or all or any of what it joins."""

    join: Literal["event", "and", "or"]
    ref: Text = ""
    """The name of the one."""
    parts: "tuple[EventNeed, ...]" = ()


class ExpectedEvent(WithTransition):
    """What an entry waits for as an expression says, in a time of its own, and its own way out of the state."""

    need: EventNeed
    timeout: str | None = None


class OnEvents(Node):
    """Events to wait for, and the actions to run when they came (section "OnEvents Definition")."""

    event_refs: tuple[Text, ...]
    action_mode: Literal["sequential", "parallel"] = "sequential"
    actions: tuple[Action, ...] = ()
    event_data_filter: EventDataFilter | None = None
    expected: ExpectedEvent | None = Field(default=None, alias="@expected")
    """Which of the events are needed, in the draft of November 2019: the first entry that has its own is taken."""


class EventState(StateBase):
    """Waits for events and runs actions (section "Event State")."""

    type: Literal["event"]
    exclusive: bool = True
    on_events: tuple[OnEvents, ...]
    timeout_is_between_events: bool = Field(default=False, alias="@timeoutIsBetweenEvents")
    """Whether its timeout is one between events where the instance starts in it, as in the draft of May 2020."""


class Repeat(Node):
    """The repetition of a state's actions, in 0.6 (section "Repeat Definition")."""

    expression: Expression | None = None
    """They are run as long as this holds of the state's data."""
    check_before: bool = True
    max: int | str | None = None
    """How often at most; 0 means no limit."""
    continue_on_error: bool = False
    stop_on_events: tuple[Text, ...] = ()
    """They are run until one of these events came."""


class OperationState(StateBase):
    """Runs actions (section "Operation State")."""

    type: Literal["operation"]
    action_mode: Literal["sequential", "parallel"] = "sequential"
    actions: tuple[Action, ...] = ()
    repeat: Repeat | None = Field(default=None, alias="@repeat")
    """For a sub-workflow that is run again and again."""


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
    """The default of a switch state: no condition holds, or no event came in time (section "Switch State")."""

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


class NestedStates(Node):
    """States that a branch or an iteration runs, in the drafts; from 0.5 on these have actions alone."""

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
    """What it runs in place of actions."""
    is_awaited: bool = Field(default=True, alias="@awaited")
    """Whether the state waits for it."""


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
    scope: NestedStates | None = Field(default=None, alias="@scope")
    """What an iteration runs in place of actions."""
    pause: str | None = Field(default=None, alias="@pause")
    """How long to wait between the begins of iterations or, where there is one at a time, between iterations."""
    until: str | None = Field(default=None, alias="@until")
    """What ends the state when it holds after an iteration, where there is one at a time."""


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
    """Yield the scopes that *state* holds, each with its path below that of the state: the name of its branch."""
    if isinstance(state, ForeachState) and state.scope is not None:
        yield "", state.scope
    elif isinstance(state, ParallelState):
        yield from ((branch.name, branch.scope) for branch in state.branches if branch.scope is not None)


def expectations(state: State) -> tuple[ExpectedEvent, ...]:
    """Return what the entries of *state* wait for if it is an event state by expressions; none for all others."""
    entries = state.on_events if isinstance(state, EventState) else ()
    return tuple(entry.expected for entry in entries if entry.expected is not None)


def all_states(states: Iterable[State]) -> Iterator[State]:
    """Yield *states*, each with those that it holds, at any depth."""
    for state in states:
        yield state
        for _, scope in scopes_of(state):
            yield from all_states(scope.states)


_Kind = TypeVar("_Kind", bound=Node)


class NodesByKind:
    """Nodes, each with the words that tell an author which one it is, such as `action 'charge' of state 'Pay'`."""

    def __init__(self, located: Iterable[tuple[Node, str]]) -> None:
        """Sort nodes by their kinds. Many rules ask for the same ones: what each gets is worked out here, once."""
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
        """Yield every node of *kind*, or of a kind derived from it, with the words for where it is."""
        return iter(self._by_kind.get(kind, ()))
