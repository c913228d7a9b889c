"""Deciding when a run continues as new: before the server ends the execution, and when the run can.

Theory of operation. The server suggests continuing as new from some 4,000 events on, or when an execution has nearly as
many updates as it may have; it refuses further signals at 10,000 and ends an execution at 51,200 events or 50 MiB. The
length is checked when the run takes a step and, since a waiting run takes none, when an event arrives that nothing
waits for. It is checked once per workflow task, within which the history does not grow.

Before a run continues as new, its calls in progress have to end, and nothing else is begun until then. To avoid being
blocked by one call that is much slower than others, the run stays in its execution and keeps working, up to
`SLOW_CALL_MAX_EVENTS`. Calls that the definition marks as long-running block nothing: they survive continue-as-new
(`temporal/long_running.py`).

What does not fit into one payload cannot be carried over: the run then stays in its execution, and tries again after
`TRY_AGAIN` events, when it may hold less. Shortly before the server would end it, it fails instead.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from temporalio import workflow

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import HistoryTooLong, PayloadTooLarge, SubflowFailed, TimedOut, WorkflowFault
from swf_temporal.base.grammar import counted
from swf_temporal.base.records import nested
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.port import Definition, EventUse, Words
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.performing import CARRY_LESS, size_of
from swf_temporal.runtime.progress import Front
from swf_temporal.runtime.run import Awaited, Run
from swf_temporal.temporal.host import TemporalHost
from swf_temporal.temporal.outgoing import Slowest
from swf_temporal.temporal.place_records import in_words

MAX_EVENTS, MAX_BYTES = 40_000, 40 * 1024 * 1024
"""The history limits, in events and bytes, of an execution that should not continue as new.

The engine knows only an execution, not the run: children that are to end with the run end with the execution, and only
the execution that was asked to cancel can end as Canceled.
"""

LAST_EVENTS, LAST_BYTES = 47_000, 46 * 1024 * 1024
"""The history size at which a run that cannot be carried over fails; servers end it at 51,200 events and 50 MiB.

That leaves room for up to 1,900 calls in progress to end, with two events each.
"""

SLOW_CALL_MAX_EVENTS, SLOW_CALL_MAX_BYTES = 30_000, 30 * 1024 * 1024
"""The history limits, in events and bytes, of an execution that keeps working because a slow call is in progress.

Beyond that it waits for the call. Some ten thousand events can arrive meanwhile: the server accepts no more signals.
"""

ALL_SLOW_MAX_EVENTS: Final = 12_000
"""The limit in events if later calls have not overtaken the slow one: all may be slow, and then more gains nothing."""

SLOW_CALL: Final = timedelta(minutes=1)
"""The time in progress after which a call counts as slow."""
MIN_LATER_CALLS: Final = 500
"""The number of later calls that must overtake a call for it to be slower than the others."""

_EVENTS_OF_CALL: Final = 3
"""The minimum number of events that a call adds to a history."""

TRY_AGAIN: Final = 2_000
"""The number of further events after which a run that could not be carried over tries again."""


MAX_SIGNALS: Final = 1_000
"""The number of signals after which an execution should continue as new.

A server that has more than a hundred signals to deliver while a workflow task is in progress fails the task, and the
worker replays the execution. The longer its history, the longer that takes, and once it takes long enough that another
hundred signals arrive, no task ends any more until the server refuses signals. So a worker that is restarted, or stalls
briefly, must be able to replay the execution in the time in which a hundred signals arrive.
"""


class LengthCheck:
    """Checks the length of one execution."""

    def __init__(self, is_long: Callable[[], bool], words: Callable[[], Words]) -> None:
        """Check an execution; *is_long* says whether it should continue as new.

        *words* returns the terms of its definition's language.
        """
        self._is_long = is_long
        self._words = words
        self._stepped_at: datetime | None = None
        self._came_at: datetime | None = None
        self._signals = 0
        self._again_from: int | None = None
        """The number of events from which a run that could not be carried over is checked again."""

    def at_step(self, run: Run, host: TemporalHost, at: datetime) -> None:
        """Suspend *run* at a step if it should continue as new; *at* is the time of *host*.

        A run that is being cancelled, has sub-workflows that are to end with it, or waits for a slow call is not
        suspended as long as the server does not end it.
        """
        if at is not self._stepped_at:  # the host's time is one object throughout a workflow task
            self._stepped_at = at
            if self._is_due() and self._can_leave(run, host):
                run.suspend()

    def at_signal(self) -> None:
        self._signals += 1

    def at_event(self, run: Run, host: TemporalHost) -> None:
        """Suspend *run*, which has just kept an event, if it should continue as new.

        Raises HistoryTooLong if that is long overdue, a call is still in progress, and the server is about to end it.
        """
        at = host.now()
        if at is not self._came_at:
            self._came_at = at
            if self._is_due() and self._can_leave(run, host):
                run.suspend()
            if run.is_suspending and self._is_at_its_end():
                self._give_up(host.slowest, at)

    def _can_leave(self, run: Run, host: TemporalHost) -> bool:
        if self.is_endangered():
            return True
        if run.execution.is_cancelled or host.has_children_to_end():
            return False
        return not self._waits_for(host.slowest, host.now())

    def _give_up(self, slowest: Slowest | None, at: datetime) -> None:
        if slowest is not None:
            seconds = (at - slowest.since).total_seconds()
            raise HistoryTooLong(
                f"the history has {workflow.info().get_current_history_length():,} events, and the run cannot continue "
                f"in a new one, because {slowest.name!r} has been under way for {seconds:,.0f} seconds: "
                f"{self._words().slow_call}"
            )

    def could_not_carry_over(self, size: int, most: int, run: Run) -> None:
        """Note that the record of *run* is larger than *most*. Raises PayloadTooLarge if the run cannot stay either."""
        length = workflow.info().get_current_history_length()
        _check_iterations(size, most, run)
        if self._again_from is not None and self._is_at_its_end():
            raise PayloadTooLarge(
                f"the history has {length:,} events, and the run cannot continue in a new one: what it has to carry "
                f"over takes {size:,} bytes of the {most:,} that a run can carry over, "
                f"{run.inbox.size:,} of them for {counted(len(run.inbox.kept), 'event')} that no state has taken"
            )
        self._again_from = length + TRY_AGAIN

    def _is_due(self) -> bool:
        if self._signals < MAX_SIGNALS and not self._is_long():
            return False
        if self._again_from is None:
            return True
        return workflow.info().get_current_history_length() >= self._again_from or self._is_at_its_end()

    def is_endangered(self) -> bool:
        """Return whether the server is about to end the execution because its history is too long."""
        info = workflow.info()
        return info.get_current_history_length() >= MAX_EVENTS or info.get_current_history_size() >= MAX_BYTES

    def _waits_for(self, slowest: Slowest | None, at: datetime) -> bool:
        """Return whether the run stays because of a slow call: waiting until everything has ended would not help."""
        info = workflow.info()
        if slowest is None or info.get_current_history_size() >= SLOW_CALL_MAX_BYTES:
            return False
        # Busy workers may take many later calls first, while none takes long: such a call ends soon.
        is_slow = at - slowest.since >= SLOW_CALL
        most = ALL_SLOW_MAX_EVENTS if slowest.overtaken < MIN_LATER_CALLS else SLOW_CALL_MAX_EVENTS
        return is_slow and info.get_current_history_length() < most

    def _is_at_its_end(self) -> bool:
        info = workflow.info()
        return info.get_current_history_length() >= LAST_EVENTS or info.get_current_history_size() >= LAST_BYTES


def _check_iterations(size: int, most: int, run: Run) -> None:
    """Raise PayloadTooLarge if *run* cannot continue as new and the remaining iterations do not fit the history."""
    fronts = list(nested(run.execution.frame, Front))
    done, all_ = sum(front.count for front in fronts), sum(front.of for front in fronts)
    info = workflow.info()
    length, bytes_ = info.get_current_history_length(), info.get_current_history_size()
    more = (all_ - done) * _EVENTS_OF_CALL
    if not more or (length + more <= LAST_EVENTS and bytes_ + more * bytes_ // max(1, length) <= LAST_BYTES):
        return
    results = sum(size_of(front.results) for front in fronts)
    raise PayloadTooLarge(
        f"{done:,} of {all_:,} iterations are done, and the run cannot continue with the others: their results take "
        f"{results:,} bytes, and all that it has to carry over {size:,} of the {most:,} that it can; {CARRY_LESS}"
    )


MAX_METADATA: Final = 4000
"""The length limit of metadata in the details of an instance, in characters."""


def details(definition: Definition, run: Run, entry: TraceEntry) -> str:
    """Return the current details shown in the UI, as Markdown."""
    version = f" {definition.version}" if definition.version else ""
    text = f"**{definition.name or definition.id}**{version} "
    if run.execution.is_expired:
        text += "ran out of time, and "
    if entry.kind == TraceKind.PLACE_AWAITED:
        text += f"waits for a place: {in_words(definition.id, entry.detail)}"
    else:
        text += f"is in {definition.words.state} **{entry.state}**" if entry.state else "is to end"
    if entry.kind == TraceKind.EVENT_AWAITED:
        text += f", waiting for {entry.name}"
    if run.execution.metadata is not None:
        text += f"\n\n```json\n{_metadata(run.execution.metadata)}\n```"
    return text


def status_of(definition: Definition | None, run: Run | None) -> dict[str, Any]:
    """Return the answer to the query `status`."""
    if run is None or definition is None:
        return {"state": None, "awaiting": []}
    status: dict[str, Any] = {
        "workflow": definition.id,
        "version": definition.version,
        "digest": definition.digest,
        "state": run.execution.state,
        "awaiting": [_awaited(wait, definition) for wait in run.awaited.values()],
        "kept": [event.type for event in run.inbox.kept],
    }
    if compensated := run.execution.compensated_on_cancel:
        status["compensatedOnCancel"] = list(compensated)
    if definition.words.state != Words.state:
        status["stateWord"] = definition.words.state
    if run.execution.metadata is not None:
        status["metadata"] = run.execution.metadata
    if run.execution.error is not None:
        status["error"] = run.execution.error
    return status


def trace_to_json(entries: Iterable[TraceEntry], before: int = 0) -> list[dict[str, Any]]:
    """Return *entries* as the query `trace` returns them, numbered as in the run, which has others *before* them."""
    return [{**_to_json(entry), "number": number} for number, entry in enumerate(entries, before)]


def _to_json(entry: TraceEntry) -> dict[str, Any]:
    return {
        "kind": str(entry.kind),
        "lane": entry.lane,
        "state": entry.state,
        "name": entry.name,
        "at": entry.at.isoformat(),
        "detail": dict(entry.detail),
    }


SHOWN: Final = frozenset(
    {
        TraceKind.STATE_ENTERED,
        TraceKind.EVENT_AWAITED,
        TraceKind.METADATA_SET,
        TraceKind.WORKFLOW_TIMED_OUT,
        TraceKind.PLACE_AWAITED,
    }
)
"""The trace entries that change the details of an instance in the UI."""


class LatestEntry:
    """The trace entry that the UI shows: the last one of an activation, since earlier ones would never be visible."""

    def __init__(self, show: Callable[[TraceEntry], None], loop: asyncio.AbstractEventLoop) -> None:
        self._show = show
        self._loop = loop
        self._entry: TraceEntry | None = None

    def note(self, entry: TraceEntry) -> None:
        """Record an entry, which is shown if none follows it."""
        if self._entry is None:
            self._loop.call_soon(self._show_it)
        self._entry = entry

    def _show_it(self) -> None:
        entry, self._entry = self._entry, None
        if entry is not None:
            self._show(entry)


def failure_text(workflow_id: str, fault: WorkflowFault, words: Words) -> str:
    """Return the description of a failed run: where it failed, what was tried, the answer, why it was not caught."""
    where = f" in {words.state} {fault.state!r}" if fault.state else ""
    lines = [f"workflow {workflow_id!r} failed{where}"]
    if fault.action:
        action = f"action {fault.action!r}"
        if fault.branch:
            action += f" of branch {fault.branch!r}"
        if fault.attempt and fault.attempt > 1:
            action += f", attempt {fault.attempt}"
        if fault.function and fault.function != fault.action:
            action += f" → function {fault.function!r}"
        lines.append(action)
    lines.append(f"{fault.name}: {fault.message}" if fault.name != "CallFailed" else fault.message)
    if fault.cause and isinstance(fault, SubflowFailed):
        lines.append(f"in {fault.cause}")
    elif fault.cause and isinstance(fault, TimedOut):
        lines.append(f"the last attempt ended with {fault.cause}")
    if fault.state and fault.catchable:
        what = "it" if fault.code == fault.name else f"its code {fault.code!r}"
        lines.append(words.uncaught.format(handler=words.handler, state=fault.state, error=what))
    return "\n  ".join(lines)


def _metadata(value: JSON) -> str:
    written = show_json(value, indent=2)
    return written if len(written) <= MAX_METADATA else f"{written[:MAX_METADATA]}…"


def _awaited(wait: Awaited, definition: Definition) -> dict[str, Any]:
    found: dict[str, Any] = {
        "state": wait.state,
        "events": [_event(definition.event(name), wait.values.get(name)) for name in wait.events],
    }
    part = definition.outline.part_at(wait.state)
    if part is not None:
        found["kind"] = part.kind
    if wait.since is not None:
        found["since"] = wait.since.isoformat()
    if wait.deadline is not None:
        found["until"] = datetime.fromtimestamp(wait.deadline, UTC).isoformat()
    return found


def _event(event: EventUse, values: Mapping[str, str] | None) -> dict[str, Any]:
    found: dict[str, Any] = {"name": event.name, "type": event.type, "source": event.source}
    if values is not None:
        found["correlation"] = {
            one.attribute: values.get(one.attribute.lower()) for one in event.correlation if one.path is None
        }
    if event.data_schema is not None:
        found["dataSchema"] = event.data_schema
    if event.roles:
        found["roles"] = list(event.roles)
    assignee = event.assignee or (values or {}).get((event.assignee_attribute or "").lower())
    if assignee is not None:
        found["assignee"] = assignee
    return found
