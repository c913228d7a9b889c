"""Descriptions of a run for people: in the Temporal UI, from queries, and when it failed."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import SubflowFailed, TimedOut, WorkflowFault
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.port import Definition, EventUse, Words
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Awaited, Run
from swf_temporal.temporal.place_records import in_words

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
        text += f"is in state **{entry.state}**" if entry.state else "is to end"
    if entry.kind == TraceKind.EVENT_AWAITED:
        text += f", waiting for {entry.name}"
    if run.execution.metadata is not None:
        text += f"\n\n```json\n{_metadata(run.execution.metadata)}\n```"
    return text


def status_of(definition: Definition | None, run: Run | None) -> dict[str, Any]:
    """Return what the query `status` answers."""
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
    if definition.words.state != Words.state:
        status["stateWord"] = definition.words.state
    if run.execution.metadata is not None:
        status["metadata"] = run.execution.metadata
    if run.execution.error is not None:
        status["error"] = run.execution.error
    return status


def entry_to_json(entry: TraceEntry) -> dict[str, Any]:
    """Return what the query `trace` answers of *entry*."""
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
"""The entries that change the details of an instance in the UI."""


class LatestEntry:
    """The trace entry that the UI shows: the last one of an activation, since nobody could see those before it."""

    def __init__(self, show: Callable[[TraceEntry], None], loop: asyncio.AbstractEventLoop) -> None:
        self._show = show
        self._loop = loop
        self._entry: TraceEntry | None = None

    def note(self, entry: TraceEntry) -> None:
        """Take note of an entry, which is shown if none comes after it."""
        if self._entry is None:
            self._loop.call_soon(self._show_it)
        self._entry = entry

    def _show_it(self) -> None:
        entry, self._entry = self._entry, None
        if entry is not None:
            self._show(entry)


def failure_text(workflow_id: str, fault: WorkflowFault, words: Words) -> str:
    """Return what a person reads of a failed run: where, what was tried, what was answered, why it was not caught."""
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
        lines.append(f"no {words.handler} of {fault.state!r} covers {what}")
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
    return found
