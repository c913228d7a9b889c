"""The progress of a run, shown while it happens."""

import asyncio
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.output import OutputFormat, is_rich, print_yaml, styled
from swf_temporal.operations.client import Client, Instance, RetriedRequests
from swf_temporal.operations.instances import described, news, view_instance, with_sub_workflows
from swf_temporal.operations.listing import PAUSED, is_open
from swf_temporal.temporal.client import query

if TYPE_CHECKING:
    from rich.status import Status


_INTERVAL = 0.2
"""Seconds between two queries of a run."""


class ProgressDisplay:
    """Shows the progress of a run on stderr while it happens."""

    def __init__(self, client: Client, instance: Instance, how_to_connect: str) -> None:
        """Watch *instance*. *how_to_connect* holds the options for the server, for hints."""
        self._client = client
        self._instance = instance
        self._how_to_connect = how_to_connect
        self._last: dict[str, Any] | None = None
        self._hinted: set[str] = set()

    async def follow(self) -> None:
        """Show what happens until cancelled. On a terminal, the current state stays in the last line."""
        if not is_rich(sys.stderr):
            await self._follow(None)
        from rich.console import Console

        with Console(stderr=True, highlight=False).status("starting") as status:
            await self._follow(status)

    async def look(self) -> bool:
        """Show what has happened since the last call; return True if a worker answered."""
        try:
            trace = await query(self._client.temporal, self._instance.id, "trace")
        except UsageError:
            return False  # no worker has begun it yet, or it has ended and was deleted
        for entry in news(trace, self._last):
            self._last = entry
            line = line_of(entry, sys.stderr)
            if line is not None:
                typer.echo(line, err=True)
        return True

    async def _follow(self, status: "Status | None") -> None:
        while True:
            await self.look()
            async for workflow_id in with_sub_workflows(self._client, self._instance.id):
                await self._look_at(workflow_id, status)
            await asyncio.sleep(_INTERVAL)

    async def _look_at(self, workflow_id: str, status: "Status | None") -> None:
        try:
            found = await query(self._client.temporal, workflow_id, "status")
        except UsageError:
            return
        if status is not None and workflow_id == self._instance.id and found["state"]:
            from rich.markup import escape

            status.update(escape(found["state"]))
        for line in hints(workflow_id, found, self._how_to_connect):
            if line not in self._hinted:
                self._hinted.add(line)
                typer.echo(line, err=True)


class _Line(NamedTuple):
    """A line about a trace entry; its second part is styled."""

    before: str
    styled: str
    after: str = ""
    colour: str | None = None


_LINES = {
    "state-entered": _Line("", "{name}"),
    "action-completed": _Line("  ", "✓", " {name}", "green"),
    "action-skipped": _Line("  - {name} is skipped", ""),
    "action-retried": _Line("  ", "↻", " {name} is retried after {error}", "yellow"),
    "state-retried": _Line("  ", "↻", " {name} is retried after {error}", "yellow"),
    "action-failed": _Line("  ", "✗", " {name} failed: {error}", "red"),
    "event-taken": _Line("  ← event {name} {id}", ""),
    "event-answered": _Line("  ← answered {name}: {answer}", ""),
    "event-produced": _Line("  → event {name} {id}", ""),
    "event-given-back": _Line("  event {name} is kept for later", ""),
    "event-refused": _Line("  ", "signal not taken:", " {name}: {reason}", "yellow"),
    "event-timed-out": _Line("  ", "no event arrived:", " {name}", "yellow"),
    "data-changed": _Line("  data changed: {patch}", ""),
    "sleeping": _Line("  sleeping {duration}", ""),
    "error-caught": _Line("  ", "error caught:", " {name}: {message}", "yellow"),
    "logged": _Line("  {value}", ""),
    "metadata-set": _Line("  metadata: {value}", ""),
    "compensating": _Line("  undoing {name}", ""),
    "place-awaited": _Line("", "waits for a place:", " at most {limit} at once"),
    "workflow-timed-out": _Line("", "the workflow has timed out", "", "yellow"),
    "workflow-continued": _Line("continues as {name}", ""),
}
"""The line for each kind of trace entry that is shown."""


def line_of(entry: dict[str, Any], stream: IO[str]) -> str | None:
    """Return the line about a trace entry for people, styled for *stream*; None for an entry that is not shown."""
    line = _LINES.get(entry["kind"])
    if line is None:
        return None
    facts = {**entry["detail"], "name": entry["name"]}
    middle = styled(line.styled.format(**facts), stream, fg=line.colour, bold=line.colour is None)
    said = f": {facts['message']}" if facts.get("message") and entry["kind"] in _WITH_MESSAGE else ""
    return f"{line.before.format(**facts)}{middle}{line.after.format(**facts)}{_where(entry)}{said}"


_WITH_MESSAGE = ("action-failed", "action-retried")
"""The kinds whose message follows the name of the error."""


def _where(entry: dict[str, Any]) -> str:
    """Return on which branch or in which iteration something happened, unless its state says that."""
    lane, state = entry["lane"], entry["state"]
    if not lane or lane == state:
        return ""
    if lane.startswith("/"):  # a pointer, which the name of its task ends: its iterations are of interest
        lane = "/".join(part for part in lane.split("/") if part.endswith("]"))
    return f" ({lane})" if lane else ""


def hints(workflow_id: str, status: dict[str, Any], how_to_connect: str) -> Iterator[str]:
    """Yield, for each event that an instance waits for, its description and the command that sends it."""
    for wait in status["awaiting"]:
        until = f" until {wait['until']}" if "until" in wait else ""
        for event in wait["events"]:
            command = ["swf", "event", workflow_id, "--name", event["name"], "--data", "{}"]
            kind = "" if event["type"] in (None, event["name"]) else f" of type {event['type']!r}"
            yield (
                f"  {wait['state']} waits for event {event['name']!r}{kind}{until}; to send it:\n"
                f"    {shlex.join(command)}{how_to_connect}"
            )


_TRACE_INTERVAL = 0.3
"""Seconds between two queries of an instance's trace."""


async def show_trace(client: Client, workflow_id: str, form: OutputFormat, connecting: str, *, follow: bool) -> int:
    """Print the trace of an instance and, if *follow* is set, new entries until it ends.

    *connecting* holds the options for the server, for hints.
    """
    retried, looking = RetriedRequests(client, workflow_id, connecting), partial(view_instance, client, workflow_id)
    pausing = partial(described, client, workflow_id)
    last: dict[str, Any] | None = None
    has_printed = is_paused = False
    while True:
        if is_paused and (await retried(pausing))["status"] == PAUSED:  # its history would be read again
            await asyncio.sleep(_TRACE_INTERVAL)
            continue
        status, trace = await (retried(looking) if follow else looking())
        is_running = is_open(status)
        if isinstance(trace, UsageError):
            if not (follow and is_running):
                raise trace
            if not has_printed:
                typer.echo("no worker is currently responding", err=True)
            has_printed, trace = True, []
        for entry in news(trace, last):
            _tell(entry, form)
            last = entry
        if not (follow and is_running):
            if not is_running:
                typer.echo(f"{workflow_id}: {status}", err=True)
            return 0
        is_paused = status == PAUSED
        if is_paused:
            typer.echo("it is paused", err=True)
        await asyncio.sleep(_TRACE_INTERVAL)


def _tell(entry: dict[str, Any], form: OutputFormat) -> None:
    if form is OutputFormat.JSON:
        typer.echo(show_json(entry))
    elif form is OutputFormat.YAML:
        typer.echo("---")
        print_yaml(entry)
    else:
        line = line_of(entry, sys.stdout)
        if line is not None:
            at = entry["at"][: len("2030-01-01T00:00:00")]
            typer.echo(f"{at}  {line}")
    sys.stdout.flush()
