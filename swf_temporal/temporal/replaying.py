"""Replays histories, to check that this release issues the same commands as the one that wrote them."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from weakref import WeakValueDictionary

from temporalio import workflow
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory
from temporalio.common import RawValue
from temporalio.converter import DataConverter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, WorkflowRunner

from swf_temporal.errors import NewerRecord
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.temporal.interpreters import OTHER_WORKFLOWS
from swf_temporal.temporal.workflow import Interpreter


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
    """For each entry, how many events the history had when the workflow task began in which it was made."""


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


@workflow.defn(dynamic=True, sandboxed=False)
class Observed(Interpreter):
    """One execution that is looked at while it is replayed. It does what any does."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)
        self.state: str | None = None
        self.entries: list[TraceEntry] = []
        self.lengths: list[int] = []
        self.asked = _asked.get(workflow.info().run_id)
        _seen[workflow.info().run_id] = self

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)

    @property
    def definition(self) -> Definition | None:
        """What it runs, once that is known."""
        return self._definition

    @property
    def place(self) -> str | None:
        """The id of what gave it a place."""
        return self._place.had

    def added_to(self, facts: Replayed) -> Replayed:
        """Return *facts* with what is known of this execution."""
        pin, definition = self._pin, self._definition
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
    )
    return facts if seen is None else seen.added_to(facts)


async def retrace(history: WorkflowHistory, converter: DataConverter) -> Retraced:
    """Replay a history for its trace. Raises ValueError if it is not that of a workflow."""
    return retraced(history, *await observe(history, converter))


def retraced(history: WorkflowHistory, seen: Observed | None, failure: str | None) -> Retraced:
    """Return the trace that is *seen* in a replay of *history*, up to the *failure* of the replay."""
    if seen is None:
        return Retraced(history.workflow_id, None, (), failure=failure)
    closed_as = _CLOSED.get(history.events[-1].event_type)
    # A replay works on the last task, too, which no worker may have done: what is not in the history has not happened.
    done = max((one.workflow_task_completed_event_attributes.started_event_id for one in history.events), default=0)
    happened = sum(length <= done for length in seen.lengths)
    trace, lengths = tuple(seen.entries[:happened]), tuple(seen.lengths[:happened])
    return Retraced(history.workflow_id, seen.definition, trace, closed_as, failure, seen.place, lengths)


async def observe(
    history: WorkflowHistory,
    converter: DataConverter,
    observed: type[Observed] = Observed,
    runner: WorkflowRunner | None = None,
    *,
    asked: Any = None,
) -> tuple[Observed | None, str | None]:
    """Return the execution that a replay of *history* made, and why the replay failed if it did.

    *asked* is what it is asked for, beside its trace, where it is *observed* by a class that knows it.
    """
    if not history.events or not history.events[0].HasField("workflow_execution_started_event_attributes"):
        raise ValueError("it does not begin with the start of a workflow")
    replayer = Replayer(
        workflows=[observed, *OTHER_WORKFLOWS],
        unsandboxed_workflow_runner=runner or UnsandboxedWorkflowRunner(),
        data_converter=converter,
        debug_mode=True,  # on a busy machine a step may take longer than a worker may
    )
    async with _turns.setdefault(history.run_id, asyncio.Lock()):
        _asked[history.run_id] = asked
        try:
            outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
        finally:
            del _asked[history.run_id]
        seen = _seen.pop(history.run_id, None)
    return seen, None if outcome.replay_failure is None else _reason(outcome.replay_failure)


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
