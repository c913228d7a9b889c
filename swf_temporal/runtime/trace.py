"""Trace entries: a record of details for each kind, and the one way to add an entry.

The query `trace` shows these details, so a key must keep its meaning.
"""

from abc import ABC, abstractmethod
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Unpack, overload

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.runtime.host import TraceKind


class StateEntered(TypedDict):
    type: str


class Invoked(TypedDict, total=False):
    """The function, sub-workflow or event that an action calls, starts or produces: one of these."""

    function: str
    subflow: str
    event: str


class ActionStarted(Invoked, total=False):
    """An action begins: a function is called, a sub-workflow is started, or an event is exchanged."""

    arguments: JSON
    """Unevaluated, as in the definition, if they mention secrets."""
    priority: int
    """Missing if the function has none."""


class ActionCompleted(TypedDict, total=False):
    result: JSON
    """Missing if there is none."""


class ActionRetried(TypedDict):
    """An attempt failed, and another one follows."""

    attempt: int
    """The one that failed, counted from 1."""
    error: str
    message: NotRequired[str]
    """Missing if a result is retried, not a failure."""
    delay: NotRequired[float]
    """In seconds; missing if a whole sub-workflow or exchange of events is retried."""


def failed_attempt(number: int, fault: WorkflowFault) -> ActionRetried:
    return {"attempt": number, "error": fault.name, "message": fault.message}


class ActionFailed(Invoked):
    """An action failed, and there is no further attempt at it."""

    error: str
    """The name of its error."""
    code: str
    message: str


class DataChanged(TypedDict):
    """The data were changed from outside."""

    patch: JSON
    """The JSON merge patch."""


class StateRetried(TypedDict):
    """A state failed or did not yield the required data, and is run once more."""

    attempt: int
    """The one that failed, counted from 1."""
    error: str | None
    """The name of its error; none if its data require another attempt."""
    delay: float
    """In seconds."""


class NotActiveDetail(TypedDict):
    """Nothing is done, since a start is not active at this time."""

    interval: str | None
    """When it is active; none if a sub-workflow reports this."""


class EventDetail(TypedDict):
    id: str
    """Unique together with the source."""
    type: str
    source: str
    data: JSON


class Sleeping(TypedDict):
    duration: JSON


class EventAwaited(TypedDict):
    until: NotRequired[str]
    """When the wait times out, by ISO 8601; missing if it has no limit."""


class ErrorDetail(TypedDict):
    """A fault that was caught, or that the workflow failed with."""

    code: str
    message: str
    error: NotRequired[JSON]
    """The whole error, in a language in which it is an object."""


class SeveralOutputs(TypedDict):
    count: int


class SchemaMismatchDetail(TypedDict):
    """Data does not match its schema, and is accepted all the same."""

    violations: list[str]


class LogDetail(TypedDict):
    value: JSON


class EventRefused(TypedDict):
    """The content of a signal is not an event of the definition, or not JSON."""

    reason: str


class EventAnswered(TypedDict):
    """The sender of an event was answered."""

    answer: JSON


class MetadataDetail(TypedDict):
    value: JSON


class PlaceAwaited(TypedDict):
    """An instance waits until fewer instances with its concurrency key are running."""

    limit: int
    """How many may run at once."""
    key: NotRequired[JSON]
    """The concurrency key; missing if the limit applies to all instances of the definition."""


class Compensating(TypedDict):
    """The compensation of a state begins."""

    by: str


Plain: TypeAlias = Literal[
    TraceKind.ACTION_SKIPPED,
    TraceKind.EVENT_TIMED_OUT,
    TraceKind.EVENT_GIVEN_BACK,
    TraceKind.WORKFLOW_STARTED,
    TraceKind.WORKFLOW_TIMED_OUT,
    TraceKind.WORKFLOW_COMPLETED,
    TraceKind.WORKFLOW_CONTINUED,
]
"""The kinds whose entries have no details."""


class Tracer(ABC):
    """Adds entries to the trace. The details of each kind are checked where an entry is added."""

    __slots__ = ()

    @overload
    def emit(self, kind: Literal[TraceKind.ACTION_STARTED], name: str, **detail: Unpack[ActionStarted]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.ACTION_COMPLETED], name: str, **detail: Unpack[ActionCompleted]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.ACTION_RETRIED], name: str, **detail: Unpack[ActionRetried]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.ACTION_FAILED], name: str, **detail: Unpack[ActionFailed]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.DATA_CHANGED], name: str, **detail: Unpack[DataChanged]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.STATE_RETRIED], name: str, **detail: Unpack[StateRetried]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.NOT_ACTIVE], name: str, **detail: Unpack[NotActiveDetail]) -> None: ...
    @overload
    def emit(
        self,
        kind: Literal[TraceKind.EVENT_TAKEN, TraceKind.EVENT_PRODUCED],
        name: str,
        **detail: Unpack[EventDetail],
    ) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.EVENT_REFUSED], name: str, **detail: Unpack[EventRefused]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.EVENT_ANSWERED], name: str, **detail: Unpack[EventAnswered]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.EVENT_AWAITED], name: str, **detail: Unpack[EventAwaited]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.SLEEPING], name: str, **detail: Unpack[Sleeping]) -> None: ...
    @overload
    def emit(
        self,
        kind: Literal[TraceKind.ERROR_CAUGHT, TraceKind.WORKFLOW_FAILED],
        name: str,
        **detail: Unpack[ErrorDetail],
    ) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.SEVERAL_OUTPUTS], name: str, **detail: Unpack[SeveralOutputs]) -> None: ...
    @overload
    def emit(
        self, kind: Literal[TraceKind.SCHEMA_MISMATCH], name: str, **detail: Unpack[SchemaMismatchDetail]
    ) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.LOGGED], name: str, **detail: Unpack[LogDetail]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.METADATA_SET], name: str, **detail: Unpack[MetadataDetail]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.PLACE_AWAITED], name: str, **detail: Unpack[PlaceAwaited]) -> None: ...
    @overload
    def emit(self, kind: Literal[TraceKind.COMPENSATING], name: str, **detail: Unpack[Compensating]) -> None: ...
    @overload
    def emit(self, kind: Plain, name: str) -> None: ...
    def emit(self, kind: TraceKind, name: str, **detail: Any) -> None:
        """Add an entry about *name* to the trace."""
        self._add_entry(kind, name, detail)

    def enter_state(self, name: str, kind: str, data: JSON) -> None:
        """Add an entry about a state of that *kind* that is entered with *data*."""
        self._add_entry(TraceKind.STATE_ENTERED, name, dict(StateEntered(type=kind)), data)

    def leave_state(self, name: str, data: JSON) -> None:
        """Add an entry about a state that has yielded *data*."""
        self._add_entry(TraceKind.STATE_LEFT, name, {}, data)

    def emit_event(
        self, kind: Literal[TraceKind.EVENT_TAKEN, TraceKind.EVENT_PRODUCED], name: str, event: CloudEvent
    ) -> None:
        """Add an entry about an event that was taken or produced."""
        self.emit(kind, name, id=event.id, type=event.type, source=event.source, data=event.data)

    def emit_failed_action(self, name: str, invoked: Invoked, fault: WorkflowFault) -> None:
        """Add an entry about an action that failed for good."""
        facts = ActionFailed(**invoked, error=fault.name, code=fault.code, message=fault.message)
        self.emit(TraceKind.ACTION_FAILED, name, **facts)

    @abstractmethod
    def _add_entry(self, kind: TraceKind, name: str, detail: dict[str, Any], data: JSON = None) -> None:
        """Pass the entry to the host."""
