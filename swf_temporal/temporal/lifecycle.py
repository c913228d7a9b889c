"""Lifecycle events, which announce that an instance started, waits, entered a state, or ended.

Types and data are those of the specification's version 1.0, section "Lifecycle Events". They are produced where the
worker that begins an execution is configured to, which a marker in the history records. They are sent one after the
other by the activity that sends produced events, beside the run; the instance ends, or continues as new, when all are
delivered. When an instance continues as another definition, the next execution announces the completion of this one:
while this one waits for delivery it may be cancelled, and would have two ends. An event that no sink can ever take is
dropped, without an effect on the instance.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, ApplicationError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.records import Record
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.correlation import DEFAULT_SOURCE
from swf_temporal.runtime.host import ContinuedAs, TraceEntry, TraceKind
from swf_temporal.runtime.performing import PUBLISH_LIMIT
from swf_temporal.temporal import summaries
from swf_temporal.temporal.instance_log import fault_in
from swf_temporal.temporal.instance_part import Ending, Instance, Part, operator_options
from swf_temporal.temporal.markers import is_recorded
from swf_temporal.temporal.outgoing import Outgoing
from swf_temporal.temporal.publishing import with_origin
from swf_temporal.temporal.records import PUBLISH

if TYPE_CHECKING:
    from swf_temporal.temporal.host import TemporalHost

KINDS: Final = ("workflow", "task", "status")
"""The kinds of lifecycle events: of the instance, of its states, and of changes of its status."""
_MARKERS: Final = {kind: f"swf-lifecycle-{kind}" for kind in KINDS}
_PREFIX: Final = "io.serverlessworkflow."
_TASKS: Final[Mapping[TraceKind, tuple[str, str]]] = {
    TraceKind.STATE_ENTERED: ("started", "startedAt"),
    TraceKind.STATE_LEFT: ("completed", "completedAt"),
    TraceKind.STATE_RETRIED: ("retried", "retriedAt"),
    TraceKind.ERROR_CAUGHT: ("faulted", "faultedAt"),
}
_CORRELATIONS: Final[Mapping[TraceKind, tuple[str, str]]] = {
    TraceKind.EVENT_AWAITED: ("correlation-started", "startedAt"),
    TraceKind.EVENT_TAKEN: ("correlation-completed", "completedAt"),
}
_WAITING: Final = (TraceKind.EVENT_AWAITED, TraceKind.SLEEPING)


@dataclass(slots=True)
class LifecycleRecord(Record):
    WHAT: ClassVar[str] = "the record of its lifecycle events"

    untold: list[CloudEvent] = field(default_factory=list)
    """Events about the end of the previous execution, of another definition, that this one sends."""


class Lifecycle(Part):
    KEY = "lifecycle"

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._untold: list[CloudEvent] = []
        self._asked: frozenset[str] = frozenset()
        self._definition: Definition | None = None
        self._outgoing: Outgoing | None = None
        self._queue: deque[CloudEvent] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._count = 0
        self._hops = 0
        self._status = ""
        self._states = ""
        """The key of the states in the definition's text."""
        self._pointers: Mapping[str, str] = {}
        self._hands_over = False

    def resume(self) -> None:
        self._untold = self.carried(LifecycleRecord).untold

    @property
    def notes(self) -> bool:
        """Whether there are events to send."""
        return bool(self._asked)

    def record(self, to: ContinuedAs | None = None) -> LifecycleRecord | None:
        """Return the events about the end of this execution, which that of the next definition sends."""
        return None if to is None else LifecycleRecord(self._untold)

    def begin(self, definition: Definition, host: "TemporalHost") -> None:
        """Determine which events to send, beginning with those that the previous execution left."""
        self._hops, self._outgoing = self.instance.pin.lineage.hops, host.outgoing
        untold, self._untold = self._untold, []
        for one in untold:
            self._send(one)
        wanted = operator_options().lifecycle
        self._asked = frozenset(kind for kind, marker in _MARKERS.items() if is_recorded(marker, wanted=kind in wanted))
        if self._asked:
            self._definition = definition
            self._states = f"{definition.words.state}s"
            self._pointers = definition.pointers

    async def end(self, ending: Ending) -> None:
        """Send how the execution ends; return when everything is delivered."""
        if not self._asked:
            return
        match ending:
            case Ending("failed", failure=ApplicationError() as failure):
                fault = fault_in(failure)
                error = _error_of(fault)
                if fault.state is not None:
                    self._tell_task(_TASKS[TraceKind.ERROR_CAUGHT], fault.state, workflow.now(), {"error": error})
                await self._end("faulted", "faultedAt", error=error)
            case Ending("cancelled"):
                await self._end("cancelled", "cancelledAt")
            case Ending("completed", RawValue() as output):
                value: JSON = workflow.payload_converter().from_payload(output.payload)
                await self._end("completed", "completedAt", output=value)

    def note(self, entry: TraceEntry) -> None:
        one = self._definition
        if one is None:
            return
        kind, at = entry.kind, entry.at
        if kind is TraceKind.WORKFLOW_STARTED:
            name = one.id if one.namespace is None else one.id.removeprefix(f"{one.namespace}.")
            of = {"name": name, "namespace": one.namespace, "version": one.version}
            definition: JSON = {key: value for key, value in of.items() if value is not None}
            self._tell_workflow("started", "startedAt", at, definition=definition)
        elif kind in _CORRELATIONS:
            self._tell_workflow(*_CORRELATIONS[kind], at)
        elif kind in _TASKS:
            more: dict[str, JSON] = {}
            if kind is TraceKind.ERROR_CAUGHT:
                more["error"] = entry.detail.get("error") or _error(
                    entry.detail.get("code"), entry.detail.get("message")
                )
            self._tell_task(_TASKS[kind], entry.state, at, more)
        elif kind is TraceKind.WORKFLOW_CONTINUED:
            self._hands_over = True
            self._tell_workflow("completed", "completedAt", at)
            self._tell_status("completed", at)
        if kind in _WAITING:
            self._tell_status("waiting", at)
        elif kind in {TraceKind.WORKFLOW_STARTED, TraceKind.EVENT_TAKEN, TraceKind.STATE_ENTERED, TraceKind.STATE_LEFT}:
            self._tell_status("running", at)

    async def settle(self) -> None:
        """Wait until everything is delivered."""
        while self._sending is not None and not self._sending.done():
            await asyncio.shield(self._sending)

    async def _end(self, status: str, when: str, **more: JSON) -> None:
        self._hands_over = False  # it could not: its completion is not announced
        self._tell_workflow(status, when, workflow.now(), **more)
        self._tell_status(status, workflow.now())
        try:
            await self.settle()
        except asyncio.CancelledError:
            await self.settle()  # its end has been announced already: a cancellation comes too late

    def _tell_status(self, status: str, at: datetime) -> None:
        if "status" in self._asked and status != self._status:
            self._status = status
            self._tell("workflow.status-changed", {"updatedAt": at.isoformat(), "status": status}, at)

    def _tell_workflow(self, what: str, when: str, at: datetime, **more: JSON) -> None:
        if "workflow" in self._asked:
            self._tell(f"workflow.{what}", {when: at.isoformat(), **more}, at)

    def _tell_task(self, of: tuple[str, str], state: str, at: datetime, more: dict[str, JSON]) -> None:
        if "task" not in self._asked:
            return
        what, when = of
        task = state if state.startswith("/") else self._pointers.get(state, f"/{self._states}/{state}")
        data: dict[str, JSON] = {"task": task, when: at.isoformat(), **more}
        self._tell(f"task.{what}", data, at, subject=state)

    def _tell(self, what: str, data: dict[str, JSON], at: datetime, subject: str | None = None) -> None:
        info = workflow.info()
        self._count += 1
        name: dict[str, JSON] = {"workflow" if what.startswith("task.") else "name": info.workflow_id}
        attributes: dict[str, JSON] = {"time": at.isoformat(), "datacontenttype": "application/json"}
        if subject is not None:
            attributes["subject"] = subject
        event = CloudEvent(
            f"{info.run_id}/{self._count}", DEFAULT_SOURCE, f"{_PREFIX}{what}.v1", {**name, **data}, attributes
        )
        if self._hands_over:
            self._untold.append(with_origin(event, self._hops))
        else:
            self._send(with_origin(event, self._hops))

    def _send(self, event: CloudEvent) -> None:
        self._queue.append(event)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        assert self._outgoing is not None  # noqa: S101 - for the type checker
        while self._queue:
            event = self._queue.popleft()
            try:
                payload = await self._outgoing.payload(event.to_json())
                await workflow.execute_activity(
                    PUBLISH,
                    args=[RawValue(payload)],
                    start_to_close_timeout=PUBLISH_LIMIT,
                    summary=summaries.of_event(event.type),
                )
            except (ActivityError, WorkflowFault) as error:
                workflow.logger.warning("the lifecycle event %s is left out: %s", event.type, error)


def _error_of(fault: WorkflowFault) -> JSON:
    if isinstance(fault.body, dict) and fault.body.get("type") == fault.name:
        return fault.body  # an error that is in the specification's form already
    name = fault.name if fault.code in {None, fault.name} else f"{fault.name}/{fault.code}"
    return _error(name, fault.message, fault.status)


def _error(name: object, message: object, status: int | None = None) -> JSON:
    """Return an error in the specification's form: its type is a URI, its status an HTTP status."""
    type_ = str(name) if ":" in str(name) else f"{DEFAULT_SOURCE}/errors/{name}"
    error: dict[str, JSON] = {"type": type_, "title": str(name), "detail": str(message)}
    return {**error, "status": 500 if status is None else status}
