"""Replaying histories, to check that this release issues the same commands as the one that wrote them."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Thread  # noqa: TID251 - for a client: no workflow code runs in it
from typing import Any, Final, Literal, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from temporalio import workflow
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import WorkflowHistory
from temporalio.common import RawValue
from temporalio.converter import DataConverter
from temporalio.worker import (
    Replayer,
    UnsandboxedWorkflowRunner,
    WorkflowInstance,
    WorkflowInstanceDetails,
    WorkflowRunner,
)

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NewerRecord
from swf_temporal.base.strict_json import read_written
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import FunctionCall, SubflowCall, TraceEntry, TraceKind
from swf_temporal.runtime.ids import id_of_child, shortened_id
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.instance_part import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.own_place import OwnPlace
from swf_temporal.temporal.workflow import Interpreter
from swf_temporal.temporal.workflows import OTHER_WORKFLOWS
from swf_temporal.temporal.wrapping import WrappingInstance, WrappingRunner


class CallStep(NamedTuple):
    """A step of a call or a sub-workflow: its start or its end."""

    call: FunctionCall | SubflowCall
    begins: bool


@dataclass(frozen=True, slots=True)
class ReplayedRun:
    """The course of a run, as this release reads its history.

    Only completed workflow tasks count: what is in a task that no worker has completed has not happened.
    """

    workflow_id: str
    run_id: str
    workflow_type: str
    """The id of the definition, or the name of a function that was called alone."""
    definition: Definition | None = None
    """The definition that it runs; None if no task was worked on, or it runs none."""
    trace: tuple[TraceEntry, ...] = ()
    status: Mapping[str, Any] = field(default_factory=dict)
    """The answer to the query `status`; empty if no task was worked on."""
    data: JSON = None
    """The answer to the query `data`: the latest that a state began with."""
    closed_as: Literal["failed", "stopped"] | None = None
    """How the server, an operator or the parent ended it, if one did."""
    failure: str | None = None
    """Why this release cannot continue it, so that the trace may end before the history; None if it can."""
    semantics: int | None = None
    """The semantics number that it began with; None if it is not known yet."""
    format: int | None = None
    """The format of the record that it began with."""
    builds: tuple[str, ...] = ()
    """The releases or build ids of the workers that wrote the history."""
    has_begun: bool = True
    """Whether it has a workflow task."""
    place: str | None = None
    """The id of the workflow that gave it a place: see `places.py`."""
    lengths: tuple[int, ...] = ()
    """For each entry, the history length when the workflow task in which it was made began, or ended."""
    calls: tuple[CallStep, ...] = ()
    """The steps of its calls and sub-workflows, in order."""
    steps: tuple[int, ...] = ()
    """For each entry, the number of these steps before it."""
    under_way: Mapping[str, FunctionCall | SubflowCall] = field(default_factory=dict)
    """The calls and sub-workflows in progress at the end, or with which it failed, by their ids."""
    origin: str | None = None
    """The first run of the instance."""
    deadline: float | None = None
    """The deadline of the instance, in seconds of the epoch; None if it has none."""
    data_at: Mapping[int, JSON] = field(default_factory=dict)
    """The data that states were entered with and yielded, and those at failures, by the numbers of these entries.

    Empty unless it was asked for.
    """

    @property
    def version(self) -> str | None:
        """The version of its definition."""
        return None if self.definition is None else self.definition.version

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the text that it runs; None if it is not known yet."""
        return None if self.definition is None else self.definition.digest

    @property
    def state(self) -> str | None:
        """The state that it was in at the end."""
        return self.status.get("state")

    def up_to(self, entries: int) -> "ReplayedRun":
        """Return the part before that number of *entries*, after which the instance was restarted in another run."""
        return replace(
            self,
            trace=self.trace[:entries],
            lengths=self.lengths[:entries],
            steps=self.steps[:entries],
            data_at={number: data for number, data in self.data_at.items() if number < entries},
            closed_as=None,
        )

    def without_trace(self) -> "ReplayedRun":
        """Return it without the fields that grow with its history."""
        return replace(
            self, trace=(), lengths=(), calls=(), steps=(), under_way={}, status={"state": self.state}, data=None
        )

    def over_before(self, entry: int) -> set[str]:
        """Return the ids of the calls and sub-workflows that had ended before the entry with that number."""
        return {one.call.id for one in self.calls[: self.steps[entry]]} - self.open_before(entry).keys()

    def open_before(self, entry: int) -> dict[str, FunctionCall | SubflowCall]:
        """Return the calls and sub-workflows in progress before the entry with that number, by their ids."""
        found: dict[str, FunctionCall | SubflowCall] = {}
        for step in self.calls[: self.steps[entry]]:
            if step.begins:
                found[step.call.id] = step.call
            else:
                found.pop(step.call.id, None)
        return found

    def known_as(self, ids: Iterable[str]) -> set[str]:
        """Return the ids that a history uses for the calls and sub-workflows with these *ids*."""
        given = list(ids)
        children = (id_of_child(self.workflow_id, self.origin, one) for one in given if self.origin is not None)
        return {*map(shortened_id, given), *children}


T = TypeVar("T")

REPLAY_LIMIT: Final = 300.0
"""Seconds after which a replay is given up: the longest history that a server keeps takes about ten."""

_MESSAGE: Final = re.compile(r'message: "((?:[^"\\]|\\.)*)"')

_CLOSED: Final[Mapping[EventType.ValueType, Literal["failed", "stopped"]]] = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: "stopped",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: "stopped",
}

_COMPLETED: Final = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
_OF_UPDATES: Final = (
    "workflow_execution_update_accepted_event_attributes",
    "workflow_execution_update_completed_event_attributes",
)
"""Event types that do not name the task that made them."""

_WITH_DATA: Final = "data"
"""Asks an observed execution to note the data at its steps."""
_STATES: Final = {TraceKind.STATE_ENTERED, TraceKind.STATE_LEFT}
_FAILURES: Final = {
    TraceKind.ACTION_FAILED,
    TraceKind.ERROR_CAUGHT,
    TraceKind.STATE_RETRIED,
    TraceKind.WORKFLOW_FAILED,
    TraceKind.WORKFLOW_TIMED_OUT,
}
_MAX_FAILURES: Final = 100
"""The number of failures at which the data are noted: the first."""

_seen: dict[str, "Observed"] = {}
"""The executions being replayed, by their run ids."""
_asked: dict[str, Any] = {}
"""By their run ids, what to determine beside the trace of the executions being replayed."""
_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
"""Locks by run id, so that each run has one replay at a time: only the id identifies an execution here."""


class _ObservedHost(TemporalHost):
    """A host that records the steps of calls."""

    def __init__(self, note: Callable[[CallStep], None], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._note_step = note

    async def invoke(self, call: FunctionCall) -> JSON:
        self._note_step(CallStep(call, begins=True))
        try:
            return await super().invoke(call)
        finally:
            self._note_step(CallStep(call, begins=False))

    async def run_subflow(self, call: SubflowCall) -> JSON:
        self._note_step(CallStep(call, begins=True))
        try:
            return await super().run_subflow(call)
        finally:
            self._note_step(CallStep(call, begins=False))


@workflow.defn(dynamic=True, sandboxed=False)
class Observed(Interpreter):
    """A run that is observed during its replay. It behaves like any other."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)
        self.entries: list[TraceEntry] = []
        self.lengths: list[int] = []
        self.calls: list[CallStep] = []
        self.steps: list[int] = []
        self.under_way: tuple[str, ...] | None = None
        """The ids of the calls and sub-workflows in progress at the end, or with which it has failed."""
        self.last_status: dict[str, Any] = {}
        self.last_data: JSON = None
        self.data_at: dict[int, JSON] = {}
        self._failures = 0
        self._is_dropped = False
        self._place = next((part for part in self._parts if isinstance(part, OwnPlace)), None)
        self.asked = _asked.get(workflow.info().run_id)
        _seen[workflow.info().run_id] = self

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)

    @property
    def definition(self) -> Definition | None:
        """The definition that it runs, once that is known."""
        return self._instance.definition

    def end_replay(self, status: dict[str, Any]) -> None:
        """Save its state and *status* before the SDK drops it: what it does then has not happened."""
        self.last_status, self.last_data, self._is_dropped = status, self._latest_data(), True
        if self.under_way is None:
            self.under_way = self._under_way()

    def _under_way(self) -> tuple[str, ...]:
        run = self._instance.run
        return () if run is None else tuple(run.execution.under_way)

    def _new_host(self, source: str) -> TemporalHost:
        is_usual = not self._options.answers_all
        return _ObservedHost(self._note_step, self._pin, source, self._payloads, runs_external_activities=is_usual)

    def _note_step(self, step: CallStep) -> None:
        if not self._is_dropped:
            self.calls.append(step)

    def _on_trace(self, entry: TraceEntry) -> None:
        if not self._is_dropped:
            if self.asked is _WITH_DATA:
                self._note_data(entry)
            self.entries.append(entry)
            self.lengths.append(self._info.get_current_history_length())
            self.steps.append(len(self.calls))
            if entry.kind is TraceKind.WORKFLOW_FAILED:
                self.under_way = self._under_way()  # afterwards they are abandoned
        super()._on_trace(entry)

    def _note_data(self, entry: TraceEntry) -> None:
        """Note the data that belong to *entry*, by its number."""
        run = self._instance.run
        if entry.kind in _STATES:
            self.data_at[len(self.entries)] = entry.data
        elif entry.kind in _FAILURES and run is not None and self._failures < _MAX_FAILURES:
            self._failures += 1
            self.data_at[len(self.entries)] = run.execution.latest_data

    def added_to(self, found: ReplayedRun) -> ReplayedRun:
        """Return *found*, which was determined without a replay, with the results of this replay."""
        pin, run, under_way = self._pin, self._instance.run, self.under_way or ()
        if isinstance(self._wrong, NewerRecord):
            return found
        return replace(
            found,
            definition=self._instance.definition,
            trace=tuple(self.entries),
            status=self.last_status,
            data=self.last_data,
            semantics=pin.semantics if pin.definitions else None,
            format=pin.format,
            place=None if self._place is None else self._place.had,
            lengths=tuple(self.lengths),
            calls=tuple(self.calls),
            steps=tuple(self.steps),
            under_way={one.call.id: one.call for one in self.calls if one.call.id in under_way},
            origin=pin.lineage.origin or self._info.first_execution_run_id,
            deadline=None if run is None else run.execution.deadline,
            data_at=self.data_at,
        )


class _LastStatusRunner(WrappingRunner):
    """Queries the status of every run before the SDK drops it, as a client would."""

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _LastStatusInstance(super().create_instance(det))


class _LastStatusInstance(WrappingInstance):
    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        """Let the workflow take its next step."""
        seen = _seen.get(act.run_id)
        if seen is not None and any(job.HasField("remove_from_cache") for job in act.jobs):
            seen.end_replay(self._status(act))
        return super().activate(act)

    def _status(self, act: WorkflowActivation) -> dict[str, Any]:
        asking = WorkflowActivation(run_id=act.run_id, timestamp=act.timestamp, is_replaying=True)
        asking.history_length = act.history_length
        job = asking.jobs.add()
        job.query_workflow.query_id = job.query_workflow.query_type = "status"
        answers = self.inner.activate(asking).successful.commands
        found = [one.respond_to_query.succeeded.response.data for one in answers if one.HasField("respond_to_query")]
        status = read_written(found[0]) if found and found[0] else {}
        return status if isinstance(status, dict) else {}


async def replay(
    history: WorkflowHistory,
    converter: DataConverter,
    *,
    goes_on: bool = False,
    with_data: bool = False,
    runner: WorkflowRunner | None = None,
    options: OperatorOptions | None = None,
) -> ReplayedRun:
    """Replay a history whose payloads *converter* reads. Raises ValueError if it is not that of a workflow.

    If it *goes_on*, the failure can also be that this release cannot complete the last task, which no worker has
    completed. *with_data* asks for `data_at`. See `observe` for the other arguments.
    """
    _check_start(history)
    whole, history = history, completed_part(history)
    asked = _WITH_DATA if with_data else None
    seen, failure = await observe(history, converter, runner=runner, asked=asked, options=options)
    if goes_on and failure is None and len(history.events) < len(whole.events):
        _, failure = await observe(whole, converter, runner=runner, options=options)
    found = ReplayedRun(
        workflow_id=whole.workflow_id,
        run_id=whole.run_id,
        workflow_type=whole.events[0].workflow_execution_started_event_attributes.workflow_type.name,
        closed_as=_CLOSED.get(whole.events[-1].event_type),
        failure=failure,
        builds=_builds(whole),
        has_begun=has_begun(whole),
    )
    if seen is None and has_begun(whole):  # nothing has happened, but the definition may be known
        first, failure = await observe(whole, converter, runner=runner, options=options)
        return replace(found, definition=None if first is None else first.definition, failure=failure)
    if seen is None:
        return found
    found = seen.added_to(found)
    # The SDK merges tasks without commands with everything that follows, up to the end of the given history.
    done = max((one.event_id for one in history.events if one.event_type == _COMPLETED), default=0)
    return replace(found, lengths=tuple(min(length, done) for length in found.lengths))


def completed_part(history: WorkflowHistory) -> WorkflowHistory:
    """Return *history* up to the last workflow task that a worker has completed, with its commands.

    No worker has acted on later events yet, but a replay would: the SDK passes all events to the workflow.
    """
    done = max((one.event_id for one in history.events if one.event_type == _COMPLETED), default=0)
    of_task = [one.event_id for one in history.events[done:] if done and _is_of_task(one, done)]
    end = max(of_task, default=done)
    return WorkflowHistory(history.workflow_id, history.events[: max(end, 1)])


def _is_of_task(event: HistoryEvent, done: int) -> bool:
    """Return whether *event* results from a worker's completion of the workflow task *done*."""
    kind = str(event.WhichOneof("attributes"))
    return getattr(getattr(event, kind), "workflow_task_completed_event_id", 0) == done or kind in _OF_UPDATES


async def observe(
    history: WorkflowHistory,
    converter: DataConverter,
    observed: type[Observed] = Observed,
    runner: WorkflowRunner | None = None,
    *,
    asked: Any = None,
    options: OperatorOptions | None = None,
) -> tuple[Observed | None, str | None]:
    """Return the execution that a replay of *history* made, and why the replay failed, if it did.

    Neither if it has no workflow task. *asked* is what to determine beside its trace, for a class *observed* that knows
    about it. *options* are those of the workers that it ran on, if they matter.
    """
    _check_start(history)
    if not has_begun(history):
        return None, None  # the SDK would wait for its first workflow task without end
    replayer = Replayer(
        workflows=[observed, *OTHER_WORKFLOWS],
        unsandboxed_workflow_runner=_LastStatusRunner(runner or UnsandboxedWorkflowRunner()),
        data_converter=converter,
        interceptors=[] if options is None else [OperatorOptionsInterceptor(options)],
        debug_mode=True,  # on a busy machine a step may take longer than a worker may
    )
    async with _turns.setdefault(history.run_id, asyncio.Lock()):
        _asked[history.run_id] = asked
        try:
            outcome = await _apart(lambda: replayer.replay_workflow(history, raise_on_replay_failure=False))
        except TimeoutError:
            return None, f"its replay was given up after {REPLAY_LIMIT:.0f} seconds"
        finally:
            del _asked[history.run_id]
            seen = _seen.pop(history.run_id, None)
    return seen, None if outcome.replay_failure is None else _reason(outcome.replay_failure)


def _check_start(history: WorkflowHistory) -> None:
    if not history.events or not history.events[0].HasField("workflow_execution_started_event_attributes"):
        raise ValueError("it does not begin with the start of a workflow")


def has_begun(history: WorkflowHistory) -> bool:
    """Return whether there is a workflow task: before that, as during a start delay, nothing has happened."""
    return any(event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED for event in history.events)


async def _apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return the result of *work*, run in a separate thread, which is abandoned if the caller stops waiting.

    The SDK cannot be stopped within a replay, neither on a timeout nor at the end of the process. Raises TimeoutError.
    """
    result: Future[T] = Future()

    def run() -> None:
        with suppress(InvalidStateError):  # the caller no longer waits
            try:
                result.set_result(asyncio.run(work()))
            except Exception as error:  # noqa: BLE001 - raised where it is waited for
                result.set_exception(error)

    Thread(target=run, name="replay", daemon=True).start()
    async with asyncio.timeout(REPLAY_LIMIT):  # noqa: TID251 - a client's
        return await asyncio.wrap_future(result)


def _reason(failure: Exception) -> str:
    """Return the SDK's reason for a failed replay, without the text around it."""
    text = str(failure)
    message = _MESSAGE.search(text)
    return text if message is None else message[1].replace('\\"', '"')


def _builds(history: WorkflowHistory) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for event in history.events:
        done = event.workflow_task_completed_event_attributes
        build = done.deployment_version.build_id or done.worker_version.build_id
        if build:
            found[build] = None
    return tuple(found)
