"""What does somebody see who watches a run?"""

import asyncio
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from temporalio.client import Client
from temporalio.service import RPCError

from swf_temporal.errors import UsageError
from swf_temporal.interpreter.host import Happening
from swf_temporal.temporal.client import Handle, query

_INTERVAL = 0.2
"""Seconds between two looks at a run."""


class Watch:
    """Tells on stderr what happens in a run, as it happens."""

    def __init__(self, client: Client, handle: Handle, how_to_connect: str) -> None:
        """Watch the run of *handle*. *how_to_connect* is what a command on another terminal has to be given."""
        self._client = client
        self._handle = handle
        self._how_to_connect = how_to_connect
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._last: dict[str, Any] | None = None
        self._hinted: set[str] = set()

    async def follow(self) -> None:
        """Tell what happens until cancelled. On a terminal the state that runs now stays in the last line."""
        if not sys.stderr.isatty():
            await self._follow(None)
        with self._console.status("starting") as status:
            await self._follow(status)

    async def look(self) -> None:
        """Tell what has happened since the last look."""
        try:
            trace = await query(self._client, self._handle.id, "trace")
        except UsageError:
            return  # no worker has begun with it yet, or it has ended and is gone
        for entry in self._news(trace):
            line = line_of(entry)
            if line:
                self._console.print(line)

    async def _follow(self, status: Status | None) -> None:
        while True:
            await self.look()
            for instance in await family(self._client, self._handle.id):
                await self._look_at(instance, status)
            await asyncio.sleep(_INTERVAL)

    async def _look_at(self, workflow_id: str, status: Status | None) -> None:
        try:
            found = await query(self._client, workflow_id, "status")
        except UsageError:
            return
        if status is not None and workflow_id == self._handle.id and found["state"]:
            status.update(escape(found["state"]))
        for line in hints(workflow_id, found, self._how_to_connect):
            if line not in self._hinted:
                self._hinted.add(line)
                self._console.print(escape(line))

    def _news(self, trace: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the entries that are new. A run that continues as new begins its trace again."""
        start = next((i + 1 for i in reversed(range(len(trace))) if trace[i] == self._last), 0)
        if trace:
            self._last = trace[-1]
        return trace[start:]


_LINES = {
    Happening.STATE_ENTERED: "[bold]{name}[/]",
    Happening.ACTION_COMPLETED: "  [green]✓[/] {name}",
    Happening.ACTION_SKIPPED: "  - {name} is skipped",
    Happening.ACTION_RETRIED: "  [yellow]↻[/] {name} is tried again after {error}",
    Happening.EVENT_TAKEN: "  ← event {name}",
    Happening.EVENT_PRODUCED: "  → event {name}",
    Happening.EVENT_TIMED_OUT: "  [yellow]no event came:[/] {name}",
    Happening.SLEEPING: "  sleeping {duration}",
    Happening.ERROR_CAUGHT: "  [yellow]error caught:[/] {name}: {message}",
    Happening.COMPENSATING: "  undoing {name}",
    Happening.WORKFLOW_CONTINUED: "continues as {name}",
}
"""What is said of each kind of happening, in rich's markup; of the others nothing need be said."""


def line_of(entry: dict[str, Any]) -> str | None:
    """Return what a person reads of an entry of the trace, in rich's markup; None for what need not be said."""
    if entry["kind"] not in _LINES:
        return None
    facts = {**entry["detail"], "name": entry["name"]}
    return _LINES[Happening(entry["kind"])].format(**{key: escape(str(value)) for key, value in facts.items()})


def hints(workflow_id: str, status: dict[str, Any], how_to_connect: str) -> Iterator[str]:
    """Yield, for each event that an instance waits for, what it is and the command that sends it."""
    for wait in status["awaiting"]:
        until = f" until {wait['until']}" if "until" in wait else ""
        for event in wait["events"]:
            command = ["swf", "event", workflow_id, "--name", event["name"], "--data", "{}"]
            yield (
                f"  {wait['state']} waits for event {event['name']!r} of type {event['type']!r}{until}; to send it:\n"
                f"    {shlex.join(command)}{how_to_connect}"
            )


async def family(client: Client, workflow_id: str) -> list[str]:
    """Return the ids of an instance and of its sub-workflows that are running, their own included."""
    found = [workflow_id]
    for member in found:
        try:
            description = await client.get_workflow_handle(member).describe()
        except RPCError:
            continue  # it has just ended
        found += [child.workflow_id for child in description.raw_description.pending_children]
    return found
