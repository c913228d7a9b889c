"""Log lines of a worker about instances and calls.

Only what an operator wants to know, and none of the data that a run works on: logs go to places
where data may not. Every line is written once: not again where a run is replayed.

The instance takes no further step until the data of its running state are changed; then the answer comes.
"""

import logging
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio import activity, workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, FailureError

from swf_temporal.base.data import JSON
from swf_temporal.base.durations import format_duration
from swf_temporal.base.errors import ExpressionFailed, SchemaMismatch, StoreUnavailable, SubflowFailed, WorkflowFault
from swf_temporal.base.records import Record
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import ContinuedAs, TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.temporal.constants import CHANGE_DATA, CHANGE_REFUSED
from swf_temporal.temporal.failures import FaultError
from swf_temporal.temporal.instance_part import Ending, Instance, Part
from swf_temporal.temporal.logger_names import CALLS, FACTS, INSTANCES
from swf_temporal.temporal.workflow_input import UNREADABLE, value_of

if TYPE_CHECKING:
    from swf_temporal.temporal.host import TemporalHost


_MAX_LENGTH = 300
_PROBE = 12
_QUERY = re.compile(r"(\w://[^\s?]*)\?[^\s]*")

_instances = workflow.LoggerAdapter(logging.getLogger(INSTANCES), None)
_calls = activity.LoggerAdapter(logging.getLogger(CALLS), None)
_instances.workflow_info_on_message = False
logging.getLogger("temporalio.activity").addFilter(
    # The SDK's line has a traceback, which leads through our code and not the function's.
    lambda record: not (record.exc_info and isinstance(record.exc_info[1], FaultError))
)
_calls.activity_info_on_message = False


@dataclass(slots=True)
class LogRecord(Record):
    """What the log of an instance has said, and need not say again."""

    untaken: bool = False
    """That no sink takes an event which the instance produces."""


class InstanceLog(Part):
    """Tells of an execution. Of a fire-and-forget call only its failure is logged."""

    KEY = "log"

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._said = self.carried(LogRecord)
        info = instance.info
        self._usual = logging.DEBUG if instance.is_call else logging.INFO
        # The parent of a sub-workflow decides what its failure means.
        self._failure = logging.ERROR if info.parent is None else logging.WARNING
        self._what = f"call of {info.workflow_type}" if instance.is_call else info.workflow_type
        self._is_detailed = _instances.logger.isEnabledFor(logging.DEBUG)

    @property
    def notes(self) -> bool:
        """Whether every step is told."""
        return bool(self._is_detailed)

    def begin(self, definition: Definition, host: "TemporalHost") -> None:
        """Tell that it has started, or goes on."""
        host.publishing.on_untaken = self._tell_untaken
        self._what = f"{definition.id} {definition.version or ''}".rstrip()
        if self.instance.is_continued:
            self._write(logging.DEBUG, "went on", version=definition.version)
        else:
            self._write(self._usual, "started", version=definition.version)

    def note(self, entry: TraceEntry) -> None:
        """Tell of a step, where every step is to be told."""
        where = {"lane": entry.lane, "state": entry.state, "name": entry.name}
        facts = {"event": str(entry.kind), **{key: part for key, part in where.items() if part}}
        if entry.kind is TraceKind.ACTION_FAILED:
            facts |= {key: entry.detail[key] for key in ("function", "error", "code") if key in entry.detail}
        path = " › ".join(dict.fromkeys(part for part in where.values() if part))
        _instances.debug("%s: %s", entry.kind, path, extra={FACTS: facts})

    def stays(self, size: int, kept: int) -> None:
        """Tell that a long run goes on where it is, since it holds too much."""
        more = f"in its execution, since {size} bytes are too many to go on with in another; {kept} events are kept"
        self._write(logging.WARNING, "stays", more, bytes=size, kept=kept)

    def record(self, to: ContinuedAs | None = None) -> LogRecord | None:
        """Return what it has said, until another definition begins."""
        return None if to is not None else self._said

    def _tell_untaken(self, event_type: str) -> None:
        """Tell, once, that the instance produces events that no sink takes."""
        if not self._said.untaken:
            self._said.untaken = True
            told = {"event": "event not taken", "type": event_type}
            _instances.warning("no sink takes the event of type %r that it produces", event_type, extra={FACTS: told})

    async def end(self, ending: Ending) -> None:
        """Tell how the execution ends."""
        match ending:
            case Ending("continued", to=None):
                self._write(logging.DEBUG, "goes on", "in a new execution, since its history is long")
            case Ending("continued", to=ContinuedAs() as to):
                other = f"{to.workflow_id} {to.version or ''}".rstrip()
                self._write(logging.INFO, "continued", f"as {other}", to=to.workflow_id)
            case Ending("failed", failure=FailureError() as failure):
                fault = fault_in(failure)
                self._write(self._failure, "failed", in_a_line(fault), **facts_of(fault))
            case _:
                self._write(self._usual, ending.how)

    def _write(self, level: int, event: str, more: str = "", **facts: Any) -> None:
        if not _instances.logger.isEnabledFor(level):
            return
        details = {"event": event, **{key: value for key, value in facts.items() if value is not None}}
        separator = ": " if event == "failed" else " "
        _instances.log(level, "%s %s%s", event, self._what, separator + more if more else "", extra={FACTS: details})


def log_failed_call(function: str, fault: WorkflowFault, attempt: int, again: timedelta | None) -> None:
    """Tell that an attempt at a call failed, and after how long there is another, if there is."""
    level = logging.WARNING if again is None else logging.INFO
    if not _calls.isEnabledFor(level):
        return
    more = "" if again is None else f", tried again after {format_duration(again)}"
    details = {"event": "call failed", "function": function, **facts_of(fault), "attempt": attempt}
    if again is not None:
        details["again"] = again.total_seconds()
    frames = ""
    if fault.frames:
        details["traceback"] = fault.frames
        frames = f"\n{fault.frames}"
    _calls.log(level, "call of %r failed%s: %s%s", function, more, in_a_line(fault), frames, extra={FACTS: details})


def log_lost_attempt(function: str, error: StoreUnavailable, attempt: int) -> None:
    """Tell that an attempt at a call is made again, since its variables could not be read or written."""
    details = {"event": "call failed", "function": function, "error": type(error).__name__, "attempt": attempt}
    _calls.warning("call of %r is made again: %s", function, error, extra={FACTS: details})


def log_failed_event(event_type: Any, fault: WorkflowFault, attempt: int) -> None:
    """Tell that a produced event could not be sent."""
    details = {"event": "event not sent", "type": event_type, **facts_of(fault), "attempt": attempt}
    _calls.warning("event of type %r was not sent: %s", event_type, in_a_line(fault), extra={FACTS: details})


def fault_in(failure: FailureError) -> WorkflowFault:
    """Return the fault that *failure* carries, or what can be said of one that carries none."""
    if not isinstance(failure, ApplicationError):
        return WorkflowFault(failure.message, name=type(failure).__name__)
    facts = failure.details[0] if failure.details else None
    if isinstance(facts, dict) and "kind" in facts:
        return WorkflowFault.from_json(facts)
    return WorkflowFault(failure.message, name=failure.type or type(failure).__name__)


def facts_of(fault: WorkflowFault) -> dict[str, Any]:
    """Return what programs want to know of *fault*."""
    found = {
        "error": fault.name,
        "code": fault.code,
        "status": fault.status,
        "state": fault.state,
        "action": fault.action,
        "function": fault.function,
    }
    return {key: value for key, value in found.items() if value is not None}


def in_a_line(fault: WorkflowFault) -> str:
    """Return what *fault* is in one line, with nothing of the data that it is about."""
    named = fault.name if fault.code == fault.name else f"{fault.name} {fault.code}"
    where = [f"{word} {name!r}" for word, name in (("state", fault.state), ("action", fault.action)) if name]
    message = " ".join(_without_data(fault).split())
    if len(message) > _MAX_LENGTH:
        message = message[:_MAX_LENGTH] + "…"
    text = f"{named} in {', '.join(where)}" if where else named
    return f"{text}: {message}" if message else text


def _without_data(fault: WorkflowFault) -> str:
    """Return the message of *fault* without what it quotes: data, a service's answer, the parameters of a URL."""
    message = fault.message
    if isinstance(fault, ExpressionFailed):
        _, mark, expression = message.rpartition("${")
        return f"{mark}{expression}"
    if isinstance(fault, SchemaMismatch):
        return message.partition(": ")[0]
    if isinstance(fault, SubflowFailed):
        return f"in {fault.cause}" if fault.cause else ""  # its own failure has a line of its own
    if fault.body is not None:
        body = fault.body if isinstance(fault.body, str) else show_json(fault.body)
        message = message.partition(f": {body[:_PROBE]}")[0]
    return _QUERY.sub(r"\1?…", message)


class DataChanges(Part):
    """Takes changes for the runs of one execution, one after the other."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        workflow.set_update_handler(CHANGE_DATA, self.change, validator=self.check)
        self._run: Run | None = None
        self._pending: list[JSON] = []
        """The changes of the running state that are to be made, whatever run goes on by then."""
        self._taken = self._made = 0
        """How many such were asked for, and how many of them were made."""
        self._is_over = False
        self._were_made = False
        """Whether the run was suspended to change its data."""

    def attend(self, run: Run) -> None:
        """Let *run* make the changes from here on."""
        self._run = run
        run.pending_changes = self._pending
        if self._pending:
            run.suspend()

    def suspended(self, *, is_over: bool) -> None:
        """Answer what was asked for: the run was suspended, and its data changed, or it *is_over*."""
        made, self._made = self._made, self._taken - len(self._pending)
        self._is_over, self._were_made = is_over, made < self._made

    def refuses_to_leave(self) -> bool:
        """Tell whether the run was suspended to change its data."""
        return self._were_made

    def close(self) -> None:
        """Refuse what was asked for and has not been made: the run is at its end."""
        self.suspended(is_over=True)
        self._pending.clear()

    async def change(self, raw: RawValue) -> None:
        """Change the data of the running state by the JSON merge patch in *raw*, between two steps."""
        assert self._run is not None  # noqa: S101 - for the type checker: see `check`
        self._run.change(_object(raw))
        self._taken += 1
        number = self._taken
        await workflow.wait_condition(lambda: self._made >= number or self._is_over)
        if self._made < number:
            raise _refused("has ended before its data could be changed")

    def check(self, raw: RawValue) -> None:
        """Refuse what is no change of a run that has begun. What is refused leaves no trace in the history."""
        run = self._run
        if run is None or run.execution.state is None:
            raise _refused("has not begun: its data cannot be changed yet")
        if run.execution.is_cancelled or self._is_over:
            raise _refused("is ending: its data are not changed any more")
        if _object(raw) is None:
            raise _refused("takes a JSON merge patch, which is an object")


def _object(raw: RawValue | None) -> dict[str, Any] | None:
    """Return the object that *raw* holds, which anyone may have written; None if that is none."""
    try:
        value = None if raw is None else value_of(raw)
    except UNREADABLE:
        return None
    return value if isinstance(value, dict) else None


def _refused(reason: str) -> ApplicationError:
    return ApplicationError(reason, type=CHANGE_REFUSED)
