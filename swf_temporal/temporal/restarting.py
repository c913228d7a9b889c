"""Restarting an instance in another run, from where it failed or entered a state or an action.

Theory of operation. An instance that continues as new carries its whole state: its definitions, its data, the progress
of each path, its id counters, its events. So its history is replayed up to the restart point, and another run with its
id begins with what it would have carried over there. Nothing that was complete there is done again, even if it shared a
workflow task with what follows; calls in progress are repeated, with the same keys.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from temporalio import workflow
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHistory
from temporalio.common import RawValue, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.accounting import json_size
from swf_temporal.base.data import JSON, merge_patch
from swf_temporal.base.errors import UsageError
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.inbox import Inbox
from swf_temporal.temporal import summaries
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.constants import ROUTED
from swf_temporal.temporal.endings import AwaitedRecord
from swf_temporal.temporal.incoming_events import event_of_signal, event_of_update
from swf_temporal.temporal.kept_options import options_of_this, start_options
from swf_temporal.temporal.next_execution import carried
from swf_temporal.temporal.outgoing import fits
from swf_temporal.temporal.records import UNREADABLE, BegunAgain, Pin, Wanted, value_of
from swf_temporal.temporal.replaying import Observed, completed_part, observe

_STOPPED = (WorkflowExecutionStatus.CANCELED, WorkflowExecutionStatus.TERMINATED)


class RestartPoint(NamedTuple):
    """The point in the trace of an execution at which an instance is restarted."""

    entry: int
    """The number of an entry."""
    is_after: bool = False
    """True for the point after everything done with that entry, false for the point before it."""


@dataclass(frozen=True, slots=True)
class RestartInput:
    """The input of a run that restarts an instance."""

    workflow_type: str
    task_queue: str
    pin: Pin
    parts: Sequence[RawValue]
    options: dict[str, Any]
    most: int
    """The size limit of its pin, in bytes."""
    early_updates: int
    """The number of updates before the restart point that the instance had not processed: the last ones."""
    data: JSON
    """Its data there, as they were changed."""
    has_events: bool
    """True if it begins with these and with later events: otherwise they are to be sent to it."""

    def knowing(self, results: Mapping[str, JSON], children: Mapping[str, "RestartInput"]) -> "RestartInput":
        """Return it with the *results* of calls, and the inputs of its sub-workflows, by the ids of their calls.

        A sub-workflow that would need more than its pin starts anew. If one payload cannot hold them all, all of these
        calls are made again, and all of these sub-workflows start anew.
        """
        pins = {call: one.pin for call, one in children.items() if one.has_events and not one.parts}
        assert self.pin.again is not None  # noqa: S101 - for the type checker: it begins again
        pin = replace(self.pin, again=replace(self.pin.again, results=dict(results), children=pins))
        return replace(self, pin=pin) if fits(json_size(pin.to_json()), self.most) else self

    async def start(self, client: Client, workflow_id: str) -> str:
        """Start the run, terminating one that is running; return its run id. Raises UsageError if it is refused."""
        pin = replace(self.pin, outlasting=await _still_awaited(client, self.pin.outlasting))
        try:
            handle = await client.start_workflow(
                self.workflow_type,
                args=[None, pin.to_json(), *self.parts],
                id=workflow_id,
                task_queue=self.task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                **self.options,
            )
        except RPCError as error:
            raise not_there(error, workflow_id) from None
        return str(handle.first_execution_run_id)


async def _still_awaited(client: Client, children: dict[str, AwaitedRecord]) -> dict[str, AwaitedRecord]:
    """Return those of *children* whose end the instance still waits for: the others are started anew.

    The others are those that were stopped, and those that make a call, which give up when no run waits for them.
    """
    found: dict[str, AwaitedRecord] = {}
    for call_id, child in children.items():
        if child.call:
            continue
        try:
            described = await client.get_workflow_handle(child.id).describe()
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise not_there(error, child.id) from None
            continue
        if described.status not in _STOPPED:
            found[call_id] = child
    return found


class SentEvent(NamedTuple):
    """An event that was sent to an instance."""

    signal: str | None
    """The name of the signal that carried it; None for an update."""
    value: RawValue | None


class _RestartRequest(NamedTuple):
    point: RestartPoint
    patch: JSON
    task_queue: str
    """The task queue of the instance: a replay has another."""
    leading: Sequence[SentEvent]
    """The events of the updates before the restart point."""
    events: Sequence[SentEvent]
    """Later events, which it is given again."""
    wanted: Wanted


@workflow.defn(dynamic=True, sandboxed=False)
class RestartObserver(Observed):
    """An execution that is replayed to determine how another one begins at the restart point."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        super().__init__(args)
        self.restart_input: RestartInput | None = None
        self.size, self.limit = 0, 0

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run the definition whose id is this workflow's type; the result is its output."""
        return await super().run(args)

    def _on_trace(self, entry: TraceEntry) -> None:
        asked = self.asked
        if isinstance(asked, _RestartRequest) and len(self.entries) == asked.point.entry:
            if asked.point.is_after:
                asyncio.get_running_loop().create_task(self._note_when_settled(asked))
            else:
                self._note_input(asked)
        super()._on_trace(entry)

    async def _note_when_settled(self, asked: _RestartRequest) -> None:
        """Record the other execution's input once this step of the workflow is complete."""
        await workflow.wait_condition(lambda: True)
        self._note_input(asked)

    def _note_input(self, asked: _RestartRequest) -> None:
        run, host = self._instance.run, self._instance.host
        assert run is not None  # noqa: S101 - for the type checker: it has an entry
        assert host is not None  # noqa: S101 - as above
        data = run.execution.latest_data
        if asked.patch is not None:  # only before a state
            run.execution.latest_data = merge_patch(data, asked.patch)
        early, inbox = self._incoming.early_updates, run.inbox
        run.inbox = self._with_events(inbox, (*asked.leading[len(asked.leading) - early :], *asked.events))
        entries = asked.point.entry + asked.point.is_after
        again = BegunAgain(run=self._info.run_id, entries=entries, wanted=asked.wanted)
        facts: dict[str, Any] = {"again": again, "parts": self._records()}
        following = carried(run, self._pin, host, **facts)
        run.inbox = inbox
        changed = run.execution.latest_data
        has_events = fits(following.size, following.most)
        if not has_events:
            following = carried(run, self._pin, host, **facts)
        if asked.patch is not None:
            run.execution.latest_data = data
        self.size, self.limit = following.size, following.most
        if fits(following.size, following.most):
            options = start_options(options_of_this())
            if self._instance.definition is not None:
                options["static_summary"] = summaries.of_instance(self._instance.definition)
            self.restart_input = RestartInput(
                workflow_type=self._info.workflow_type,
                task_queue=asked.task_queue,
                pin=following.pin,
                parts=following.parts,
                options=options,
                most=following.most,
                early_updates=early,
                data=changed,
                has_events=has_events,
            )

    def _with_events(self, inbox: Inbox, events: Sequence[SentEvent]) -> Inbox:
        """Return *inbox* with *events* added. Invalid ones are left out, as they would be refused in any case."""
        filled, definition = Inbox(inbox.record()), self._instance.definition
        assert definition is not None  # noqa: S101 - for the type checker: it has an entry
        for signal, raw in events:
            with suppress(*UNREADABLE):
                value = None if raw is None else value_of(raw)
                if signal is None:
                    event = event_of_update(value, definition)
                else:
                    event = event_of_signal(signal, value, definition)
                filled.deliver(event, is_forwardable=signal == ROUTED)
        return filled


async def restart_input_at(
    history: WorkflowHistory,
    converter: DataConverter,
    point: RestartPoint,
    wanted: Wanted,
    *,
    leading: Sequence[SentEvent] = (),
    events: Sequence[SentEvent] = (),
) -> RestartInput:
    """Return the input to restart an instance from a *point* in the trace of the execution of *history*.

    *wanted* is the request, which may change its data if it enters a state. Raises UsageError if one payload cannot
    hold the input. The input includes *leading*, the events of updates before the point, and later *events*, if they
    fit, too: sent separately, they could arrive after its end, and those of a mailbox would not go back there.
    """
    started = history.events[0].workflow_execution_started_event_attributes
    asked = _RestartRequest(point, wanted.patch, started.task_queue.name, leading, events, wanted)
    seen, failure = await observe(completed_part(history), converter, RestartObserver, asked=asked)
    if isinstance(seen, RestartObserver) and seen.restart_input is not None:
        return seen.restart_input
    if isinstance(seen, RestartObserver) and seen.size > seen.limit:
        failure = f"it would carry {seen.size:,} bytes on, and at most {seen.limit:,} are possible"
    why = failure or "a replay of its history does not get there; try again"
    raise UsageError(f"{history.workflow_id!r} cannot continue from there: {why}")
