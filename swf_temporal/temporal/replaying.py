"""Replays histories, to check that this release issues the same commands as the one that wrote them."""

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
from temporalio.client import WorkflowHistory
from temporalio.common import RawValue
from temporalio.converter import DataConverter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, WorkflowRunner

from swf_temporal.data import JSON
from swf_temporal.errors import NewerRecord
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import FunctionCall, SubflowCall, TraceEntry, TraceKind
from swf_temporal.runtime.ids import id_of_child, shortened_id
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.operator_options import OperatorOptions, OperatorOptionsInterceptor
from swf_temporal.temporal.own_place import OwnPlace
from swf_temporal.temporal.workflow import Interpreter
from swf_temporal.temporal.workflows import OTHER_WORKFLOWS


@dataclass(frozen=True, slots=True)
class Replayed:
    """An execution as its history has it, and whether this release would have done the same."""

    workflow_id: str
    run_id: str
    definition: str
    """The type of the workflow: the id of the definition, or the name of a function that was called by itself."""
    version: str | None = None
    digest: str | None = None
    """The SHA-256 of the text that it runs; None where none is known yet."""
    state: str | None = None
    """The state that it was in at the end of the history."""
    semantics: int | None = None
    """The semantics number that it began with."""
    format: int | None = None
    """The format of the record that it began with."""
    builds: tuple[str, ...] = ()
    """The releases, or the build ids, of the workers that wrote the history."""
    failure: str | None = None
    """Why this release cannot go on with it; None where it can."""
    has_begun: bool = True
    """Whether there is a workflow task of it."""


@dataclass(frozen=True, slots=True)
class Retraced:
    """What happened in an execution, as its history shows it to this release."""

    workflow_id: str
    definition: Definition | None
    """What it runs; None where no task of it was worked on, and for what runs no definition."""
    trace: tuple[TraceEntry, ...]
    closed_as: Literal["failed", "stopped"] | None = None
    """How the server, a person or the parent ended it, if one did."""
    failure: str | None = None
    """Why the trace ends before the history does; None where it does not."""
    place: str | None = None
    """The id of what gave it a place: see `place_records.py`."""
    lengths: tuple[int, ...] = ()
    """For each entry, how many events the history had when the workflow task began, or ended, in which it was made."""
    calls: tuple["CallStep", ...] = ()
    """The steps of its calls and sub-workflows, in order."""
    steps: tuple[int, ...] = ()
    """For each entry, how many of these steps were before it."""
    under_way: Mapping[str, FunctionCall | SubflowCall] = field(default_factory=dict)
    """The calls and sub-workflows that were under way at the end, or with which it failed, by their ids."""
    origin: str | None = None
    """The first run of the instance."""
    deadline: float | None = None
    """When the time of the instance is over, as seconds of the epoch; None if that is never."""

    def over_before(self, entry: int) -> set[str]:
        """Return the ids of the calls and sub-workflows that were over before the entry of that number."""
        return {one.call.id for one in self.calls[: self.steps[entry]]} - self.open_before(entry).keys()

    def open_before(self, entry: int) -> dict[str, FunctionCall | SubflowCall]:
        """Return the calls and sub-workflows that were under way before the entry of that number, by their ids."""
        found: dict[str, FunctionCall | SubflowCall] = {}
        for step in self.calls[: self.steps[entry]]:
            if step.begins:
                found[step.call.id] = step.call
            else:
                found.pop(step.call.id, None)
        return found

    def known_as(self, ids: Iterable[str]) -> set[str]:
        """Return what a history calls the calls and sub-workflows with these *ids*."""
        given = list(ids)
        children = (id_of_child(self.workflow_id, self.origin, one) for one in given if self.origin is not None)
        return {*map(shortened_id, given), *children}


class CallStep(NamedTuple):
    """A step of a call or a sub-workflow: it begins, or is over."""

    call: FunctionCall | SubflowCall
    begins: bool


T = TypeVar("T")

REPLAY_LIMIT: Final = 300.0
"""Seconds after which a replay is given up: the longest history that a server keeps takes some ten."""

_MESSAGE: Final = re.compile(r'message: "((?:[^"\\]|\\.)*)"')

_CLOSED: Final[Mapping[EventType.ValueType, Literal["failed", "stopped"]]] = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT: "failed",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: "stopped",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: "stopped",
}

_seen: dict[str, "Observed"] = {}
"""By their run ids, the executions that are being replayed."""
_asked: dict[str, Any] = {}
"""By their run ids, what those are asked for, beside their trace, that are being replayed."""
_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
"""By run ids, what lets a run be replayed once at a time: an execution is told apart by that alone."""


class _ObservedHost(TemporalHost):
    """A host that takes note of the steps of calls."""

    def __init__(self, calls: list[CallStep], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._calls = calls

    async def invoke(self, call: FunctionCall) -> JSON:
        self._calls.append(CallStep(call, begins=True))
        try:
            return await super().invoke(call)
        finally:
            self._calls.append(CallStep(call, begins=False))

    async def run_subflow(self, call: SubflowCall) -> JSON:
        self._calls.append(CallStep(call, begins=True))
        try:
            return await super().run_subflow(call)
        finally:
            self._calls.append(CallStep(call, begins=False))


@workflow.defn(dynamic=True, sandboxed=False)
class Observed(Interpreter):
    """One execution that is looked at while it is replayed. It does what any does."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)
        self.state: str | None = None
        self._failed_with: tuple[str, ...] | None = None
        self.entries: list[TraceEntry] = []
        self.lengths: list[int] = []
        self.calls: list[CallStep] = []
        self.steps: list[int] = []
        self._place = next((part for part in self._parts if isinstance(part, OwnPlace)), None)
        self.asked = _asked.get(workflow.info().run_id)
        _seen[workflow.info().run_id] = self

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)

    @property
    def definition(self) -> Definition | None:
        """What it runs, once that is known."""
        return self._instance.definition

    @property
    def place(self) -> str | None:
        """The id of what gave it a place."""
        return None if self._place is None else self._place.had

    @property
    def under_way(self) -> tuple[str, ...]:
        """The ids of the calls and sub-workflows that are under way, or with which it has failed."""
        run = self._instance.run
        if self._failed_with is not None or run is None:
            return self._failed_with or ()
        return tuple(run.execution.under_way)

    @property
    def deadline(self) -> float | None:
        """When the time of the instance is over."""
        run = self._instance.run
        return None if run is None else run.execution.deadline

    @property
    def origin(self) -> str:
        """The first run of the instance."""
        return self._pin.lineage.origin or self._info.first_execution_run_id

    def _new_host(self, source: str) -> TemporalHost:
        is_usual = not self._options.answers_all
        return _ObservedHost(self.calls, self._pin, source, self._payloads, runs_external_activities=is_usual)

    def added_to(self, facts: Replayed) -> Replayed:
        """Return *facts* with what is known of this execution."""
        pin, definition = self._pin, self._instance.definition
        if isinstance(self._wrong, NewerRecord):
            return facts
        return Replayed(
            workflow_id=facts.workflow_id,
            run_id=facts.run_id,
            definition=facts.definition,
            version=None if definition is None else definition.version,
            digest=None if definition is None else definition.digest,
            state=self.state,
            semantics=pin.semantics if pin.definitions else None,
            format=pin.format,
            builds=facts.builds,
            failure=facts.failure,
        )

    def _on_trace(self, entry: TraceEntry) -> None:
        self.state = entry.state or self.state
        self.entries.append(entry)
        self.lengths.append(self._info.get_current_history_length())
        self.steps.append(len(self.calls))
        if entry.kind is TraceKind.WORKFLOW_FAILED:
            self._failed_with = self.under_way  # later they are given up
        super()._on_trace(entry)


async def replay(history: WorkflowHistory, converter: DataConverter) -> Replayed:
    """Replay a history whose payloads *converter* reads. Raises ValueError if it is not that of a workflow."""
    seen, failure = await observe(history, converter)
    facts = Replayed(
        workflow_id=history.workflow_id,
        run_id=history.run_id,
        definition=history.events[0].workflow_execution_started_event_attributes.workflow_type.name,
        builds=_builds(history),
        failure=failure,
        has_begun=has_begun(history),
    )
    return facts if seen is None else seen.added_to(facts)


async def retrace(history: WorkflowHistory, converter: DataConverter) -> Retraced:
    """Replay a history for its trace. Raises ValueError if it is not that of a workflow."""
    return retraced(history, *await observe(history, converter))


def cut(retraced: Retraced, entries: int) -> Retraced:
    """Return what happened before an instance went on, in another execution, from that number of *entries* of this."""
    return replace(
        retraced,
        trace=retraced.trace[:entries],
        lengths=retraced.lengths[:entries],
        steps=retraced.steps[:entries],
        closed_as=None,
    )


def retraced(history: WorkflowHistory, seen: Observed | None, failure: str | None) -> Retraced:
    """Return the trace that is *seen* in a replay of *history*, up to the *failure* of the replay."""
    if seen is None:
        return Retraced(history.workflow_id, None, (), failure=failure)
    closed_as = _CLOSED.get(history.events[-1].event_type)
    # A replay works on the last task, too, which no worker may have done: what is not in the history has not happened.
    # The SDK takes a task that has given no commands together with all that follows it, up to its end in the history.
    completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    done = max((one.event_id for one in history.events if one.event_type == completed), default=0)
    happened = sum(length <= done for length in seen.lengths)
    return Retraced(
        workflow_id=history.workflow_id,
        definition=seen.definition,
        trace=tuple(seen.entries[:happened]),
        closed_as=closed_as,
        failure=failure,
        place=seen.place,
        lengths=tuple(seen.lengths[:happened]),
        calls=tuple(seen.calls),
        steps=tuple(seen.steps[:happened]),
        under_way={one.call.id: one.call for one in seen.calls if one.call.id in seen.under_way},
        origin=seen.origin,
        deadline=seen.deadline,
    )


async def observe(
    history: WorkflowHistory,
    converter: DataConverter,
    observed: type[Observed] = Observed,
    runner: WorkflowRunner | None = None,
    *,
    asked: Any = None,
    options: OperatorOptions | None = None,
) -> tuple[Observed | None, str | None]:
    """Return the execution that a replay of *history* made, and why the replay failed if it did.

    Neither where there is no workflow task of it. *asked* is what it is asked for, beside its trace, where it is
    *observed* by a class that knows it. *options* are those of the workers that it ran on, where that matters.
    """
    if not history.events or not history.events[0].HasField("workflow_execution_started_event_attributes"):
        raise ValueError("it does not begin with the start of a workflow")
    if not has_begun(history):
        return None, None  # the SDK would wait for its first workflow task without end
    replayer = Replayer(
        workflows=[observed, *OTHER_WORKFLOWS],
        unsandboxed_workflow_runner=runner or UnsandboxedWorkflowRunner(),
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


def has_begun(history: WorkflowHistory) -> bool:
    """Tell whether there is a workflow task: before that, as during the delay of a start, nothing has happened."""
    return any(event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED for event in history.events)


async def _apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what *work* comes to in a thread of its own, which is left to itself where nobody waits any longer.

    The SDK cannot be stopped within a replay, whether its time is over or the process is to end. Raises TimeoutError.
    """
    result: Future[T] = Future()

    def run() -> None:
        with suppress(InvalidStateError):  # nobody waits any longer
            try:
                result.set_result(asyncio.run(work()))
            except Exception as error:  # noqa: BLE001 - raised where it is waited for
                result.set_exception(error)

    Thread(target=run, name="replay", daemon=True).start()
    async with asyncio.timeout(REPLAY_LIMIT):  # noqa: TID251 - a client's
        return await asyncio.wrap_future(result)


def _reason(failure: Exception) -> str:
    """Return what the engine's library says of a replay that failed, out of what it says around that."""
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
