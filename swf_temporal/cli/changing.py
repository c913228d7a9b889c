"""`swf pause`, `resume`, `cancel` and `terminate`, of one instance or of all that a list filter finds."""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.cli.instance_filters import InstanceFilters, instance_filters
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    AlsoWorkflowId,
    Namespace,
    WorkflowId,
    ask,
    list_filter,
    not_empty,
    one_id,
    spread,
)

if TYPE_CHECKING:
    from swf_temporal.operations.changing import Change, Outcome
    from swf_temporal.operations.client import Client

EXAMPLES = {
    "pause": "Example: swf pause order-42 --reason 'the shop is closed'",
    "resume": "Example: swf resume order-42",
    "cancel": "Example: swf cancel --query \"WorkflowType = 'orders'\" --dry-run",
    "terminate": "Example: swf terminate order-42 --reason 'ordered twice'",
}

_FAILED = 1

Reason = Annotated[
    str | None,
    typer.Option("--reason", metavar="TEXT", callback=not_empty, help="The reason; it is stored with the instance."),
]
Query = Annotated[
    str | None,
    list_filter("Instead of one instance, all that have not ended and match this list filter of Temporal."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="With --query or other filters: only list them.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="With --query or other filters: do not ask first.")]


class _Many(NamedTuple):
    """A list filter for instances, and whether to only list them, or to change them without asking."""

    query: str
    dry_run: bool
    yes: bool


class _Asked(NamedTuple):
    """The arguments of a command: the instances to change, the reason, and the server."""

    chosen: str | _Many
    reason: str | None
    address: str | None
    namespace: str | None


@spread("filters", instance_filters)
def _asked(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    filters: InstanceFilters,
    query: Query = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    reason: Reason = None,
    address: Address = None,
    namespace: Namespace = None,
) -> _Asked:
    """Return the arguments of a command. Its parameters are the options that all commands here have."""
    chosen = _chosen(workflow_id, also_workflow_id, filters.query(query), dry_run=dry_run, yes=yes)
    return _Asked(chosen, reason, address, namespace)


def _chosen(argument: str | None, option: str | None, query: str | None, *, dry_run: bool, yes: bool) -> str | _Many:
    """Return the chosen instances. Raises UsageError if that is ambiguous, or stdin cannot answer a confirmation."""
    if query is None:
        if dry_run or yes:
            raise UsageError(
                f"{'--dry-run' if dry_run else '--yes'} is for many instances", "leave it out for one instance"
            )
        return one_id(argument, option)
    if argument is not None or option is not None:
        raise UsageError("an instance and filters such as --query exclude each other", "give one of them")
    if not (dry_run or yes or sys.stdin.isatty()):
        hint = "give --yes, or --dry-run to see which instances they are"
        raise UsageError("it asks before it changes many instances, and stdin is not a terminal", hint)
    return _Many(query, dry_run, yes)


@spread("asked", _asked)
def pause(asked: _Asked) -> None:
    """Pause instances, which take no further step until they are resumed.

    Calls in progress finish, timers run and events are kept for them. Their sub-workflows continue.
    """
    with default_sigint():
        from swf_temporal.operations.changing import PAUSE
    _change(PAUSE, asked)


@spread("asked", _asked)
def resume(asked: _Asked) -> None:
    """Resume instances that are paused.

    They continue with the results, timers and events that arrived meanwhile.
    """
    with default_sigint():
        from swf_temporal.operations.changing import RESUME
    _change(RESUME, asked)


@spread("asked", _asked)
def cancel(asked: _Asked) -> None:
    """Cancel instances.

    They still perform the compensation that their definitions have for this case.
    """
    with default_sigint():
        from swf_temporal.operations.changing import CANCEL
    _change(CANCEL, asked)


@spread("asked", _asked)
def terminate(asked: _Asked) -> None:
    """End instances at once.

    Nothing more of their definitions is executed, and nothing is compensated; see `swf cancel` for that.
    """
    with default_sigint():
        from swf_temporal.operations.changing import TERMINATE
    _change(TERMINATE, asked)


def _change(change: "Change", asked: _Asked) -> None:
    chosen, reason, address, namespace = asked

    async def one(client: "Client", workflow_id: str) -> int:
        typer.echo(await change.of_one(client, workflow_id, reason), err=True)
        return 0

    if isinstance(chosen, str):
        ask(lambda client: one(client, chosen), address, namespace)
    else:
        # Waiting for a confirmation must not count as waiting for the server.
        waits = not (chosen.yes or chosen.dry_run)
        ask(lambda client: _change_many(client, change, chosen, reason), address, namespace, waits=waits)


async def _change_many(client: "Client", change: "Change", chosen: _Many, reason: str | None) -> int:
    from swf_temporal.base.grammar import counted, listed
    from swf_temporal.base.stopping import beside
    from swf_temporal.cli.instance_display import show_rows
    from swf_temporal.operations.changing import Outcome, change_all

    rows = await change.find(client, chosen.query)
    by_definition = Counter(str(row["definition"]) for row in rows).most_common()
    kinds = f" of {listed([f'{name} ({number:,})' for name, number in by_definition])}" if rows else ""
    typer.echo(f"{counted(len(rows), 'instance')} to {change.verb}{kinds}", err=True)
    if chosen.dry_run:
        show_rows(rows)
    if chosen.dry_run or not rows:
        return 0
    if not chosen.yes and not await beside(lambda: typer.confirm("Continue?", err=True)):
        return _FAILED
    outcome = Outcome()
    bar = typer.progressbar(length=len(rows), file=sys.stderr, hidden=not sys.stderr.isatty())
    try:
        with bar:
            runs = {row["id"]: row["runId"] for row in rows}
            await change_all(client, change, runs, reason, outcome, lambda: bar.update(1))
    finally:
        _tell(change, outcome)
    return _FAILED if outcome.failures else 0


def _tell(change: "Change", outcome: "Outcome") -> None:
    from swf_temporal.base.grammar import counted

    for error in outcome.failures.values():
        typer.echo(f"error: {error}", err=True)
    more = f"; {outcome.ended:,} had ended already" if outcome.ended else ""
    more += f"; {len(outcome.failures):,} failed" if outcome.failures else ""
    typer.echo(f"{change.made} {counted(outcome.changed, 'instance')}{more}", err=True)
