"""Beginning an instance where it came to a state or an action, with other data than it had there or with later events.

A reset cannot change data: the server takes nothing along with it that a worker would see before the state is entered
again. Nor does it give events again after those with which the instance came there. So the history is replayed up to
there, and what the instance would carry on, had it continued as new at this moment, is what another execution of it
begins with.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from temporalio import workflow
from temporalio.client import Client, WorkflowHistory
from temporalio.common import RawValue, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.converter import DataConverter
from temporalio.service import RPCError

from swf_temporal.data import JSON, merge_patch
from swf_temporal.errors import UsageError
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.inbox import Inbox
from swf_temporal.temporal import summaries
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.constants import ROUTED
from swf_temporal.temporal.first_runs import origin_of
from swf_temporal.temporal.kept_options import options_of_this, start_options
from swf_temporal.temporal.next_execution import carried
from swf_temporal.temporal.replaying import Observed, observe
from swf_temporal.temporal.signal_events import event_of_signal, event_of_update
from swf_temporal.temporal.sizes import fits
from swf_temporal.temporal.workflow_input import UNREADABLE, value_of


@dataclass(frozen=True, slots=True)
class Beginning:
    """What an execution begins with."""

    workflow_type: str
    task_queue: str
    arguments: list[Any]
    options: dict[str, Any]
    early_updates: int
    """How many of the updates with which the instance came there it had not taken yet: the last ones."""
    has_events: bool
    """Whether it begins with these, and with what came later: otherwise they are to be sent to it."""

    async def start(self, client: Client, workflow_id: str) -> str:
        """Begin it, and end the one that runs, if one does; return its run id. Raises UsageError if it is refused."""
        try:
            handle = await client.start_workflow(
                self.workflow_type,
                args=self.arguments,
                id=workflow_id,
                task_queue=self.task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                **self.options,
            )
        except RPCError as error:
            raise not_there(error, workflow_id) from None
        return str(handle.first_execution_run_id)


class Sent(NamedTuple):
    """An event that was sent to an instance."""

    signal: str | None
    """The name of the signal that carried it; None for an update."""
    value: RawValue | None


class _Asked(NamedTuple):
    entry: int
    """The number of the trace entry with which it enters the state, or begins the action."""
    patch: JSON
    task_queue: str
    """That of the instance: a replay has one of its own."""
    leading: Sequence[Sent]
    """The events of the updates with which it came there."""
    events: Sequence[Sent]
    """Those that came later, and are given to it again."""


@workflow.defn(dynamic=True, sandboxed=False)
class Beginner(Observed):
    """One execution that is replayed to see how another one begins where it comes to a state or an action."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)
        self.beginning: Beginning | None = None
        self.size, self.most = 0, 0

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)

    def _on_trace(self, entry: TraceEntry) -> None:
        if isinstance(self.asked, _Asked) and len(self.entries) == self.asked.entry:
            self._note_beginning(self.asked)
        super()._on_trace(entry)

    def _note_beginning(self, asked: _Asked) -> None:
        run, host = self._run, self._host
        assert run is not None  # noqa: S101 - for the type checker: it enters a state
        assert host is not None  # noqa: S101 - as above
        data = run.execution.latest_data
        if asked.patch is not None:  # never for an action
            run.execution.latest_data = merge_patch(data, asked.patch)
        early, inbox = self._incoming.early_updates, run.inbox
        run.inbox = self._with_events(inbox, (*asked.leading[len(asked.leading) - early :], *asked.events))
        facts = {"first": None, "origin": origin_of(self._pin)}  # no key of a call names an execution before
        following = carried(run, self._pin, host, **facts)
        run.inbox = inbox
        has_events = fits(following.size, following.most)
        if not has_events:
            following = carried(run, self._pin, host, **facts)
        if asked.patch is not None:
            run.execution.latest_data = data
        self.size, self.most = following.size, following.most
        if fits(following.size, following.most):
            options = start_options(options_of_this())
            if self._definition is not None:
                options["static_summary"] = summaries.of_instance(self._definition)
            arguments = [None, following.record, *following.parts]
            self.beginning = Beginning(
                workflow.info().workflow_type, asked.task_queue, arguments, options, early, has_events
            )

    def _with_events(self, inbox: Inbox, events: Sequence[Sent]) -> Inbox:
        """Return *inbox* as it is once *events* have come, too. What is none is left out: it is refused in any case."""
        filled, definition = Inbox(inbox.record()), self._definition
        assert definition is not None  # noqa: S101 - for the type checker: it enters a state
        for signal, raw in events:
            with suppress(*UNREADABLE):
                value = None if raw is None else value_of(raw)
                if signal is None:
                    event = event_of_update(value, definition)
                else:
                    event = event_of_signal(signal, value, definition)
                filled.deliver(event, is_forwardable=signal == ROUTED)
        return filled


async def beginning_at(
    history: WorkflowHistory,
    converter: DataConverter,
    entry: int,
    patch: JSON,
    *,
    leading: Sequence[Sent] = (),
    events: Sequence[Sent] = (),
) -> Beginning:
    """Return how the execution of *history* begins where it made the trace entry of that number.

    That is where it enters a state, or begins an action, of which the progress has nothing yet. Its data there are
    changed by *patch*, a JSON merge patch; None leaves them as they were. Raises UsageError if one payload does not
    hold them. It has the events by which it came there, *leading*, and later *events* from the start on where that
    holds these, too: sent to it, they could come when it has ended, and those of a mailbox would not go back there.
    """
    started = history.events[0].workflow_execution_started_event_attributes
    asked = _Asked(entry, patch, started.task_queue.name, leading, events)
    seen, failure = await observe(history, converter, Beginner, asked=asked)
    if isinstance(seen, Beginner) and seen.beginning is not None:
        return seen.beginning
    if isinstance(seen, Beginner) and seen.size > seen.most:
        failure = f"it would carry {seen.size:,} bytes on, and at most {seen.most:,} are possible"
    raise UsageError(f"{history.workflow_id!r} cannot go on with these data: {failure}")
