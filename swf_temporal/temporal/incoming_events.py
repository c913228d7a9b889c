"""The events that an instance receives: with its start, and by signals and updates.

Signals and updates may arrive before the run begins. They are kept until then, and passed to it.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import HistoryTooLong
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.constants import INBOX_FULL, ROUTED
from swf_temporal.temporal.continuing import LengthCheck
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.records import Pin, catalogue_of
from swf_temporal.temporal.signal_events import (
    NoRoomError,
    NotTakenError,
    check_form,
    event_of_signal,
    event_of_update,
    refuse_more,
    refuse_never_taken,
    refuse_unawaited,
    refused,
)
from swf_temporal.temporal.workflow_input import UNREADABLE, value_of


class _Begun(NamedTuple):
    """The run that takes the events, with its context."""

    run: Run
    definition: Definition
    host: TemporalHost
    task: "asyncio.Task[Any] | None"
    """The task that it runs in."""


class IncomingEvents:
    def __init__(self, pin: Pin, length: LengthCheck, on_kept: Callable[[bool], None]) -> None:
        """Receive the events of an instance; *on_kept* is called for each that is kept, with whether it is new."""
        self._pin = pin
        """The pin, with the events that the instance is started with."""
        self._length = length
        self._on_kept = on_kept
        self._early: list[tuple[str, RawValue | None]] = []
        """The signals that arrived before the run began."""
        self.early_updates = 0
        """The number of updates that wait until the run has begun."""
        self._begun: _Begun | None = None
        self.gave_up: HistoryTooLong | None = None
        """The reason why the run was given up when an event arrived, if it was."""

    def begin(self, run: Run, definition: Definition, host: TemporalHost) -> None:
        """Pass on the events that arrived before the first step of *run*, and all later ones."""
        self._begun = _Begun(run, definition, host, asyncio.current_task())
        events, self._pin.start.events = self._pin.start.events, []
        is_forwardable = workflow.info().parent is not None and not self._pin.lineage.is_part  # through a mailbox
        for event in events:
            run.deliver(event, is_forwardable=is_forwardable)
        early, self._early = self._early, []
        for name, raw in early:
            self._take(name, raw)

    def take_signal(self, name: str, raw: RawValue | None) -> None:
        """Take in an event: `event` carries a CloudEvent, a signal named after an event definition its data."""
        self._length.at_signal()
        self._take(name, raw)

    async def take_update(self, raw: RawValue) -> dict[str, Any]:
        """Take in the event of an update; return its outcome."""
        if self._begun is None:
            self.early_updates += 1
            await workflow.wait_condition(lambda: self._begun is not None)
            self.early_updates -= 1
            self.check_update(raw)
        begun = self._begun
        assert begun is not None  # noqa: S101 - for the type checker
        taken = event_of_update(value_of(raw), begun.definition)
        awaited = begun.run.awaits(taken)
        if not self._deliver(taken, begun):
            return {"status": "duplicate"}
        return {"status": "taken" if awaited else "kept"}

    def check_update(self, raw: RawValue) -> None:
        """Refuse events that the definition never takes. Until the definition is known, only their form is checked.

        Updates refused here leave no trace in the history, so this is not called for them on replay.
        """
        if self._pin.call is not None:
            raise refused("is a single call, which takes no events")
        begun = self._begun
        try:
            event = value_of(raw)
            if begun is None:
                check_form(event)
            else:
                taken = event_of_update(event, begun.definition)
                refuse_unawaited(event, taken, begun.run)
                refuse_never_taken(taken, begun.definition, catalogue_of(tuple(self._pin.definitions)))
                refuse_more(taken, begun.run, limit_of(workflow.payload_converter()) // 2)
        except NotTakenError as reason:
            raise refused(str(reason), reason.hint) from None
        except NotJSON as error:
            raise refused(f"takes CloudEvents, and this is not JSON: {error}") from None
        except NoRoomError as reason:
            raise ApplicationError(str(reason), type=INBOX_FULL) from None

    def _take(self, name: str, raw: RawValue | None) -> None:
        begun = self._begun
        if begun is None:
            self._early.append((name, raw))
            return
        try:
            event = event_of_signal(name, None if raw is None else value_of(raw), begun.definition)
        except UNREADABLE as error:
            reason = f"it does not carry a JSON value: {error}" if isinstance(error, NotJSON) else str(error)
            workflow.logger.warning("signal %r was not taken: %s", name, reason)
            begun.run.emit(TraceKind.EVENT_REFUSED, name, reason=reason)
            return
        self._deliver(event, begun, is_forwardable=name == ROUTED)

    def _deliver(self, event: CloudEvent, begun: _Begun, *, is_forwardable: bool = False) -> bool:
        """Pass *event* to the run, and check the length of the execution; tell whether the event is new."""
        run = begun.run
        is_new = run.deliver(event, is_forwardable=is_forwardable)
        if not is_new or (run.inbox.kept and run.inbox.kept[-1] is event):
            self._on_kept(is_new)
        if self.gave_up is None:  # what the run does after giving up must not be cancelled
            try:
                self._length.at_event(run, begun.host)
            except HistoryTooLong as fault:
                self.gave_up = fault
                if begun.task is not None:
                    begun.task.cancel()
        return is_new
