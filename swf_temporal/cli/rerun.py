"""`swf retry` and `swf rerun`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from swf_temporal.cli.asking import ask
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Address, AlsoWorkflowId, Namespace, Output, WorkflowId, not_empty, one_id
from swf_temporal.cli.output import OutputFormat, print_data
from swf_temporal.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from swf_temporal.app.client import Client
    from swf_temporal.app.rerunning import Rerun

EXAMPLES = {
    "retry": "Example: swf retry order-42 --yes",
    "rerun": "Example: swf rerun order-42 --from Charge --dry-run",
}

DropEvents = Annotated[
    bool, typer.Option("--drop-events", help="Do not give it the events again that have come since.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]


def retry(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    drop_events: DropEvents = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Let an instance that failed go on from the beginning of the state that it was in.

    Shows what is done again, and what was done outside and is not undone, and asks first. It has the data that it had
    there. An instance that was terminated or timed out counts as failed.
    """
    chosen = one_id(workflow_id, also_workflow_id)
    with default_sigint():
        from swf_temporal.app.rerunning import plan_retry

    def plan(client: "Client") -> "Awaitable[Rerun]":
        return plan_retry(client, chosen)

    _go_on(plan, form, address, namespace, drop_events=drop_events, dry_run=dry_run, yes=yes)


def rerun(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    state: Annotated[
        str, typer.Option("--from", metavar="STATE", callback=not_empty, help="The state from which it goes on.")
    ],
    action: Annotated[
        str | None,
        typer.Option("--action", metavar="NAME", callback=not_empty, help="Go on from this action of the state."),
    ] = None,
    drop_events: DropEvents = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Let an instance go on from the beginning of a state where it has been, whether it runs or has ended.

    Shows what is done again, and what was done outside and is not undone, and asks first. It has the data that it had
    there. If it was there several times, it goes on from the last. If it runs, that run is terminated.
    """
    chosen = one_id(workflow_id, also_workflow_id)
    with default_sigint():
        from swf_temporal.app.rerunning import plan_rerun

    def plan(client: "Client") -> "Awaitable[Rerun]":
        return plan_rerun(client, chosen, state, action)

    _go_on(plan, form, address, namespace, drop_events=drop_events, dry_run=dry_run, yes=yes)


def _go_on(
    plan: "Callable[[Client], Awaitable[Rerun]]",
    form: OutputFormat,
    address: str | None,
    namespace: str | None,
    *,
    drop_events: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    if not (dry_run or yes or sys.stdin.isatty()):
        hint = "give --yes, or --dry-run to see what it would do"
        raise UsageError("it asks before it does something again, and stdin is no terminal", hint)

    from swf_temporal.app.stopping import beside

    async def request(client: "Client") -> int:
        found = await plan(client)
        if form is OutputFormat.TEXT:
            for line in _lines(found, drop_events=drop_events):
                typer.echo(line)
        else:
            print_data(found.facts(), form)
        if dry_run:
            return 0
        if not yes and not await beside(lambda: typer.confirm("Go on?", err=True)):
            return 1
        await found.begin(client, drop_events=drop_events)
        typer.echo(f"{found.workflow_id} goes on from {_place(found)}", err=True)
        return 0

    # A person who is asked takes the time that it takes.
    ask(request, address, namespace, waits=not (yes or dry_run))


def _place(found: "Rerun") -> str:
    return found.state if found.action is None else f"{found.state}/{found.action}"


def _lines(found: "Rerun", *, drop_events: bool) -> "Iterator[str]":
    from swf_temporal.grammar import counted

    yield f"{found.workflow_id}: {found.definition}, {found.status}"
    last = f", the last of {found.times} times" if found.times > 1 else ""
    yield f"  goes on from {_place(found)}, where it came at {found.entered.isoformat(timespec='seconds')}{last}"
    if found.is_running:
        yield "  its present run is terminated"
    yield f"  done again: {', '.join(found.again)}"
    if found.done:
        yield "  was done outside since, and is not undone:"
    for one in found.done:
        yield f"    {'calls' if one.kind == 'call' else 'runs'} {one.name} ({one.id}), {one.outcome}"
    if found.events:
        became = "dropped" if drop_events else "given to it again"
        yield f"  {counted(len(found.events), 'event')} that came since: {became}"
    for timer in found.overdue:
        yield f"  is due at once: {timer}"
