"""The events that an instance receives: with its start, and by signals and updates.

Signals and updates may arrive before the run begins. They are kept until then, and passed to it.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import HistoryTooLong, WorkflowFault
from swf_temporal.base.grammar import counted
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.events.routing import never_taken
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.correlation import DEFAULT_SOURCE, is_like
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.call_records import application_error
from swf_temporal.temporal.constants import AWAITED, DELIVER, EVENT, EVENT_REFUSED, INBOX_FULL, ROUTED
from swf_temporal.temporal.continuing import LengthCheck
from swf_temporal.temporal.converter import limit_of
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.records import UNREADABLE, Pin, catalogue_of, value_of
from swf_temporal.text.suggestions import did_you_mean

_UPDATES: Final = "updates"
"""The source of the events that updates are."""


class NotTakenError(ValueError):
    """An event that an instance never takes; the message continues after the id of the instance."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        self.hint = hint
        super().__init__(reason)


class NoRoomError(Exception):
    """An event that an instance cannot keep now, but may take later; the message continues after its id."""


def event_of_signal(name: str, value: JSON, definition: Definition) -> CloudEvent:
    """Return the event that the signal *name* carries.

    `event` carries a CloudEvent. A signal named after an event definition, or after the type of one, carries the
    event's data; since it was sent to this very instance, it need not carry the attributes that correlate it. A
    CloudEvent is taken as one under any name. Raises ValueError saying what is wrong.
    """
    if name == EVENT or (isinstance(value, dict) and {"specversion", "type"} <= value.keys()):
        if not isinstance(value, dict):
            raise ValueError("it does not carry a CloudEvent, which is a JSON object")
        return CloudEvent.from_json(value)
    meant = next((event for event in definition.events if event.name == name), None)
    if meant is None:
        meant = next((event for event in definition.events if event.type == name), None)
    if meant is None:
        known = ", ".join(event.name for event in definition.events) or "none"
        raise ValueError(f"the workflow defines no event of that name; it defines {known}")
    return CloudEvent(
        id="",
        source=meant.source or DEFAULT_SOURCE,
        type=meant.type or meant.name,
        data=value,
        is_addressed=True,
    )


def check_form(event: Any) -> None:
    """Raise NotTakenError unless *event* is a CloudEvent, or has the `name` of an event and its `data`."""
    if not isinstance(event, dict):
        raise NotTakenError("takes CloudEvents, and this is not a JSON object")
    name = _name_in(event)
    if name is not None and not isinstance(name, str):
        raise NotTakenError("takes no event whose 'name' is not a text")
    if name is None:
        try:
            CloudEvent.from_json(event)
        except ValueError as error:
            raise NotTakenError(f"takes CloudEvents, and this is not one: {error}") from None


def event_of_update(event: Any, definition: Definition) -> CloudEvent:
    """Return the event that an update carries. Raises NotTakenError."""
    check_form(event)
    name = _name_in(event)
    if name is None:
        return CloudEvent.from_json(event)
    if all(name not in (one.name, one.type) for one in definition.events):
        names = [one.name for one in definition.consumed_events]
        raise NotTakenError(f"has no event called {name!r}", _question(name, names, "events called"))
    return event_of_signal(name, event.get("data"), definition)


def refuse_unawaited(given: Mapping[str, Any], event: CloudEvent, run: Run) -> None:
    """Raise NotTakenError if *given* must be taken at once, and nothing waits for *event* now."""
    if given.get(AWAITED) is True and _name_in(given) is not None and not run.awaits(event):
        raise NotTakenError(f"does not wait for the event {given['name']!r} now", "`swf tasks` lists what is awaited")


def refuse_never_taken(event: CloudEvent, workflow: Definition, catalogue: Catalogue) -> None:
    """Raise NotTakenError if neither *workflow* takes events like *event*, nor one that it may continue as.

    If it cannot know, because *catalogue* lacks a definition, the event is not refused.
    """
    continued = list(catalogue.continuations(workflow))
    if any(one is None for one in continued):
        return
    definitions = (workflow, *filter(None, continued))
    consumed = [(one, each) for each in definitions for one in each.consumed_events]
    reasons = [never_taken(event, one, each) for one, each in consumed if is_like(one, event)]
    if None in reasons:
        return
    if reasons:
        raise NotTakenError(
            f"never takes this event of type {event.type!r}: {' and '.join(dict.fromkeys(filter(None, reasons)))}",
            "correct its attributes, or send it by its name in the definition, which needs none",
        )
    sources = sorted({one.source for one, _ in consumed if one.type == event.type and one.source})
    if sources:
        wanted = " or ".join(map(repr, sources))
        raise NotTakenError(
            f"takes events of type {event.type!r} whose source is {wanted} only, and this one's is {event.source!r}"
        )
    if any(is_like(one, event) for each in definitions for one in each.events if one.kind == "produced"):
        raise NotTakenError(f"produces events of type {event.type!r} and takes none")
    types = sorted({one.type for one, _ in consumed if one.type})
    raise NotTakenError(
        f"takes no event of type {event.type!r}", _question(event.type, types, "events of these types:")
    )


def refused(reason: str, hint: str | None = None) -> ApplicationError:
    """Return the failure of an update without a valid event, or with one that is never taken."""
    return ApplicationError(reason, *([] if hint is None else [hint]), type=EVENT_REFUSED)


def refuse_more(event: CloudEvent, run: Run, most: int) -> None:
    """Raise NoRoomError if *run* would have to keep *event*, and already keeps events of *most* bytes."""
    inbox = run.inbox
    if inbox.size >= most and not run.awaits(event):
        raise NoRoomError(
            f"keeps {counted(len(inbox.kept), 'event')} that no state has taken yet, {inbox.size:,} bytes in all; "
            "it keeps no more until some are taken"
        )


def _name_in(event: Mapping[str, Any]) -> Any:
    return event["name"] if "type" not in event and "name" in event else None


def _question(word: str, known: list[str], which: str) -> str:
    return did_you_mean(word, known) or (f"it takes {which} {', '.join(known)}" if known else "it takes no events")


def _of_named(name: str, raw: RawValue | None, id_: str) -> CloudEvent:
    """Return the event that an update of that *name* is to the run."""
    value = None if raw is None else value_of(raw)
    return CloudEvent(id=id_, source=_UPDATES, type=name, data=value, is_addressed=True)


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
        self._answers: dict[str, JSON | WorkflowFault] = {}
        """The answers to updates that the definition names, by their ids, until their handlers return them."""
        self._is_closed = False
        """Whether the run has stopped, so that it answers nothing."""
        self.gave_up: HistoryTooLong | None = None
        """The reason why the run was given up when an event arrived, if it was."""

    def begin(self, run: Run, definition: Definition, host: TemporalHost) -> None:
        """Pass on the events that arrived before the first step of *run*, and all later ones."""
        self._begun, self._is_closed = _Begun(run, definition, host, asyncio.current_task()), False
        run.on_answer = lambda event, answer: self._answers.update({event.id: answer})
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

    async def answer(self, name: str, raw: RawValue | None) -> JSON:
        """Take in the update *name*, and return the answer of the task that waits for it."""
        update = workflow.current_update_info()
        assert update is not None  # noqa: S101 - called by the handler of one
        if self._begun is None:
            self.early_updates += 1
            await workflow.wait_condition(lambda: self._begun is not None)
            self.early_updates -= 1
            await workflow.wait_condition(lambda: True)  # until the run has done what it does at once
            self.check_named(name, raw)
        assert self._begun is not None  # noqa: S101 - for the type checker
        event = _of_named(name, raw, update.id)
        if not self._begun.run.awaits(event):
            raise refused(f"does not wait for the update {name!r} now")
        self._deliver(event, self._begun)
        await workflow.wait_condition(lambda: update.id in self._answers or self._is_closed)
        if update.id not in self._answers:
            raise refused(f"stopped before it answered the update {name!r}")
        answer = self._answers.pop(update.id)
        if isinstance(answer, WorkflowFault):
            raise application_error(answer, non_retryable=True)
        return answer

    def check_named(self, name: str, raw: RawValue | None) -> None:
        """Refuse an update that the definition does not name, or that no task waits for now."""
        begun = self._begun
        if begun is None:
            return
        if name not in begun.definition.updates:
            known = sorted({DELIVER, *begun.definition.updates})
            raise refused(f"has no update called {name!r}", _question(name, known, "updates called"))
        try:
            event = _of_named(name, raw, "")
        except UNREADABLE as error:
            raise refused(f"takes JSON, and this is not JSON: {error}") from None
        if not begun.run.awaits(event):
            raise refused(f"does not wait for the update {name!r} now", "`swf describe` shows what is awaited")

    def close(self) -> None:
        """Answer no more updates: the run has stopped."""
        self._is_closed = True

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
        """Pass *event* to the run, and check the length of the execution; return whether the event is new."""
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
