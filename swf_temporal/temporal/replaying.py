"""Replays histories, to check that this release issues the same commands as the one that wrote them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.common import RawValue
from temporalio.converter import DataConverter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from swf_temporal.errors import NewerRecord
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


_MESSAGE: Final = re.compile(r'message: "((?:[^"\\]|\\.)*)"')

_seen: dict[str, "Observed"] = {}
"""By their run ids, the executions that are being replayed."""


@workflow.defn(dynamic=True, sandboxed=False)
class Observed(Interpreter):
    """One execution that is looked at while it is replayed. It does what any does."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)
        self.state: str | None = None
        _seen[workflow.info().run_id] = self

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)

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
        super()._on_trace(entry)


async def replay(history: WorkflowHistory, converter: DataConverter) -> Replayed:
    """Replay a history whose payloads *converter* reads. Raises ValueError if it is not that of a workflow."""
    if not history.events or not history.events[0].HasField("workflow_execution_started_event_attributes"):
        raise ValueError("it does not begin with the start of a workflow")
    started = history.events[0].workflow_execution_started_event_attributes
    replayer = Replayer(
        workflows=[Observed, *OTHER_WORKFLOWS],
        unsandboxed_workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=converter,
        debug_mode=True,  # on a busy machine a step may take longer than a worker may
    )
    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    facts = Replayed(
        workflow_id=history.workflow_id,
        run_id=history.run_id,
        definition=started.workflow_type.name,
        builds=_builds(history),
        failure=None if outcome.replay_failure is None else _reason(outcome.replay_failure),
    )
    seen = _seen.pop(history.run_id, None)
    return facts if seen is None else seen.added_to(facts)


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
