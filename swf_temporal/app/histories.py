"""Histories of instances, from files and from a server, and whether this release goes on with them."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.app.client import Client
from swf_temporal.errors import UsageError
from swf_temporal.files import is_folder, why_unreadable
from swf_temporal.loading import documents_in
from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.strict_json import read_json
from swf_temporal.temporal.begun_again import before_it_went_on
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.replaying import Replayed, Retraced, cut, replay, retrace

_ENDINGS = (".json", ".json.gz")


async def replay_files(folder: Path) -> AsyncIterator[Replayed]:
    """Yield what is to be said of each history in *folder*, as `temporal workflow show --output json` writes them.

    Payloads are read as the configuration says. Raises UsageError for what is not there, or is not a history.
    """
    if not is_folder(folder):
        raise UsageError(f"{folder} is not a folder", "--histories names a folder with histories as JSON")
    files = documents_in(folder, _ENDINGS)
    if not files:
        raise UsageError(f"there is no history in {folder}", "`temporal workflow show --output json` writes one")
    converter = converter_of(PayloadSettings.read())
    for file in files:
        try:
            yield await replay(_history_in(file), converter)
        except (ValueError, OSError) as error:
            raise UsageError(f"{file} is not the history of a workflow: {why_unreadable(error)}") from None


async def replay_found(client: Client, query: str, limit: int) -> AsyncIterator[Replayed]:
    """Yield what is to be said of each instance that Temporal's list filter *query* finds, *limit* at most."""
    async for found in client.temporal.list_workflows(query, limit=limit):
        handle = client.temporal.get_workflow_handle(found.id, run_id=found.run_id)
        try:
            history = await handle.fetch_history()
        except RPCError as error:
            raise not_there(error, found.id) from None
        yield await replay(history, converter_used_by(client))


async def retrace_file(file: Path) -> list[Retraced]:
    """Return what happened in the execution whose history *file* has. Raises UsageError if it has none."""
    try:
        return [await retrace(_history_in(file), converter_of(PayloadSettings.read()))]
    except (ValueError, OSError) as error:
        raise UsageError(f"{file} is not the history of a workflow: {why_unreadable(error)}") from None


class Execution(NamedTuple):
    """The history of one of the executions of an instance."""

    run_id: str
    history: WorkflowHistory
    entries: int | None = None
    """How many entries of its trace belong to the instance, where it goes on from these in the next execution."""

    async def retraced(self, converter: DataConverter) -> Retraced:
        """Return what happened in it, as far as that belongs to the instance."""
        found = await retrace(self.history, converter)
        return found if self.entries is None else cut(found, self.entries)


async def executions_of(client: Client, workflow_id: str, latest: str | None = None) -> AsyncIterator[Execution]:
    """Yield the executions of an instance, each with its history, from the *latest* to the one with which it began.

    Each follows from the one before: it has continued as new, or a person has let the instance go on from there. Those
    whose history the server does not keep any longer are left out. Raises UsageError if the id is unknown.
    """
    run_id = latest
    try:
        run_id = run_id or (await client.temporal.get_workflow_handle(workflow_id).describe()).run_id
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    entries: int | None = None
    while run_id:
        try:
            history = await client.temporal.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return
            raise not_there(error, workflow_id) from None
        yield Execution(run_id, history, entries)
        started = history.events[0].workflow_execution_started_event_attributes
        run_id, entries = started.continued_execution_run_id, None
        if not run_id:
            run_id, entries = await before_it_went_on(client.temporal.data_converter, started.input.payloads)


def converter_used_by(client: Client) -> DataConverter:
    """Return what reads the payloads of the server's instances."""
    return client.temporal.data_converter


def _history_in(file: Path) -> WorkflowHistory:
    content = file.read_bytes()
    history = read_json(gzip.decompress(content) if file.suffix == ".gz" else content)
    if not isinstance(history, dict) or not isinstance(history.get("events"), list):
        raise ValueError("there are no events")  # noqa: TRY004 - it is the content of a file that is wrong
    started = history["events"][0].get("workflowExecutionStartedEventAttributes", {}) if history["events"] else {}
    name = file.name.removesuffix(".gz").removesuffix(".json")
    return WorkflowHistory.from_json(started.get("workflowId") or name, history)
