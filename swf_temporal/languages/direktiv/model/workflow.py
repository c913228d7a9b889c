"""A definition, its functions, and how it starts."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StrictInt, StrictStr

from swf_temporal.languages.direktiv.compat import Revision
from swf_temporal.languages.direktiv.model.node import Attributes, Listed, Node, Structured, Text, Word
from swf_temporal.languages.direktiv.model.states import State

Size: TypeAlias = Literal["small", "medium", "large"]


class WorkflowFunction(Node):
    """A container for this workflow alone."""

    type: Literal["knative-workflow", "reusable"]
    id: Text
    image: Text
    size: Size | None = None
    cmd: Word | None = None
    scale: StrictInt | None = None
    envs: Listed[Structured] = ()
    """What later releases set in the container's environment: like the size, it is up to who starts that."""
    patches: Listed[Structured] = ()
    """What later releases change in the container's resource."""
    post_start_exec: Listed[Structured] = ()


class SharedFunction(Node):
    """A service of the namespace, or one for all: `knative-system` is what later releases call that."""

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
    """A function that is another workflow."""

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
    """What later releases call the filters."""


class DefaultStart(Node):
    """A start by a call alone."""

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
    """The path by which it is known, where it travels without the folder that it was found in. It is ours."""
    direktiv_api: StrictStr | None = None
    """What later releases begin a definition with."""
    compat: Revision | None = None
    """Which revision of Direktiv is followed where they contradict each other. It is ours."""
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
