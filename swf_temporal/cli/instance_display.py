"""The commands `swf status`, `list` and `result`."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import typer

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.output import OutputFormat, in_columns, print_data
from swf_temporal.cli.progress import hints, line_of
from swf_temporal.cli.recent_instances import remember
from swf_temporal.operations.client import Client, RetriedRequests
from swf_temporal.operations.instances import execution_of, facts_of
from swf_temporal.operations.listing import is_open, listed
from swf_temporal.temporal.place_records import in_words

_USUAL = ("started", "event", "paused", "resumed", "terminated")
"""Changes that belong to the course of any instance, or that its status has: they are shown with the trace alone."""
_ALL = 200
"""A list of this length counts as complete for completion on the command line."""


@dataclass(frozen=True, slots=True)
class InstanceDisplay:
    """The options for the server, and for the format in which instances are shown."""

    form: OutputFormat
    address: str | None
    namespace: str | None

    async def at_one(self, client: Client, workflow_id: str, *, with_trace: bool) -> int:
        """Show the state of an instance."""
        facts = await facts_of(client, workflow_id, with_trace=with_trace)
        from swf_temporal.operations.audit import audit_trail

        trail = await audit_trail(client, await execution_of(client, workflow_id))
        if changes := [one.facts() for one in trail.entries if with_trace or one.what not in _USUAL]:
            facts["changes"] = changes
        remember([(facts["id"], facts["definition"])], self.address, self.namespace)
        if self.form is OutputFormat.TEXT:
            _show(facts, how_to_connect(self.address, self.namespace))
        else:
            print_data(facts, self.form)
        return 0

    async def at_many(self, client: Client, wanted: str, limit: int, *, is_all: bool) -> int:
        """Show a line for each of the latest instances that match the filter *wanted*, and how many more there are.

        *is_all* says that the filter matches all instances.
        """
        rows, more = await listed(client, wanted, limit)
        is_complete = is_all and (len(rows) < limit or limit >= _ALL)
        seen = [(row["id"], row["definition"]) for row in rows]
        remember(seen, self.address, self.namespace, all_of_them=is_complete)
        if self.form is OutputFormat.TEXT:
            show_rows(rows)
        else:
            print_data(rows, self.form)
        if more:
            typer.echo(f"{more} more: --limit {limit + more} shows all", err=True)
        return 0


async def show_result(client: Client, workflow_id: str, form: OutputFormat, connecting: str) -> int:
    """Print the output of an instance once it has ended. *connecting* holds the options for the server, for hints."""
    try:
        print_data(await RetriedRequests(client, workflow_id, connecting)(client.instance(workflow_id).result), form)
    except RunEnded as ended:
        typer.echo(f"error: {ended}", err=True)
        return 1
    return 0


def show_rows(rows: Sequence[dict[str, Any]]) -> None:
    """Print a table of instances."""
    head = ["id", "definition", "status", "started"]
    known = [name for name in _IF_KNOWN if any(name in row for row in rows)]
    head[3:3] = known
    for line in in_columns(head, [[_cell(row.get(name)) for name in head] for row in rows]):
        typer.echo(line)


_IF_KNOWN: Final = ("state", "waitsFor", "since", "errorName")
"""Facts of instances that are known if their workers set search attributes."""


def _cell(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def how_to_connect(address: str | None, namespace: str | None) -> str:
    """Return the options that another command needs to find the same server."""
    options = (("--address", address), ("--namespace", namespace))
    return "".join(f" {option} {value}" for option, value in options if value)


def _show(facts: dict[str, Any], connecting: str) -> None:
    typer.echo(f"{facts['id']}: {facts['definition']}, {facts['status']}")
    for line in (facts.get("reason") or "").splitlines():
        typer.echo(f"  {line}")
    if "paused" in facts:
        typer.echo(f" {_paused(facts)}")
    if facts.get("state") and is_open(facts["status"]):
        typer.echo(f"  in {facts.get('stateWord', 'state')} {facts['state']}")
        for line in hints(facts["id"], facts, connecting):
            typer.echo(line)
    for line in (*_labels(facts), *_places(facts), *_under_way(facts)):
        typer.echo(line)
    for one in facts.get("changes", ()):
        why = f": {one['detail']}" if "detail" in one else ""
        typer.echo(f"  {one['what']} at {one['at']} by {one.get('by', 'the server')}{why}")
    if "note" in facts:
        typer.echo(f"  {facts['note']}")
    for entry in facts.get("trace", ()):
        line = line_of(entry, sys.stdout)
        if line is not None:
            typer.echo(line)


def _labels(facts: dict[str, Any]) -> Iterator[str]:
    """Yield a line for its business key, and one for the metadata of its definition."""
    if "businessKey" in facts:
        yield f"  business key: {facts['businessKey']}"
    if "metadata" in facts:
        yield f"  metadata: {show_json(facts['metadata'])}"


def _paused(facts: dict[str, Any]) -> str:
    pause = facts["paused"]
    by, why = (f" by {pause['by']}" if "by" in pause else ""), (f": {pause['reason']}" if "reason" in pause else "")
    return f" paused at {pause['at']}{by}{why}"


def _places(facts: dict[str, Any]) -> Iterator[str]:
    """Yield a line if an instance waits for a place; for one that gives places, lines for their holders and waiters."""
    if "awaitedPlace" in facts:
        yield f"  waits for a place: {in_words(facts['definition'], facts['awaitedPlace'])}"
        yield f"  places are given by: {facts['awaitedPlace']['givenBy']}"
    if "places" in facts:
        places = facts["places"]
        if "limit" in places:
            yield f"  {in_words(places['definition'], places)}"
        yield from (f"  has a place: {instance}" for instance in places["held"])
        yield from (f"  waits: {instance}" for instance in places["waiting"])


def _under_way(facts: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each call that has no result yet, and each sub-workflow that runs."""
    for call in facts.get("calls", ()):
        then = f" at {call['next']}" if "next" in call else ""
        after = f", after {call['lastFailure']}" if "lastFailure" in call else ""
        pause = f",{_paused(call)}" if "paused" in call else ""
        how = "locally" if "local" in call else f"attempt {call['attempt']}"
        yield f"  calls {call['function']} ({call['id']}), {how}{then}{pause}{after}"
    for workflow_id in facts.get("subflows", ()):
        yield f"  runs {workflow_id}"
