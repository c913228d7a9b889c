"""The states of a definition."""

from functools import partial
from typing import Annotated, Literal, TypeAlias

from pydantic import AliasChoices, BeforeValidator, Field, StrictBool, StrictFloat, StrictInt

from swf_temporal.languages.direktiv.model.node import Attributes, Listed, Node, Structured, Text, Word

Number: TypeAlias = StrictInt | StrictFloat


class Catch(Node):
    """An error handler of a state."""

    error: Text
    """A glob or a regular expression of codes."""
    transition: Word | None = None
    """Without one the instance ends."""


class RetryPolicy(Node):
    """The rule by which a failed action is retried."""

    codes: Annotated[Listed[Text], Field(min_length=1)]
    max_attempts: StrictInt
    """How often it is tried again."""
    delay: Word | None = None
    multiplier: Number | None = None


class FunctionFile(Node):
    """A variable that becomes a file of a function."""

    key: Text
    scope: Word | None = None
    as_: Word | None = Field(default=None, alias="as")
    type: Literal["", "plain", "base64", "tar", "tar.gz"] | None = None


def _given(value: object, otherwise: object) -> object:
    """Return *value*: nothing under a key is as if the key were not there."""
    return otherwise if value is None else value


def _policies(value: object) -> object:
    return [value] if isinstance(value, dict) else value


class Action(Node):
    """A call of a function."""

    function: Text
    input: Structured = None
    secrets: Listed[Text] = ()
    retries: Annotated[
        Listed[RetryPolicy],
        BeforeValidator(_policies, json_schema_input_type=RetryPolicy | list[RetryPolicy] | None),
    ] = ()
    """One policy may stand without a list."""
    files: Listed[FunctionFile] = ()


class ConsumedEvent(Node):
    """A description of the events that a state waits for."""

    type: Text
    context: Attributes = None


class XorEntry(Node):
    """One of the events of which the first decides; its kind may stand in the entry itself."""

    event: ConsumedEvent | None = None
    type: Text | None = None
    context: Attributes = None
    transform: Structured = None
    transition: Word | None = None


class GeneratedEvent(Node):
    """An event that is generated."""

    type: Text
    source: Text
    data: Structured = None
    datacontenttype: Word | None = None
    context: Attributes = None


class GetVariable(Node):
    """A variable to load."""

    key: Text
    scope: Word | None = None
    as_: Word | None = Field(default=None, alias="as")


class SetVariable(Node):
    """A variable to store."""

    key: Text
    scope: Word | None = None
    mime_type: Word | None = Field(default=None, alias="mimeType")
    value: Structured = None


class Condition(Node):
    """One way that a switch may take."""

    condition: Structured
    transform: Structured = None
    transition: Word | None = None


class StateBase(Node):
    """The base of all states."""

    id: Text
    log: Structured = None
    metadata: Structured = None
    catch: Listed[Catch] = ()


class LeavingState(StateBase):
    """A state that is left in one way."""

    transform: Structured = None
    transition: Word | None = None


class TimedState(LeavingState):
    """A state with a timeout of its own."""

    timeout: Word | None = None


class ActionState(TimedState):
    """Calls a function."""

    type: Literal["action"]
    async_: Annotated[
        StrictBool, BeforeValidator(partial(_given, otherwise=False), json_schema_input_type=bool | None)
    ] = Field(default=False, alias="async", validation_alias=AliasChoices("async", "aync"))
    """The text writes it in two ways."""
    action: Action


class ConsumeEventState(TimedState):
    """Waits for an event."""

    type: Literal["consumeEvent"]
    event: ConsumedEvent


class DelayState(LeavingState):
    """Waits for a time."""

    type: Literal["delay"]
    duration: Text


class ErrorState(LeavingState):
    """Marks the instance as failed."""

    type: Literal["error"]
    error: Text
    message: Structured
    args: Listed[Structured] = ()


class EventsAndState(TimedState):
    """Waits for several events."""

    type: Literal["eventsAnd", "eventAnd"]
    events: Annotated[Listed[ConsumedEvent], Field(min_length=1)]


class EventsXorState(TimedState):
    """Waits for the first of several events."""

    type: Literal["eventsXor", "eventXor"]
    events: Annotated[Listed[XorEntry], Field(min_length=1)]


class ForeachState(TimedState):
    """Calls a function for each element of an array."""

    type: Literal["foreach"]
    array: Structured
    action: Action


class GenerateEventState(LeavingState):
    """Generates an event."""

    type: Literal["generateEvent"]
    delay: Word | None = None
    event: GeneratedEvent


class GetterState(LeavingState):
    """Loads variables."""

    type: Literal["getter"]
    variables: Annotated[Listed[GetVariable], Field(min_length=1)]


class NoopState(LeavingState):
    """Does nothing."""

    type: Literal["noop"]


class ParallelState(TimedState):
    """Calls several functions at once."""

    type: Literal["parallel"]
    mode: Annotated[
        Literal["and", "or"],
        BeforeValidator(partial(_given, otherwise="and"), json_schema_input_type=Literal["and", "or"] | None),
    ] = "and"
    actions: Annotated[Listed[Action], Field(min_length=1)]


class SetterState(LeavingState):
    """Stores variables."""

    type: Literal["setter"]
    variables: Annotated[Listed[SetVariable], Field(min_length=1)]


class SwitchState(StateBase):
    """Chooses where to go on."""

    type: Literal["switch"]
    conditions: Annotated[Listed[Condition], Field(min_length=1)]
    default_transform: Structured = Field(default=None, alias="defaultTransform")
    default_transition: Word | None = Field(default=None, alias="defaultTransition")


class ValidateState(LeavingState):
    """Compares data with a JSON Schema."""

    type: Literal["validate"]
    subject: Structured = None
    schema_: Structured = Field(alias="schema")


State: TypeAlias = Annotated[
    ActionState
    | ConsumeEventState
    | DelayState
    | ErrorState
    | EventsAndState
    | EventsXorState
    | ForeachState
    | GenerateEventState
    | GetterState
    | NoopState
    | ParallelState
    | SetterState
    | SwitchState
    | ValidateState,
    Field(discriminator="type"),
]


def actions_of(state: State) -> tuple[Action, ...]:
    match state:
        case ActionState() | ForeachState():
            return (state.action,)
        case ParallelState():
            return state.actions
        case _:
            return ()


def kinds_awaited(state: State) -> tuple[tuple[str, Structured, Node], ...]:
    """Return the types of the events that *state* waits for, the contexts they must have, and where that is written."""
    match state:
        case ConsumeEventState():
            return ((state.event.type, state.event.context, state.event),)
        case EventsAndState():
            return tuple((one.type, one.context, one) for one in state.events)
        case EventsXorState():
            return tuple(kind_of(one) for one in state.events)
        case _:
            return ()


def kind_of(entry: XorEntry) -> tuple[str, Structured, Node]:
    if entry.event is not None:
        return entry.event.type, entry.event.context, entry.event
    return entry.type or "", entry.context, entry


def targets_of(state: State) -> tuple[tuple[str, Node, str], ...]:
    """Return where *state* leads: the state, the node that says it, and under which key."""
    found: list[tuple[str | None, Node, str]] = [(one.transition, one, "transition") for one in state.catch]
    if isinstance(state, SwitchState):
        found += [(one.transition, one, "transition") for one in state.conditions]
        found.append((state.default_transition, state, "defaultTransition"))
    else:
        found.append((state.transition, state, "transition"))
    if isinstance(state, EventsXorState):
        found += [(one.transition, one, "transition") for one in state.events]
    return tuple((target, node, key) for target, node, key in found if target)


def variables_of(state: State) -> tuple[GetVariable | SetVariable | FunctionFile, ...]:
    """Return where *state* names variables, or files of the namespace."""
    own = state.variables if isinstance(state, GetterState | SetterState) else ()
    return (*own, *(file for action in actions_of(state) for file in action.files))
