"""`swf retry` and `swf rerun`, of one instance or of all that a list filter finds."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.cli.instance_filters import InstanceFilters, instance_filters
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    AlsoWorkflowId,
    Namespace,
    Output,
    WorkflowId,
    ask,
    list_filter,
    not_empty,
    one_id,
    spread,
)
from swf_temporal.cli.output import OutputFormat, print_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swf_temporal.operations.client import Client
    from swf_temporal.operations.rerunning import Plan, Rerun

EXAMPLES = {
    "retry": "Example: swf retry --query \"WorkflowType = 'orders'\" --dry-run",
    "rerun": "Example: swf rerun order-42 --from Charge --dry-run",
}

RetryQuery = Annotated[
    str | None,
    list_filter("Instead of one instance, all that have failed and match this list filter of Temporal."),
]
RerunQuery = Annotated[
    str | None,
    list_filter("Instead of one instance, all that match this list filter of Temporal."),
]
DropEvents = Annotated[bool, typer.Option("--drop-events", help="Do not redeliver the events received since then.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]


@spread("filters", instance_filters)
def retry(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    filters: InstanceFilters,
    query: RetryQuery = None,
    drop_events: DropEvents = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Continue failed instances from the point of failure.

    Completed work is not repeated, even within a state. Shows which calls are made again, with the idempotency keys
    that they had, and asks first. An instance that was terminated or timed out counts as failed.
    """
    chosen = _chosen(workflow_id, also_workflow_id, filters.query(query), dry_run=dry_run, yes=yes)
    with default_sigint():
        from swf_temporal.operations.rerunning import RETRIED, plan_retry

    how = _How(form, drop_events, dry_run, yes)
    _go_on(plan_retry, chosen, how, address, namespace, statuses=RETRIED)


@spread("filters", instance_filters)
def rerun(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    filters: InstanceFilters,
    query: RerunQuery = None,
    from_state: Annotated[
        str,
        typer.Option("--from", metavar="STATE", callback=not_empty, help="The state, or the task, to run again from."),
    ],
    action: Annotated[
        str | None,
        typer.Option("--action", metavar="NAME", callback=not_empty, help="Begin with this action of the state."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="PATCH", help="Change the data with which it enters the state: JSON, @FILE, or -."
        ),
    ] = None,
    drop_events: DropEvents = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Run instances again from a state that they entered before, whether they run or have ended.

    Shows what is done again, and which calls were made since, and asks first: they keep their idempotency keys. An
    instance has the data that it had there, changed by --data, a JSON merge patch. If it was there several times, the
    last one counts. If it runs, that run is terminated.
    """
    chosen = _chosen(workflow_id, also_workflow_id, filters.query(query), dry_run=dry_run, yes=yes)
    with default_sigint():
        from swf_temporal.cli.arguments import json_value
        from swf_temporal.operations.rerunning import plan_rerun
    patch = json_value(data, "--data")

    async def plan(client: "Client", instance: str) -> "Rerun":
        return await plan_rerun(client, instance, from_state, action, patch)

    _go_on(plan, chosen, _How(form, drop_events, dry_run, yes), address, namespace)


class _Many(NamedTuple):
    """A list filter for instances."""

    query: str


class _How(NamedTuple):
    """The output format, and whether to drop events, to only show the plan, and to skip the confirmation."""

    form: OutputFormat
    drop_events: bool
    dry_run: bool
    yes: bool


def _chosen(argument: str | None, option: str | None, query: str | None, *, dry_run: bool, yes: bool) -> "str | _Many":
    """Return the chosen instances. Raises UsageError if that is ambiguous, or stdin cannot answer a confirmation."""
    if query is not None and (argument is not None or option is not None):
        raise UsageError("an instance and filters such as --query exclude each other", "give one of them")
    chosen = one_id(argument, option) if query is None else _Many(query)
    if not (dry_run or yes or sys.stdin.isatty()):
        hint = "give --yes, or --dry-run to see what it would do"
        raise UsageError("it asks before it does something again, and stdin is not a terminal", hint)
    return chosen


def _go_on(
    plan: "Plan",
    chosen: "str | _Many",
    how: _How,
    address: str | None,
    namespace: str | None,
    *,
    statuses: Sequence[str] = (),
) -> None:
    async def many(client: "Client", query: str) -> int:
        from swf_temporal.cli.rerun_many import go_on_all
        from swf_temporal.operations.rerunning_many import find

        found = await find(client, query, statuses)
        return await go_on_all(
            client, found, plan, how.form, drop_events=how.drop_events, dry_run=how.dry_run, yes=how.yes
        )

    async def request(client: "Client") -> int:
        return await (_one(client, plan, chosen, how) if isinstance(chosen, str) else many(client, chosen.query))

    # Waiting for a confirmation must not count as waiting for the server.
    ask(request, address, namespace, waits=not (how.yes or how.dry_run))


async def _one(client: "Client", plan: "Plan", workflow_id: str, how: _How) -> int:
    from swf_temporal.base.stopping import beside

    found = await plan(client, workflow_id)
    if how.form is OutputFormat.TEXT:
        for line in _lines(found, drop_events=how.drop_events):
            typer.echo(line)
    else:
        print_data(found.facts(), how.form)
    if how.dry_run:
        return 0
    if not how.yes and not await beside(lambda: typer.confirm("Continue?", err=True)):
        return 1
    await found.begin(client, drop_events=how.drop_events)
    typer.echo(f"{found.workflow_id} continues {'in' if found.is_retry else 'from'} {found.place_name}", err=True)
    return 0


def _lines(found: "Rerun", *, drop_events: bool) -> "Iterator[str]":
    from swf_temporal.base.grammar import counted
    from swf_temporal.base.strict_json import show_json

    yield f"{found.workflow_id}: {found.definition}, {found.status}"
    last = f", the last of {found.times} times" if found.times > 1 else ""
    at = found.entered.isoformat(timespec="seconds")
    yield f"  continues {'in' if found.is_retry else 'from'} {found.place_name}, reached at {at}{last}"
    if found.is_running:
        yield "  its current run is terminated"
    if found.wanted.patch is not None:
        yield f"  with changed data: {show_json(found.wanted.patch)}"
    if not found.is_retry:
        yield f"  done again: {', '.join(found.again)}"
    if found.done:
        what = "made again" if found.is_retry else "made since, and again when reached"
        yield f"  {what}, with the same idempotency keys:"
    for one in found.done:
        yield f"    {'calls' if one.kind == 'call' else 'runs'} {one.name} ({one.id}), {one.outcome}"
    if found.events:
        became = "dropped" if drop_events else "delivered again"
        yield f"  {counted(len(found.events), 'event')} received since: {became}"
