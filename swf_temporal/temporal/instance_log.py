"""Log lines of a worker about instances and calls.

They have what an operator needs, and none of the data that a run works on: logs go to places where data may not.
Every line is written once, not again on replay.

The other part here changes the data of the running state: the instance takes no further step until that is done; then
the update is answered.
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
from swf_temporal.temporal.call_records import FaultError
from swf_temporal.temporal.constants import CALLS, CHANGE_DATA, CHANGE_REFUSED, FACTS, INSTANCES
from swf_temporal.temporal.instance_part import Ending, Instance, Part
from swf_temporal.temporal.records import UNREADABLE, value_of

if TYPE_CHECKING:
    from swf_temporal.temporal.host import TemporalHost


_MAX_LENGTH = 300
_PROBE = 12
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")
"""The beginning of a line that names an error, as Python, JavaScript and others write it."""
_EXITED = re.compile(r".*? exit code -?\d+")
"""The beginning of the message about a process that has failed; its standard error follows."""
_QUERY = re.compile(r"(\w://[^\s?]*)\?[^\s]*")

_instances = workflow.LoggerAdapter(logging.getLogger(INSTANCES), None)
_calls = activity.LoggerAdapter(logging.getLogger(CALLS), None)
_instances.workflow_info_on_message = False
logging.getLogger("temporalio.activity").addFilter(
    # The SDK's line has a traceback of our code, not the function's.
    lambda record: not (record.exc_info and isinstance(record.exc_info[1], FaultError))
)
_calls.activity_info_on_message = False


@dataclass(slots=True)
class LogRecord(Record):
    """The facts that the log of an instance has reported once, and need not repeat."""

    untaken: bool = False
    """True if it has reported that no sink takes an event that the instance produces."""


class InstanceLog(Part):
    """Logs an execution. Of a fire-and-forget call only its failure is logged."""

    KEY = "log"

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._said = LogRecord()
        info = instance.info
        self._usual = logging.DEBUG if instance.is_call else logging.INFO
        # The parent of a sub-workflow decides what its failure means.
        self._failure = logging.ERROR if info.parent is None else logging.WARNING
        self._what = f"call of {info.workflow_type}" if instance.is_call else info.workflow_type
        self._is_detailed = _instances.logger.isEnabledFor(logging.DEBUG)

    def resume(self) -> None:
        self._said = self.carried(LogRecord)

    @property
    def notes(self) -> bool:
        """Whether every step is logged."""
        return bool(self._is_detailed)

    def begin(self, definition: Definition, host: "TemporalHost") -> None:
        """Log that the instance has started or continued."""
        host.publishing.on_untaken = self._tell_untaken
        self._what = f"{definition.id} {definition.version or ''}".rstrip()
        if self.instance.is_continued:
            self._write(logging.DEBUG, "went on", version=definition.version)
        else:
            self._write(self._usual, "started", version=definition.version)

    def note(self, entry: TraceEntry) -> None:
        """Log a step, if every step is to be logged."""
        where = {"lane": entry.lane, "state": entry.state, "name": entry.name}
        facts = {"event": str(entry.kind), **{key: part for key, part in where.items() if part}}
        if entry.kind is TraceKind.ACTION_FAILED:
            facts |= {key: entry.detail[key] for key in ("function", "error", "code") if key in entry.detail}
        path = " › ".join(dict.fromkeys(part for part in where.values() if part))
        _instances.debug("%s: %s", entry.kind, path, extra={FACTS: facts})

    def stays(self, size: int, kept: int) -> None:
        """Log that a long run stays in its execution, since it holds too much."""
        more = f"in its execution, since {size} bytes are too many to carry over to another; {kept} events are kept"
        self._write(logging.WARNING, "stays", more, bytes=size, kept=kept)

    def record(self, to: ContinuedAs | None = None) -> LogRecord | None:
        """Return what has been reported; nothing if another definition begins."""
        return None if to is not None else self._said

    def _tell_untaken(self, event_type: str) -> None:
        """Log, once, that the instance produces events that no sink takes."""
        if not self._said.untaken:
            self._said.untaken = True
            told = {"event": "event not taken", "type": event_type}
            _instances.warning("no sink takes the event of type %r that it produces", event_type, extra={FACTS: told})

    async def end(self, ending: Ending) -> None:
        """Log how the execution ends."""
        match ending:
            case Ending("continued", to=None):
                self._write(logging.DEBUG, "continues", "in a new execution, since its history is long")
            case Ending("continued", to=ContinuedAs() as to):
                other = f"{to.workflow_id} {to.version or ''}".rstrip()
                self._write(logging.INFO, "continued", f"as {other}", to=to.workflow_id)
            case Ending("failed", failure=FailureError() as failure):
                fault, definition = fault_in(failure), self.instance.definition
                word = "state" if definition is None else definition.words.state
                self._write(self._failure, "failed", in_a_line(fault, word), **facts_of(fault))
            case Ending("cancelled"):
                # Clients begin the reason with who asks for it.
                asked = " ".join((workflow.cancellation_reason() or "").split())[:_MAX_LENGTH]
                self._write(self._usual, ending.how, asked, reason=asked or None)
            case _:
                self._write(self._usual, ending.how)

    def _write(self, level: int, event: str, more: str = "", **facts: Any) -> None:
        if not _instances.logger.isEnabledFor(level):
            return
        details = {"event": event, **{key: value for key, value in facts.items() if value is not None}}
        separator = ": " if event in ("failed", "cancelled") else " "
        _instances.log(level, "%s %s%s", event, self._what, separator + more if more else "", extra={FACTS: details})


def log_failed_call(function: str, fault: WorkflowFault, attempt: int, again: timedelta | None) -> None:
    """Log that an attempt at a call failed, and when the next is due, if there is one."""
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
    """Log that an attempt at a call is repeated, since its variables could not be read or written."""
    details = {"event": "call failed", "function": function, "error": type(error).__name__, "attempt": attempt}
    _calls.warning("call of %r is made again: %s", function, error, extra={FACTS: details})


def log_failed_event(event_type: Any, fault: WorkflowFault, attempt: int) -> None:
    """Log that a produced event could not be sent."""
    details = {"event": "event not sent", "type": event_type, **facts_of(fault), "attempt": attempt}
    _calls.warning("event of type %r was not sent: %s", event_type, in_a_line(fault), extra={FACTS: details})


def fault_in(failure: FailureError) -> WorkflowFault:
    """Return the fault that *failure* carries, or one made from its message."""
    if not isinstance(failure, ApplicationError):
        return WorkflowFault(failure.message, name=type(failure).__name__)
    facts = failure.details[0] if failure.details else None
    if isinstance(facts, dict) and "kind" in facts:
        return WorkflowFault.from_json(facts)
    return WorkflowFault(failure.message, name=failure.type or type(failure).__name__)


def facts_of(fault: WorkflowFault) -> dict[str, Any]:
    """Return the facts about *fault* for programs that read logs."""
    found = {
        "error": fault.name,
        "code": fault.code,
        "status": fault.status,
        "state": fault.state,
        "action": fault.action,
        "function": fault.function,
    }
    return {key: value for key, value in found.items() if value is not None}


def in_a_line(fault: WorkflowFault, state: str = "state") -> str:
    """Return a one-line description of *fault*, without any data. *state* is the language's word for a state."""
    named = fault.name if fault.code == fault.name else f"{fault.name} {fault.code}"
    where = [f"{word} {name!r}" for word, name in ((state, fault.state), ("action", fault.action)) if name]
    message = " ".join(_without_data(fault).split())
    if len(message) > _MAX_LENGTH:
        message = message[:_MAX_LENGTH] + "…"
    text = f"{named} in {', '.join(where)}" if where else named
    return f"{text}: {message}" if message else text


def _without_data(fault: WorkflowFault) -> str:
    """Return the message of *fault* without quoted data, service answers or URL parameters."""
    message = fault.message
    if isinstance(fault, ExpressionFailed):
        _, mark, expression = message.rpartition("${")
        return f"{mark}{expression}"
    if isinstance(fault, SchemaMismatch):
        return message.partition(": ")[0]
    if isinstance(fault, SubflowFailed):
        return f"in {fault.cause}" if fault.cause else ""  # which logs its own failure
    if isinstance(fault.body, dict) and (ended := _EXITED.match(message)):
        return f"{ended[0]}: {_telling_line(str(fault.body.get('stderr') or ''))}".removesuffix(": ")
    if fault.body is not None:
        body = fault.body if isinstance(fault.body, str) else show_json(fault.body)
        message = message.partition(f": {body[:_PROBE]}")[0]
    return _QUERY.sub(r"\1?…", message)


def _telling_line(stderr: str) -> str:
    """Return the line of a process's standard error that says why it failed: the last error, or the last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.match(line)]
    return next(reversed(errors or lines), "")


class DataChanges(Part):
    """Changes of data for the runs of one execution, made one after the other."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        workflow.set_update_handler(CHANGE_DATA, self.change, validator=self.check)
        self._run: Run | None = None
        self._pending: list[JSON] = []
        """The pending changes of the running state's data, for whichever run is current by then."""
        self._taken = self._made = 0
        """The number of changes requested, and the number made."""
        self._is_over = False
        self._were_made = False
        """True if the run was suspended to change its data."""

    def attend(self, run: Run) -> None:
        """From now on, have *run* make the changes."""
        self._run = run
        run.pending_changes = self._pending
        if self._pending:
            run.suspend()

    def suspended(self, *, is_over: bool) -> None:
        """Answer the requests after the run was suspended to change its data, or, if it *is_over*, has ended."""
        made, self._made = self._made, self._taken - len(self._pending)
        self._is_over, self._were_made = is_over, made < self._made

    def refuses_to_leave(self) -> bool:
        """Return whether the run was suspended to change its data."""
        return self._were_made

    def close(self) -> None:
        """Refuse requests that have not been carried out: the run is at its end."""
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
        """Refuse what is not a change, or comes before the run has begun. Refusals leave no trace in the history."""
        run = self._run
        if run is None or run.execution.state is None:
            raise _refused("has not begun: its data cannot be changed yet")
        if run.execution.is_cancelled or self._is_over:
            raise _refused("is ending: its data are not changed any more")
        if _object(raw) is None:
            raise _refused("takes a JSON merge patch, which is an object")


def _object(raw: RawValue | None) -> dict[str, Any] | None:
    """Return the object in *raw*, which anyone may have written; None if it is not an object."""
    try:
        value = None if raw is None else value_of(raw)
    except UNREADABLE:
        return None
    return value if isinstance(value, dict) else None


def _refused(reason: str) -> ApplicationError:
    return ApplicationError(reason, type=CHANGE_REFUSED)
