"""The workflow that interprets every definition: its type is the definition's id.

Theory of operation. The worker registers one dynamic workflow class; the name under which it was started is the id of
the definition to run. Signals and updates may arrive before the first step: they only append to buffers created in
`__init__`, from which the run takes them. A run whose history grows long is suspended between two steps and continues
as new with its progress; so does one whose definition asks for it.

A memo is available from the start of an execution, is carried over by continue-as-new, and can be set by any client at
a start.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, CancelledError, FailureError

from swf_temporal.base.accounting import json_size
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import (
    InvalidDefinition,
    NewerRecord,
    NotServed,
    PayloadUnavailable,
    WorkflowFault,
    unforeseen,
)
from swf_temporal.base.records import MalformedRecord, Record
from swf_temporal.languages.port import Definition, Words
from swf_temporal.runtime.host import (
    Completed,
    ContinuedAs,
    InstanceIdentity,
    RunOutcome,
    Suspended,
    TraceEntry,
    request_in,
)
from swf_temporal.runtime.joining import cancel_next_wait
from swf_temporal.runtime.performing import MAX_PAYLOAD_BYTES, check_size
from swf_temporal.runtime.progress import ProgressRecord
from swf_temporal.runtime.run import Program, Run
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import application_error
from swf_temporal.temporal.constants import DELIVER, PROBE
from swf_temporal.temporal.continuing import (
    SHOWN,
    LatestEntry,
    LengthCheck,
    details,
    failure_text,
    status_of,
    trace_to_json,
)
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.host import MAY_CONTINUE_AS_NEW, TemporalHost
from swf_temporal.temporal.incoming_events import IncomingEvents
from swf_temporal.temporal.instance_part import Ending, Instance, Part, operator_options
from swf_temporal.temporal.instance_parts import PARTS
from swf_temporal.temporal.next_execution import Written, begin_other, carried, checked, make_call
from swf_temporal.temporal.outgoing import fits
from swf_temporal.temporal.records import NOT_A_RECORD, RESOLVE, UNKNOWN, WRONG_INPUT, Pin, program_of, read_input

_KEYS: Final = ("headers", "identity")


def request_of_workflow() -> dict[str, JSON]:
    """Return the facts about its request from the memo of the running workflow; invalid values are ignored."""
    if not any(key in workflow.info().raw_memo for key in _KEYS):
        return {}
    try:
        return request_in({key: workflow.memo_value(key, None) for key in _KEYS})
    except (RuntimeError, ValueError, TypeError):  # written by another client, in another form
        return {}


_OF_DATA = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, AssertionError)
"""Exceptions that a definition or its data can provoke through a bug. After any other, the task is retried."""

_LOOKED_AT = SHOWN | MAY_CONTINUE_AS_NEW
"""The trace entries that are acted upon, beside being kept."""

_RESOLVE_LIMIT = timedelta(seconds=30)


@workflow.defn(dynamic=True, sandboxed=False)
class Interpreter:
    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        info = self._info = workflow.info()
        self._options = operator_options()
        self._data, pin, self._wrong = read_input(args, is_child=info.parent is not None)
        was_reset = info.run_id != info.original_execution_run_id
        if was_reset:
            pin.lineage.first = pin.lineage.first or info.original_execution_run_id
        self._pin = pin
        self._payloads = [arg.payload for arg in args[2:]]
        self._looked_up = 0  # bytes of definitions returned by a worker, which this workflow task sends
        self._output: Any = None
        self._to: ContinuedAs | None = None
        is_continued = was_reset or pin.progress is not None
        self._instance = Instance(pin, is_continued, info.is_continue_as_new_suggested)
        self._parts = [kind(self._instance) for kind in (PARTS if self._options.parts is None else self._options.parts)]
        self._signals = {name: part for part in self._parts for name in part.SIGNALS}
        self._noting: list[Part] = []
        self._length = LengthCheck(lambda: self._instance.is_long(), self._words)  # noqa: PLW0108 - it may be replaced
        self._shown = LatestEntry(self._show, asyncio.get_running_loop())
        self._incoming = IncomingEvents(pin, self._length, self._note_kept)

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:  # noqa: ARG002 - read in __init__
        """Run the definition whose id is this workflow's type; the result is its output."""
        try:
            output = self._output = await self._outcome()
        except workflow.ContinueAsNewError:
            await self._end(Ending("continued", to=self._to))
            raise
        except (FailureError, asyncio.CancelledError) as error:
            await self._end(_ending_of(error))
            raise
        await self._end(Ending("completed", output if isinstance(output, RawValue) else None))
        return output

    async def _outcome(self) -> Any:
        if isinstance(self._wrong, NewerRecord | PayloadUnavailable):
            # Only the workflow task fails, and is retried until a newer worker takes it, or one with the keys.
            raise self._wrong
        try:
            for part in self._parts:
                await part.admit()
            self._resume_parts()
            if self._pin.call is not None:
                host = self._new_host(self._pin.call.source)
                return await make_call(self._pin.call, host, watches=not self._options.answers_all)
            return await self._interpret(*await self._program())
        except WorkflowFault as fault:
            text = failure_text(self._info.workflow_type, fault, self._words())
            raise application_error(fault, text=text, non_retryable=True) from None
        except MalformedRecord as error:
            wrong = WorkflowFault(f"the progress of the run cannot be read: {error}", name=WRONG_INPUT)
            raise application_error(wrong, non_retryable=True) from None
        except _OF_DATA as error:
            # Otherwise the engine would retry the workflow task for ever, and the run would seem to hang.
            run = self._instance.run
            internal = unforeseen(error, None if run is None else run.execution.state)
            raise application_error(internal, non_retryable=True) from error
        except InvalidDefinition as error:
            raise ApplicationError(str(error), type="InvalidDefinition", non_retryable=True) from None

    def _resume_parts(self) -> None:
        """Have each part read its record. Raises WorkflowFault if a client made one that cannot be read."""
        try:
            for part in self._parts:
                part.resume()
        except (ValueError, TypeError, LookupError) as error:
            raise WorkflowFault(f"{NOT_A_RECORD}: {error}", name=WRONG_INPUT) from None

    async def _end(self, ending: Ending) -> None:
        """Call the end hook of each part. Raises the error of one, after passing it to those that follow."""
        met: FailureError | asyncio.CancelledError | None = None
        for part in self._parts:
            try:
                await part.end(ending)
            except (FailureError, asyncio.CancelledError) as error:
                ending, met = _ending_of(error), error
        if met is not None:
            raise met

    @workflow.signal(dynamic=True)
    def signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Take in an event: `event` carries a CloudEvent, a signal named after an event definition its data."""
        raw = args[0] if args else None
        if name in self._signals:
            self._signals[name].signal(raw)
        elif name != PROBE:
            self._incoming.take_signal(name, raw)

    @workflow.update(name=DELIVER, unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def deliver(self, raw: RawValue) -> dict[str, Any]:
        """Take in a CloudEvent, or the `data` of the event that the definition calls `name`; return its outcome."""
        return await self._incoming.take_update(raw)

    @deliver.validator
    def _validate(self, raw: RawValue) -> None:
        self._incoming.check_update(raw)

    @workflow.update(dynamic=True, unfinished_policy=workflow.HandlerUnfinishedPolicy.ABANDON)
    async def answer_update(self, name: str, args: Sequence[RawValue]) -> Any:
        """Take in an update that the definition names; return the answer of its task."""
        return checked(await self._incoming.answer(name, args[0] if args else None))

    @answer_update.validator
    def _validate_update(self, name: str, args: Sequence[RawValue]) -> None:
        self._incoming.check_named(name, args[0] if args else None)

    @workflow.query(dynamic=True)
    def answer_query(self, name: str, args: Sequence[RawValue]) -> Any:  # noqa: ARG002 - as the SDK has it
        """Return the answer of the definition to a query that it names."""
        run, definition = self._instance.run, self._instance.definition
        try:
            answer = None if run is None else run.execution.answer(name)
        except LookupError:
            known = sorted({"status", "data", "trace"}.union(definition.queries if definition is not None else ()))
            listed = f"{', '.join(known[:-1])} and {known[-1]}"
            raise ValueError(f"the instance has no answer to the query {name!r} yet; it answers {listed}") from None
        check_size(json_size(answer), "a query can return", limit_of(workflow.payload_converter()))
        return answer

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return the status of the run: its state, and the events it waits for."""
        instance = self._instance
        status = status_of(instance.definition, instance.run)
        for part in self._parts:
            status |= part.status()
        local = [] if instance.host is None else instance.host.local_calls
        return {**status, "localCalls": local} if local else status

    @workflow.query(name="data")
    def data(self) -> Any:
        """Return the data that the running state began with, or the last one did; the output, once there is one."""
        if self._output is not None:
            return self._output
        data = self._latest_data()
        check_size(json_size(data), "a query can return", limit_of(workflow.payload_converter()))
        return data

    def _latest_data(self) -> JSON:
        run = self._instance.run
        return self._data if run is None else run.execution.data

    @workflow.query(name="trace")
    def trace(self) -> list[dict[str, Any]]:
        """Return the latest trace entries of this run."""
        host = self._instance.host
        return [] if host is None else trace_to_json(host.trace, host.dropped)

    def _words(self) -> Words:
        definition = self._instance.definition
        return Words() if definition is None else definition.words

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
        info, pin = self._info, self._pin
        host = self._begun(definition)
        lineage, request = pin.lineage, request_of_workflow()
        instance = InstanceIdentity(info.workflow_id, info.run_id, lineage.thread, request, lineage.variables)
        progress = pin.progress or ProgressRecord(inbox=pin.start.inbox, numbers=pin.start.numbers).to_json()
        while True:
            run = Run(program, host, self._data, instance, progress, pin.start.limit)
            self._attend(run, definition, host)
            try:
                outcome = await self._outcome_of(run)
                try:
                    match outcome:
                        case Completed():
                            result = Written.of(outcome.output)
                            await self._settle(host, result)
                            return result.checked()
                        case ContinuedAs():
                            self._to = outcome
                            begin_other(outcome, run, pin, host, self._records(outcome))
                        case Suspended():
                            await self._settle(host)
                            progress = await self._carried(run, host)
                except asyncio.CancelledError:
                    if not isinstance(outcome, Suspended):
                        raise
                    # The run resumes, to be cancelled where it waits: there it compensates.
                    progress = carried(run, pin, host, parts=self._records()).progress
                    cancel_next_wait()
            except (WorkflowFault, asyncio.CancelledError):
                await self._leave(host)
                raise

    def _begun(self, definition: Definition) -> TemporalHost:
        """Begin with *definition*, and return its host."""
        host = self._new_host(definition.source.name)
        host.outgoing.sent(self._looked_up)
        host.on_trace = self._on_trace
        host.begin_children_with(self._for_child)
        self._instance.definition, self._instance.host = definition, host
        for part in self._parts:
            part.begin(definition, host)
        self._noting = [part for part in self._parts if part.notes]
        return host

    def _attend(self, run: Run, definition: Definition, host: TemporalHost) -> None:
        """Make *run* the current run of this execution."""
        self._instance.run = run
        for part in self._parts:
            part.attend(run)
        run.on_begin = lambda: self._prepare(run, definition)
        run.on_leave = lambda to: self._may_leave(run, host, to)
        self._incoming.begin(run, definition, host)
        again = self._pin.again
        if again is not None and not again.has_begun:
            again.has_begun = True
            run.execution.begin_again()

    async def _prepare(self, run: Run, definition: Definition) -> None:
        """Prepare each part before the first step."""
        for part in self._parts:
            await part.prepare(definition, run)

    async def _may_leave(self, run: Run, host: TemporalHost, to: ContinuedAs) -> None:
        """Finish this run before it continues as another definition."""
        for part in self._parts:
            part.close()
        await host.long_running.end()
        await host.check_continuation()
        await self._settle(host)
        for part in self._parts:
            await part.hand_over(run, to)

    async def _settle(self, host: TemporalHost, result: Written | None = None) -> None:
        """Finish work in progress before the execution ends: with *result* if it is complete."""
        is_complete = result is not None
        self._incoming.close()
        try:
            size = host.carries if result is None else result.size  # what continues as new may be as large as can be
            await host.outgoing.room(min(size, MAX_PAYLOAD_BYTES))
            for part in self._parts:
                await part.settle()
            if is_complete:
                await self._leave(host)
            if not (is_complete and workflow.all_handlers_finished()):
                await workflow.wait_condition(workflow.all_handlers_finished)
        except asyncio.CancelledError:
            if not is_complete:
                raise
            await self._settle(host, result)  # it is complete: a cancellation comes too late

    async def _carried(self, run: Run, host: TemporalHost) -> dict[str, Any]:
        """Return the progress with which this execution resumes, unless another one takes over."""
        await host.check_held()
        following = carried(run, self._pin, host, parts=self._records())
        stays = any(part.refuses_to_leave() for part in self._parts)
        if stays or (run.execution.is_cancelled and not self._length.is_endangered()):
            return following.progress  # another execution would not know about the cancellation at its end
        if fits(following.size, following.most):
            following.begin()
        # Too much to carry over in one payload: stay in this execution.
        self._length.could_not_carry_over(following.size, following.most, run)
        for part in self._parts:
            part.stays(following.size, len(run.inbox.kept))
        return following.progress

    async def _outcome_of(self, run: Run) -> RunOutcome:
        """Run *run*. Raises HistoryTooLong if it was given up."""
        outcome: RunOutcome | None = None
        try:
            outcome = await run.run()
            return outcome
        finally:
            for part in self._parts:
                part.suspended(is_over=not isinstance(outcome, Suspended))
            if self._incoming.gave_up is not None:
                raise self._incoming.gave_up

    async def _leave(self, host: TemporalHost) -> None:
        await host.long_running.end()
        for part in self._parts:
            await part.leave()

    def _records(self, to: ContinuedAs | None = None) -> dict[str, JSON]:
        """Return the records of the parts to carry over, to *to* if the instance continues as another definition."""
        return _written({part.KEY: part.record(to) for part in self._parts if part.KEY})

    def _for_child(self) -> dict[str, JSON]:
        return _written({part.KEY: part.for_child() for part in self._parts if part.KEY})

    def _new_host(self, source: str) -> TemporalHost:
        runs_external_activities = not self._options.answers_all
        return TemporalHost(self._pin, source, self._payloads, runs_external_activities=runs_external_activities)

    def _note_kept(self, is_new: bool) -> None:  # noqa: FBT001 - as the hook has it
        for part in self._parts:
            part.kept(is_new=is_new)

    def _show(self, entry: TraceEntry) -> None:
        definition, run = self._instance.definition, self._instance.run
        if run is not None and definition is not None:
            workflow.set_current_details(details(definition, run, entry))

    def _on_trace(self, entry: TraceEntry) -> None:
        for part in self._noting:
            part.note(entry)
        run, host, kind = self._instance.run, self._instance.host, entry.kind
        if kind not in _LOOKED_AT or run is None or host is None:
            return
        if entry.enters_state and host.budget.is_suspicious:
            host.budget.enter_with(entry.state, run.execution.data)
        if kind in SHOWN:
            self._shown.note(entry)
        if kind in MAY_CONTINUE_AS_NEW:
            self._length.at_step(run, host, entry.at)


def _written(records: Mapping[str, Record | None]) -> dict[str, JSON]:
    written: dict[str, JSON] = {key: record.to_json() for key, record in records.items() if record is not None}
    return {key: record for key, record in written.items() if record}


def _ending_of(error: FailureError | asyncio.CancelledError) -> Ending:
    if isinstance(error, CancelledError | asyncio.CancelledError):
        return Ending("cancelled")
    return Ending("failed", failure=error)
