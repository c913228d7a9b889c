"""The history of an instance: its runs, how each of them began, and what happened in them.

Theory of operation. An instance is one run, or several: it continues as new, is retried or rerun in another run, or is
reset. The event that starts a run names the run before it. What happened in a run is found by replaying its history,
as a worker would; no worker is asked.
"""

import gzip
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cachetools import LRUCache
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import ContinueAsNewInitiator, EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, WorkflowExecutionStartedEventAttributes
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription, WorkflowHistory
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.base.client_errors import InstanceNotFoundError
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import PayloadUnavailable, UsageError
from swf_temporal.base.files import is_folder, why_unreadable
from swf_temporal.base.strict_json import read_json
from swf_temporal.languages.loading import documents_in
from swf_temporal.operations.listing import row_of
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.inbox import with_copies
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.happened_since import StartedCall, latest_of, since_task
from swf_temporal.temporal.replaying import ReplayedRun, replay

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client

_ENDINGS: Final = (".json", ".json.gz")
_CLOSING: Final = frozenset(
    getattr(EventType, f"EVENT_TYPE_WORKFLOW_EXECUTION_{how}")
    for how in ("COMPLETED", "FAILED", "TIMED_OUT", "CANCELED", "TERMINATED", "CONTINUED_AS_NEW")
)
"""The events that end a history."""
_UNREADABLE: Final = (ValueError, RuntimeError, PayloadUnavailable)


class RunHistory(NamedTuple):
    """The history of one run of an instance."""

    run_id: str
    history: WorkflowHistory
    entries: int | None = None
    """The number of entries of its trace that belong to the instance, if the next run continues from these."""

    @property
    def start(self) -> WorkflowExecutionStartedEventAttributes:
        """Its start event's attributes."""
        return self.history.events[0].workflow_execution_started_event_attributes

    @property
    def size(self) -> int:
        """The size of its history, in bytes."""
        return sum(event.ByteSize() for event in self.history.events)

    @property
    def goes_on(self) -> bool:
        """Whether the run had not ended when its history was read."""
        return self.history.events[-1].event_type not in _CLOSING

    async def replayed(self, converter: DataConverter, *, with_data: bool = False) -> ReplayedRun:
        """Return what happened in the run, as far as it belongs to the instance, and *with_data* its data then."""
        found, _ = _ended.get((self.run_id, with_data), (None, 0))
        if found is None:
            found = await replay(self.history, converter, with_data=with_data)
            if not self.goes_on and found.failure is None and self.size <= _MAX_REMEMBERED:
                _ended[self.run_id, with_data] = found, self.size
        return found if self.entries is None else found.up_to(self.entries)


_MAX_REMEMBERED: Final = 64 * 1024 * 1024
_ended: Final[LRUCache[tuple[str, bool], tuple[ReplayedRun, int]]] = LRUCache(_MAX_REMEMBERED, lambda one: one[1])
"""What happened in runs that had ended, by run id: their histories, of these bytes, do not change any more."""


class InstanceHistory(NamedTuple):
    """All that a server has of an instance."""

    runs: Sequence[RunHistory]
    """The runs, oldest first."""
    pending: Sequence[PendingActivityInfo] = ()
    """The calls in progress: histories do not have their failed attempts."""

    @property
    def size(self) -> int:
        """The size of its histories, in bytes."""
        return sum(one.size for one in self.runs)

    async def replayed(self, converter: DataConverter) -> list[ReplayedRun]:
        """Return what happened in its runs, in their order."""
        return [await one.replayed(converter) for one in self.runs]


class FollowedRun(NamedTuple):
    """A run, and what happened in it."""

    source: RunHistory
    replayed: ReplayedRun

    @property
    def calls(self) -> dict[str, StartedCall]:
        """The latest state of each of its calls, by the call's id."""
        return latest_of(since_task(self.source.history.events, 0).done)


@dataclass(frozen=True, slots=True)
class FollowedInstance:
    """An instance, with what happened in its latest runs."""

    row: Mapping[str, Any]
    """The instance as lists show it."""
    runs: Sequence[FollowedRun]
    """Its runs, latest last."""
    interrupted: Mapping[str, "FollowedInstance"] = field(default_factory=dict)
    """The sub-workflows in progress when it ended, by the ids of their calls."""

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def trace(self) -> list[TraceEntry]:
        """The trace of these runs together."""
        return [entry for one in self.runs for entry in one.replayed.trace]


async def runs_back(client: "Client", workflow_id: str, latest: str | None = None) -> AsyncIterator[RunHistory]:
    """Yield the runs of an instance from the *latest* to its first, as far as each belongs to it.

    Runs whose history the server no longer keeps are left out. Raises UsageError if the id is unknown.
    """
    run_id: str | None = latest or (await _described(client, workflow_id)).run_id
    entries: int | None = None
    seen = set[str]()  # the caller that starts a run may claim any run as the one before
    while run_id and run_id not in seen:
        seen.add(run_id)
        try:
            history = await client.temporal.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return
            raise not_there(error, workflow_id) from None
        run = RunHistory(run_id, history, entries)
        yield run
        run_id, entries = await _before(client, run.start)


async def history_of(client: "Client", workflow_id: str) -> InstanceHistory:
    """Return what the server has of an instance. Raises UsageError if the id is unknown."""
    described = await _described(client, workflow_id)
    runs = [one async for one in runs_back(client, workflow_id, described.run_id)]
    return InstanceHistory(runs[::-1], described.raw_description.pending_activities)


async def history_of_run(client: "Client", workflow_id: str, run_id: str) -> InstanceHistory:
    """Return what the server has of one run of an instance, whatever follows it. Raises UsageError if it is unknown."""
    handle = client.temporal.get_workflow_handle(workflow_id, run_id=run_id)
    try:
        run = RunHistory(run_id, await handle.fetch_history())
        pending = (await handle.describe()).raw_description.pending_activities if run.goes_on else ()
        return InstanceHistory([run], pending)
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def followed(
    client: "Client",
    row: Mapping[str, Any],
    is_enough: Callable[[Sequence[TraceEntry]], bool],
    latest: str | None = None,
    *,
    with_interrupted: bool = False,
) -> FollowedInstance:
    """Return what happened in the instance of *row* up to its *latest* run, optionally with interrupted sub-workflows.

    Runs are followed back to the first whose trace *is_enough*, or that this release cannot replay.
    """
    runs: list[FollowedRun] = []
    async for one in runs_back(client, row["id"], latest):
        run = FollowedRun(one, await one.replayed(client.temporal.data_converter))
        runs.insert(0, run)
        if not run.replayed.has_begun or run.replayed.failure is not None or is_enough(run.replayed.trace):
            break
    interrupted = await _interrupted(client, runs[-1], is_enough) if with_interrupted and runs else {}
    return FollowedInstance(row, runs, interrupted)


async def _interrupted(
    client: "Client", parent: FollowedRun, is_enough: Callable[[Sequence[TraceEntry]], bool]
) -> dict[str, FollowedInstance]:
    found: dict[str, FollowedInstance] = {}
    begun = {one.id for one in parent.calls.values() if one.kind == "subflow" and one.outcome != "completed"}
    for call in parent.replayed.under_way:
        for child in parent.replayed.known_as([call]) & begun:
            with suppress(InstanceNotFoundError):  # the server no longer keeps it
                row = row_of(await _described(client, child))
                found[call] = await followed(client, row, is_enough, with_interrupted=True)
    return found


class RunFacts(NamedTuple):
    """A run of an instance, as a list shows it."""

    described: WorkflowExecutionDescription
    why: str
    """The reason it began."""


async def list_runs(client: "Client", workflow_id: str, limit: int | None = None) -> AsyncIterator[RunFacts]:
    """Yield the runs of an instance, the latest first, *limit* at most, including runs that were abandoned.

    Raises UsageError if the id is unknown.
    """
    run_id: str | None = (await _described(client, workflow_id)).run_id
    seen = set[str]()
    while run_id and run_id not in seen and (limit is None or len(seen) < limit):
        seen.add(run_id)
        try:
            described = await client.temporal.get_workflow_handle(workflow_id, run_id=run_id).describe()
            start = await _start_of_run(client, workflow_id, run_id)
            before, why = await _why_begun(client, described, start.workflow_execution_started_event_attributes)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return
            raise not_there(error, workflow_id) from None
        yield RunFacts(described, why)
        run_id = before


async def first_start(client: "Client", workflow_id: str, run_id: str) -> HistoryEvent:
    """Return the start event of the instance to which a run belongs, or the earliest that the server keeps.

    Raises RPCError if the server has none.
    """
    found = await _start_of_run(client, workflow_id, run_id)
    seen = {run_id}
    while True:
        start = found.workflow_execution_started_event_attributes
        earlier, _ = await _before(client, start)
        is_renewed = bool(start.cron_schedule) or start.HasField("retry_policy")  # others have the same first run
        if start.continued_execution_run_id and earlier and not is_renewed:
            earlier = start.first_execution_run_id
        if not earlier or earlier in seen:
            return found
        seen.add(earlier)
        try:
            found = await _start_of_run(client, workflow_id, earlier)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return found
            raise


async def record_of_start(converter: DataConverter, payloads: Sequence[Payload]) -> dict[str, Any]:
    """Return the record that a run is given beside its data; empty if it is not one of ours, or unreadable."""
    try:
        [record] = await converter.decode(list(payloads[1:2]))  # the data before it may be large
    except _UNREADABLE:
        return {}
    return record if isinstance(record, dict) else {}


async def input_of_start(converter: DataConverter, payloads: Sequence[Payload]) -> JSON:
    """Return the input of an instance whose first run, or one that continues it, was given *payloads*.

    Raises ValueError, RuntimeError or PayloadUnavailable if they cannot be read.
    """
    progress = (await record_of_start(converter, payloads)).get("progress")
    if isinstance(progress, dict):
        return with_copies(progress).get("input")
    return next(iter(await converter.decode(list(payloads[:1]))), None)


async def replay_files(folder: Path) -> AsyncIterator[ReplayedRun]:
    """Yield a replay of each history in *folder*, as `temporal workflow show --output json` writes them.

    Payloads are read as configured. Raises UsageError if the folder has no histories, or a file is not one.
    """
    if not is_folder(folder):
        raise UsageError(f"{folder} is not a folder", "--histories names a folder with histories as JSON")
    files = documents_in(folder, _ENDINGS)
    if not files:
        raise UsageError(f"there is no history in {folder}", "`temporal workflow show --output json` writes one")
    converter = converter_of(PayloadSettings.read())
    for file in files:
        try:
            yield (await replay(_history_in(file), converter, goes_on=True)).without_trace()
        except (ValueError, OSError) as error:
            raise UsageError(f"{file} is not the history of a workflow: {why_unreadable(error)}") from None


async def replay_found(client: "Client", query: str, limit: int) -> AsyncIterator[ReplayedRun]:
    """Yield a replay of each run that Temporal's list filter *query* finds, *limit* at most."""
    async for found in client.temporal.list_workflows(query, limit=limit):
        [run] = (await history_of_run(client, found.id, found.run_id)).runs
        yield (await replay(run.history, client.temporal.data_converter, goes_on=True)).without_trace()


async def replay_file(file: Path) -> ReplayedRun:
    """Return a replay of the history in *file*. Raises UsageError if it has none."""
    try:
        return await replay(_history_in(file), converter_of(PayloadSettings.read()))
    except (ValueError, OSError) as error:
        raise UsageError(f"{file} is not the history of a workflow: {why_unreadable(error)}") from None


def _history_in(file: Path) -> WorkflowHistory:
    content = file.read_bytes()
    history = read_json(gzip.decompress(content) if file.suffix == ".gz" else content)
    if not isinstance(history, dict) or not isinstance(history.get("events"), list):
        raise ValueError("there are no events")  # noqa: TRY004 - it is the content of a file that is wrong
    started = history["events"][0].get("workflowExecutionStartedEventAttributes", {}) if history["events"] else {}
    name = file.name.removesuffix(".gz").removesuffix(".json")
    return WorkflowHistory.from_json(started.get("workflowId") or name, history)


async def _described(client: "Client", workflow_id: str) -> WorkflowExecutionDescription:
    try:
        return await client.temporal.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None


async def _start_of_run(client: "Client", workflow_id: str, run_id: str) -> HistoryEvent:
    handle = client.temporal.get_workflow_handle(workflow_id, run_id=run_id)
    return await anext(aiter(handle.fetch_history_events(page_size=1)))


async def _before(client: "Client", start: WorkflowExecutionStartedEventAttributes) -> tuple[str | None, int | None]:
    """Return the run that a run with this *start* continues, and how many entries of its trace belong to the instance.

    None if the run begins an instance, also by a schedule or a policy: the run before was another instance.
    """
    if start.continued_execution_run_id:
        is_own = start.initiator <= ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_WORKFLOW
        return (start.continued_execution_run_id, None) if is_own else (None, None)
    match (await record_of_start(client.temporal.data_converter, start.input.payloads)).get("again"):
        case {"run": str(run), "entries": int(entries)}:
            return run, entries
    return None, None


async def _why_begun(
    client: "Client", described: WorkflowExecutionDescription, start: WorkflowExecutionStartedEventAttributes
) -> tuple[str | None, str]:
    """Return the latest run of the instance before that of *start*, and why the latter began."""
    if start.original_execution_run_id != described.run_id:
        return await _reset_from(client, described.id, described.run_id), "reset"
    before, _ = await _before(client, start)
    if before is None:
        return None, "started"
    if start.continued_execution_run_id:
        earlier = await _start_of_run(client, described.id, before)
        kind = earlier.workflow_execution_started_event_attributes.workflow_type.name
        is_other = kind != start.workflow_type.name
        return before, f"continued as {start.workflow_type.name}" if is_other else "continued as new"
    record = await record_of_start(client.temporal.data_converter, start.input.payloads)
    match record["again"].get("wanted"):
        case {"latest": str(latest)}:
            return latest, why_again(record)
    return before, "run again"


def why_again(record: Mapping[str, Any]) -> str:
    """Return why a run began that was given *record*: it was retried or run again, or started anew."""
    match record.get("again"):
        case {"wanted": {"state": str(state), "action": str(action)}}:
            return f"run again from {state}/{action}"
        case {"wanted": {"state": str(state)}}:
            return f"run again from {state}"
        case {"wanted": {"latest": str()}}:
            return "retried"
    return "started"


async def _reset_from(client: "Client", workflow_id: str, run_id: str) -> str | None:
    history = await client.temporal.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
    for event in reversed(history.events):
        failed = event.workflow_task_failed_event_attributes
        if failed.cause == WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW:
            return failed.base_run_id
    return None
