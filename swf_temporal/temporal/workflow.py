"""The workflow that interprets every definition: its type is the definition's id.

Theory of operation. The server knows one dynamic workflow class; the name under which it was started is the id of
the definition to run. Signals and updates may come before the first step: they only append to buffers that are made
in `__init__`, and the run takes them from there. A run that grows long is suspended between two steps
and continues as new with its progress; so does one whose definition asks for it.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, FailureError

from swf_temporal.errors import (
    InvalidDefinition,
    NewerRecord,
    NotServed,
    PayloadUnavailable,
    WorkflowFault,
    unforeseen,
)
from swf_temporal.languages.port import Definition, Words
from swf_temporal.records import MalformedRecord
from swf_temporal.runtime.host import (
    Completed,
    ContinuedAs,
    InstanceIdentity,
    RunOutcome,
    Suspended,
    TraceEntry,
    TraceKind,
)
from swf_temporal.runtime.joining import cancel_next_wait
from swf_temporal.runtime.limits import MAX_PAYLOAD_BYTES
from swf_temporal.runtime.performing import check_size
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.run import Program, Run
from swf_temporal.temporal import summaries
from swf_temporal.temporal.constants import CHANGE_DATA, DELIVER, PLACE, PROBE
from swf_temporal.temporal.continuing import LengthCheck
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.data_changes import DataChanges
from swf_temporal.temporal.descriptions import SHOWN, LatestEntry, details, entry_to_json, failure_text, status_of
from swf_temporal.temporal.failures import application_error
from swf_temporal.temporal.host import MAY_CONTINUE_AS_NEW, TemporalHost
from swf_temporal.temporal.incoming_events import IncomingEvents
from swf_temporal.temporal.instance_log import InstanceLog
from swf_temporal.temporal.known_definitions import check_known, needs_check
from swf_temporal.temporal.lifecycle import Lifecycle
from swf_temporal.temporal.metrics import InstanceMetrics
from swf_temporal.temporal.next_execution import begin_other, carried, checked
from swf_temporal.temporal.own_attributes import OwnAttributes
from swf_temporal.temporal.own_place import OwnPlace
from swf_temporal.temporal.record_types import WRONG_INPUT
from swf_temporal.temporal.records import RESOLVE, UNKNOWN, Pin, program_of
from swf_temporal.temporal.request_memo import request_of_workflow
from swf_temporal.temporal.single_calls import make_call
from swf_temporal.temporal.sizes import fits
from swf_temporal.temporal.subscribing import Subscriptions
from swf_temporal.temporal.workflow_input import read_input
from swf_temporal.weighing import json_size

_OF_DATA = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, AssertionError)
"""Exceptions that a definition or its data can provoke through a bug. After any other, the task is tried again."""

_LOOKED_AT = SHOWN | MAY_CONTINUE_AS_NEW
"""The entries that are looked at, beside being kept."""

_RESOLVE_LIMIT = timedelta(seconds=30)


@workflow.defn(dynamic=True, sandboxed=False)
class Interpreter:
    only_known: ClassVar[bool] = False
    """Whether a run may bring no definition along but those that its worker serves."""

    runs_external_activities: ClassVar[bool] = True
    """Whether `temporal:ACTIVITY` is the activity of another worker, and not a function that this one answers."""

    subscribes: ClassVar[bool] = True
    """Whether instances subscribe to the events that are sent where they go, and give those back that they leave."""

    takes_places: ClassVar[bool] = True
    """Whether an instance waits for a place where its definition bounds how many run at once."""

    watches_runs: ClassVar[bool] = True
    """Whether a workflow that makes one call looks whether the run has ended that waits for it."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        self._info = workflow.info()
        self._data, self._pin, self._wrong = read_input(args, is_child=self._info.parent is not None)
        was_reset = self._info.run_id != self._info.original_execution_run_id
        if was_reset:
            self._pin.first = self._pin.first or self._info.original_execution_run_id
        self._parts = [arg.payload for arg in args[2:]]
        self._looked_up = 0  # bytes of definitions that a worker has told, and this workflow task sends
        self._definition: Definition | None = None
        self._run: Run | None = None
        self._host: TemporalHost | None = None
        self._subscriptions: Subscriptions | None = None
        self._place = OwnPlace(self._pin)
        self._changes = DataChanges()
        self._lifecycle = Lifecycle()
        self._length = LengthCheck(self.is_long, self._words)
        self._shown = LatestEntry(self._show, asyncio.get_running_loop())
        is_call, is_continued = self._pin.call is not None, was_reset or self._pin.progress is not None
        self._log = InstanceLog(self._info, is_call=is_call, is_continued=is_continued)
        self._attributes = OwnAttributes(asyncio.get_running_loop())
        self._metrics = InstanceMetrics(is_call=is_call, is_continued=is_continued)
        self._incoming = IncomingEvents(self._pin, self._length, self._metrics)

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:  # noqa: ARG002 - read in __init__
        """Run the definition whose id is this workflow's type; the result is its output."""
        with self._log.ending(), self._metrics.ending(), self._attributes.ending():
            try:
                output = await self._lifecycle.reported(self._outcome())
            except (FailureError, asyncio.CancelledError):
                await self._give_back()
                raise
            await self._give_back()
            return output

    async def _outcome(self) -> Any:
        if isinstance(self._wrong, NewerRecord | PayloadUnavailable):
            # Only the workflow task fails, and is tried again until a newer worker takes it, or one with the keys.
            raise self._wrong
        try:
            if needs_check(self._pin, only_known=self.only_known):
                await check_known(self._pin)
            if self._pin.call is not None:
                host = self._new_host(self._pin.call.source)
                return await make_call(self._pin.call, host, watches=self.watches_runs)
            return await self._interpret(*await self._program())
        except WorkflowFault as fault:
            text = failure_text(self._info.workflow_type, fault, self._words())
            raise application_error(fault, text=text, non_retryable=True) from None
        except MalformedRecord as error:
            wrong = WorkflowFault(f"the progress of the run cannot be read: {error}", name=WRONG_INPUT)
            raise application_error(wrong, non_retryable=True) from None
        except _OF_DATA as error:
            # Left alone, the engine would retry the workflow task for ever, and the run would look as if it hung.
            internal = unforeseen(error, None if self._run is None else self._run.execution.state)
            raise application_error(internal, non_retryable=True) from error
        except InvalidDefinition as error:
            raise ApplicationError(str(error), type="InvalidDefinition", non_retryable=True) from None

    @workflow.signal(dynamic=True)
    def signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Take in an event: `event` carries a CloudEvent, a signal named after an event definition its data."""
        if name == PROBE:
            return
        if name == PLACE:
            self._place.tell(args[0] if args else None)
            return
        self._incoming.take_signal(name, args[0] if args else None)

    @workflow.update(name=DELIVER, unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def deliver(self, raw: RawValue) -> dict[str, Any]:
        """Take in a CloudEvent, or the `data` of the event that the definition calls `name`; say what became of it."""
        return await self._incoming.take_update(raw)

    @deliver.validator
    def _validate(self, raw: RawValue) -> None:
        self._incoming.check_update(raw)

    @workflow.update(name=CHANGE_DATA)
    async def change_data(self, raw: RawValue) -> None:
        """Change the data of the running state by a JSON merge patch, between two steps."""
        await self._changes.change(raw)

    @change_data.validator
    def _validate_change(self, raw: RawValue) -> None:
        self._changes.check(raw)

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return where the run is: its state, and the events it waits for."""
        status = status_of(self._definition, self._run)
        local = [] if self._host is None else self._host.local_calls
        if self._place.awaited is not None:
            status["awaitedPlace"] = {**self._place.awaited, "givenBy": self._place.given_by}
        return {**status, "localCalls": local} if local else status

    @workflow.query(name="data")
    def data(self) -> Any:
        """Return the data that the running state began with."""
        data = self._data if self._run is None else self._run.execution.data
        check_size(json_size(data), "a query can return", limit_of(workflow.payload_converter()))
        return data

    @workflow.query(name="trace")
    def trace(self) -> list[dict[str, Any]]:
        """Return what happened in this run so far, the latest entries."""
        return [] if self._host is None else [entry_to_json(entry) for entry in self._host.trace]

    def _words(self) -> Words:
        return Words() if self._definition is None else self._definition.words

    def is_long(self) -> bool:
        """Tell whether this execution is long enough to continue as new."""
        return self._info.is_continue_as_new_suggested()

    async def _program(self) -> tuple[Definition, Program]:
        if isinstance(self._wrong, str):
            raise WorkflowFault(self._wrong, name=WRONG_INPUT)
        info, pin = self._info, self._pin
        if not pin.definitions:
            found = await workflow.execute_local_activity(
                RESOLVE,
                args=[info.workflow_type, pin.version],
                result_type=dict,
                start_to_close_timeout=_RESOLVE_LIMIT,
                summary=summaries.of_look_up(info.workflow_type),
            )
            if UNKNOWN in found:
                raise NotServed(found[UNKNOWN], info.task_queue)
            pin.add_resolved(Pin.from_json(found))
            self._looked_up = json_size(found)
        return program_of(tuple(pin.definitions), info.workflow_type, pin.version, pin.semantics)

    async def _interpret(self, definition: Definition, program: Program) -> Any:
        info = self._info
        host = self._host = self._new_host(definition.source.name)
        host.outgoing.sent(self._looked_up)
        host.on_trace = self._on_trace
        self._definition = definition
        self._log.started(definition)
        self._metrics.started(definition)
        self._lifecycle.begin(definition, host.outgoing, self._pin.hops, self._pin.untold)
        self._attributes.find_out()
        instance = InstanceIdentity(info.workflow_id, info.run_id, self._pin.thread, request_of_workflow())
        progress = self._pin.progress or ProgressRecord(inbox=self._pin.inbox, numbers=self._pin.numbers).to_json()
        if self.subscribes:
            self._subscriptions = Subscriptions(definition, self._pin)
        while True:
            run = Run(program, host, self._data, instance, progress, self._pin.limit)
            self._begin(run, definition, host)
            if self._pin.again is not None:
                self._pin.again = None
                run.execution.begin_again()
            try:
                outcome = await self._outcome_of(run)
                try:
                    match outcome:
                        case Completed():
                            await self._settle(host, is_complete=True)
                            return checked(outcome.output)
                        case ContinuedAs():
                            begin_other(outcome, run, self._pin, host, self._log, self._lifecycle.untold)
                        case Suspended():
                            await self._settle(host)
                            progress = await self._carried(run, host)
                except asyncio.CancelledError:
                    if not isinstance(outcome, Suspended):
                        raise
                    # The run goes on, to be cancelled where it waits: there it undoes what it did.
                    progress = carried(run, self._pin, host).progress
                    cancel_next_wait()
            except (WorkflowFault, asyncio.CancelledError):
                await self._leave(host)
                raise

    async def _may_leave(self, run: Run, host: TemporalHost, to: ContinuedAs) -> None:
        """Do what has to be done before the run goes on as another definition."""
        self._changes.refuse()
        await host.outlasting.end()
        await host.check_continuation()
        await self._settle(host)
        if self._subscriptions is not None:
            await self._subscriptions.hand_over(run, to)

    async def _settle(self, host: TemporalHost, *, is_complete: bool = False) -> None:
        """Do what has to be done before the execution ends."""
        try:
            await host.outgoing.room(min(host.carries, MAX_PAYLOAD_BYTES))  # for what the execution ends with
            await self._lifecycle.delivered()
            if is_complete:
                await self._leave(host)
            if not (is_complete and workflow.all_handlers_finished()):
                await workflow.wait_condition(workflow.all_handlers_finished)
        except asyncio.CancelledError:
            if not is_complete:
                raise
            await self._settle(host, is_complete=True)  # it is complete: that it is to be cancelled comes too late

    async def _carried(self, run: Run, host: TemporalHost) -> dict[str, Any]:
        """Return the progress with which this execution goes on, unless another one takes over."""
        await host.check_held()
        following = carried(run, self._pin, host)
        if self._changes.were_made or (run.execution.is_cancelled and not self._length.is_endangered()):
            return following.progress  # of a cancellation, another execution would know nothing at its end
        if fits(following.size, following.most):
            self._log.goes_on()
            following.begin()
        # Too much is under way to be carried over in one payload: go on in this execution.
        self._length.could_not_carry_over(following.size, following.most, run)
        self._log.stays(following.size, len(run.inbox.kept))
        return following.progress

    async def _outcome_of(self, run: Run) -> RunOutcome:
        """Run *run*. Raises HistoryTooLong where that was given up."""
        outcome: RunOutcome | None = None
        try:
            outcome = await run.run()
            return outcome
        finally:
            self._changes.settle(is_over=not isinstance(outcome, Suspended))
            if self._incoming.gave_up is not None:
                raise self._incoming.gave_up

    async def _leave(self, host: TemporalHost) -> None:
        await host.outlasting.end()
        if self._subscriptions is not None:
            await self._subscriptions.leave()
        await self._place.leave()

    async def _give_back(self) -> None:
        if self._subscriptions is not None and self._run is not None:
            await self._subscriptions.give_back(self._run)

    def _new_host(self, source: str) -> TemporalHost:
        return TemporalHost(self._pin, source, self._parts, runs_external_activities=self.runs_external_activities)

    def _begin(self, run: Run, definition: Definition, host: TemporalHost) -> None:
        self._run = run
        self._changes.begin(run)
        if self._subscriptions is not None:
            run.on_wait = self._subscriptions.begin
        run.on_begin = lambda: self._prepare(run, definition)
        run.on_leave = lambda to: self._may_leave(run, host, to)
        self._incoming.begin(run, definition, host)

    async def _prepare(self, run: Run, definition: Definition) -> None:
        """Do what comes before the first step."""
        await self._attributes.begin(definition, run)
        if self.takes_places and self._place.is_needed(definition):
            await self._place.take(definition, run)

    def _show(self, entry: TraceEntry) -> None:
        if self._run is not None and self._definition is not None:
            workflow.set_current_details(details(self._definition, self._run, entry))

    def _on_trace(self, entry: TraceEntry) -> None:
        if self._log.is_detailed:
            self._log.noted(entry)
        if self._metrics.is_asked:
            self._metrics.noted(entry)
        if self._lifecycle.is_asked:
            self._lifecycle.note(entry)
        run, host, kind = self._run, self._host, entry.kind
        if kind not in _LOOKED_AT or run is None or host is None:
            return
        is_of_main = kind is TraceKind.STATE_ENTERED and entry.lane == entry.state  # and of no branch or iteration
        if is_of_main:
            self._attributes.enter(entry.state)
        if is_of_main and host.budget.is_suspicious:
            host.budget.enter_with(entry.state, run.execution.data)
        if kind in SHOWN:
            self._shown.note(entry)
        if kind in MAY_CONTINUE_AS_NEW:
            self._length.at_step(run, host, entry.at)
