"""The model of a definition, its functions and its start."""

from functools import partial
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from swf_temporal.languages.direktiv.words import Revision
from swf_temporal.text.origin import NOWHERE, Object, Where, with_floats

T = TypeVar("T")


def _text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Structured: TypeAlias = Annotated[Any, BeforeValidator(partial(with_floats, convert=float))]
"""JSON in which any text may contain `jq( … )`."""

Attributes: TypeAlias = Annotated[Any, BeforeValidator(partial(with_floats, convert=str))]
"""Attributes of events, which may contain `jq( … )`, and have no fractions: 1.10 is a text."""

_Written: TypeAlias = Annotated[str, Field(min_length=1)] | float
Text: TypeAlias = Annotated[StrictStr, BeforeValidator(_text, json_schema_input_type=_Written), Field(min_length=1)]
"""A text that is not empty, and may be written as a number."""

Word: TypeAlias = StrictStr
"""A text, perhaps an empty one."""


def _listed(value: object) -> object:
    return () if value is None else value


Listed: TypeAlias = Annotated[tuple[T, ...], BeforeValidator(_listed, json_schema_input_type=list[T] | None)]
"""A list; null is an empty one."""


class Node(BaseModel):
    """A part of a definition."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    where: SkipJsonSchema[Where] = Field(default=NOWHERE, alias="@", exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _locate(cls, value: object) -> object:
        if not isinstance(value, Object):
            return value
        known = {name.lower(): name for name in cls.written()}
        # Keys are case-insensitive, as in the engine.
        renamed = {
            known.get(key.lower(), key) if key not in known.values() else key: item for key, item in value.items()
        }
        return {**renamed, "@": value.where}

    @classmethod
    def written(cls) -> list[str]:
        return [info.alias or name for name, info in cls.model_fields.items() if name != "where"]


Number: TypeAlias = StrictInt | StrictFloat


class Catch(Node):
    """An error handler of a state."""

    error: Text
    """A glob that matches a whole code: `*`, `?`, `[abc]` and `{a,b}`."""
    transition: Word | None = None
    """Without one the instance ends."""


class RetryPolicy(Node):
    """The rule by which a failed action is retried."""

    codes: Annotated[Listed[Text], Field(min_length=1)]
    max_attempts: StrictInt
    """The maximum number of retries."""
    delay: Word | None = None
    multiplier: Number | None = None


class FunctionFile(Node):
    """A variable that becomes a file of a function."""

    key: Text
    scope: Word | None = None
    as_: Word | None = Field(default=None, alias="as")
    type: Literal["", "plain", "base64", "tar", "tar.gz"] | None = None


def _given(value: object, otherwise: object) -> object:
    """Return *value*, or the default for null: a key without a value is like a missing key."""
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
    """A single policy may be given without a list."""
    files: Listed[FunctionFile] = ()


class ConsumedEvent(Node):
    """A description of the events that a state waits for."""

    type: Text
    context: Attributes = None


class XorEntry(Node):
    """One of the events of which the first decides; its type and context may be in the entry itself."""

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
    """One branch of a switch."""

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
    """A state with a single transition."""

    transform: Structured = None
    transition: Word | None = None


class TimedState(LeavingState):
    """A state with its own timeout."""

    timeout: Word | None = None


class ActionState(TimedState):
    """Calls a function."""

    type: Literal["action"]
    async_: Annotated[
        StrictBool, BeforeValidator(partial(_given, otherwise=False), json_schema_input_type=bool | None)
    ] = Field(default=False, alias="async", validation_alias=AliasChoices("async", "aync"))
    """The text spells it in two ways."""
    action: Action


class ConsumeEventState(TimedState):
    """Waits for an event."""

    type: Literal["consumeEvent"]
    event: ConsumedEvent


class DelayState(LeavingState):
    """Waits for a duration."""

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
    """Chooses the next state by conditions."""

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
    """Return the types and required contexts of the events that *state* waits for, with the nodes that define them."""
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
    """Return the target states of *state*, each with the node and the key that name it."""
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
    """Return the nodes in which *state* names variables, or files of the namespace."""
    own = state.variables if isinstance(state, GetterState | SetterState) else ()
    return (*own, *(file for action in actions_of(state) for file in action.files))


Size: TypeAlias = Literal["small", "medium", "large"]


class WorkflowFunction(Node):
    """A container for this workflow only."""

    type: Literal["knative-workflow", "reusable"]
    id: Text
    image: Text
    size: Size | None = None
    cmd: Word | None = None
    scale: StrictInt | None = None
    envs: Listed[Structured] = ()
    """The container's environment, in later releases: like the size, it is up to the operator of the container."""
    patches: Listed[Structured] = ()
    """Changes of the container's resource, in later releases."""
    post_start_exec: Listed[Structured] = ()


class SharedFunction(Node):
    """A service of the namespace, or a global one, which later releases call `knative-system`."""

    type: Literal["knative-namespace", "knative-global", "knative-system"]
    id: Text
    service: Text


class JobFunction(Node):
    """A container that runs for one call."""

    type: Literal["kubernetes-job", "isolated"]
    id: Text
    image: Text
    size: Size | None = None
    cmd: Word | None = None


class SubflowFunction(Node):
    """A function that runs another workflow."""

    type: Literal["subflow"]
    id: Text
    workflow: Text


Function: TypeAlias = Annotated[
    WorkflowFunction | SharedFunction | JobFunction | SubflowFunction, Field(discriminator="type")
]


class StartEvent(Node):
    """A description of the events that start an instance."""

    type: Text
    filters: Attributes = None
    context: Attributes = None
    """The filters, in later releases."""


class DefaultStart(Node):
    """A start by a call only."""

    type: Literal["default"]
    state: Word | None = None


class ScheduledStart(Node):
    """A start at the times of a cron expression."""

    type: Literal["scheduled"]
    state: Word | None = None
    cron: Text


class EventStart(Node):
    """A start by an event."""

    type: Literal["event"]
    state: Word | None = None
    event: StartEvent


class EventsXorStart(Node):
    """A start by any of several events."""

    type: Literal["eventsXor", "eventXor"]
    state: Word | None = None
    events: Annotated[Listed[StartEvent], Field(min_length=1)]


class EventsAndStart(Node):
    """A start by several events together."""

    type: Literal["eventsAnd", "eventAnd"]
    state: Word | None = None
    lifespan: Word | None = None
    correlate: Listed[Text] = ()
    events: Annotated[Listed[StartEvent], Field(min_length=1)]


Start: TypeAlias = Annotated[
    DefaultStart | ScheduledStart | EventStart | EventsXorStart | EventsAndStart, Field(discriminator="type")
]


class Timeouts(Node):
    """The timeouts of an instance."""

    interrupt: Word | None = None
    kill: Word | None = None


class Workflow(Node):
    """A definition."""

    id: Text | None = None
    """The path that identifies it where it is read without its folder. This key is our own."""
    direktiv_api: StrictStr | None = None
    """The first key of a definition in later releases."""
    compat: Revision | None = None
    """The revision of Direktiv to follow where they contradict each other. This key is our own."""
    url: Word | None = None
    description: Word | None = None
    functions: Listed[Function] = ()
    start: Start | None = None
    states: Annotated[tuple[State, ...], Field(min_length=1)]
    timeouts: Timeouts | None = None

    def state(self, id_: str) -> State:
        return next(one for one in self.states if one.id == id_)

    @property
    def first(self) -> str:
        """The state that instances begin with."""
        return (self.start and self.start.state) or self.states[0].id

    @property
    def start_events(self) -> tuple[StartEvent, ...]:
        match self.start:
            case EventStart():
                return (self.start.event,)
            case EventsXorStart() | EventsAndStart():
                return self.start.events
            case _:
                return ()
