"""`swf retry` and `swf rerun` with `--query`: show the plans for many instances, and begin them.

The commands import it only for a query, so that their help is shown at once.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import typer

from swf_temporal.base.grammar import counted, listed
from swf_temporal.base.stopping import beside
from swf_temporal.cli.output import OutputFormat, in_columns, print_data
from swf_temporal.operations.changing import Outcome
from swf_temporal.operations.client import Client
from swf_temporal.operations.rerunning import Plan, Rerun
from swf_temporal.operations.rerunning_many import Found

_FAILED = 1
_HEAD = ("id", "definition", "status", "from", "again", "outside", "events")


async def go_on_all(
    client: Client, found: Found, plan: Plan, form: OutputFormat, *, drop_events: bool, dry_run: bool, yes: bool
) -> int:
    """Show the plans for the instances that were *found*, ask, continue the instances, and return the exit code."""
    with _progress(len(found.runs)) as tell:
        plans = await found.plan(client, plan, tell)
    if form is not OutputFormat.TEXT:
        print_data([one.facts() for one in plans], form)
    elif plans:
        _show(plans)
    _tell(found.planned)
    for line in _summary(plans, len(found.earlier), drop_events=drop_events):
        typer.echo(line, err=True)
    if dry_run:
        return 0
    code = _FAILED if found.planned.failures else 0
    if not plans:
        return code
    if not yes and not await beside(lambda: typer.confirm("Continue?", err=True)):
        return _FAILED
    outcome = Outcome()
    try:
        with _progress(len(plans)) as tell:
            await found.begin(client, outcome, tell, drop_events=drop_events)
    finally:
        _tell(outcome)
        failed = f"; {len(outcome.failures):,} failed" if outcome.failures else ""
        typer.echo(f"{_continued(outcome.changed)}{failed}", err=True)
    return _FAILED if outcome.failures else code


@contextmanager
def _progress(length: int) -> Iterator[Callable[[], None]]:
    """Show a bar of that length, if stderr is a terminal; yield a function that advances it by one."""
    with typer.progressbar(length=length, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        yield lambda: bar.update(1)


def _continued(number: int) -> str:
    return f"{counted(number, 'instance')} {'continues' if number == 1 else 'continue'}"


def _show(plans: Sequence[Rerun]) -> None:
    """Print a line for each instance: its place, and the numbers of repeated states, repeated calls, and events."""
    rows = [
        (
            *(one.workflow_id, one.definition, one.status, one.place_name),
            *(str(len(each)) for each in (one.again, one.done, one.events)),
        )
        for one in plans
    ]
    for line in in_columns(_HEAD, rows):
        typer.echo(line)


def _tell(outcome: Outcome) -> None:
    for error in outcome.failures.values():
        typer.echo(f"error: {error.message}", err=True)


def _summary(plans: Sequence[Rerun], earlier: int, *, drop_events: bool) -> Iterator[str]:
    by_place = Counter((one.definition, one.place_name) for one in plans).most_common()
    way = "in" if any(one.is_retry for one in plans) else "from"
    places = [f"{definition} {way} {place} ({number:,})" for (definition, place), number in by_place]
    yield f"{counted(len(plans), 'instance')} to continue{f': {listed(places)}' if places else ''}"
    if earlier:
        yield f"  left out, because an earlier run was found: {counted(earlier, 'instance')}"
    if running := sum(one.is_running for one in plans):
        yield f"  whose current run is terminated: {counted(running, 'instance')}"
    kinds = Counter("call" if done.kind == "call" else "sub-workflow" for one in plans for done in one.done)
    if kinds:
        made = listed([counted(number, kind) for kind, number in sorted(kinds.items())])
        what = "made again" if way == "in" else "made since, and again when reached"
        yield f"  {what}, with the same idempotency keys: {made}"
    if events := sum(len(one.events) for one in plans):
        became = "dropped" if drop_events else "delivered again"
        yield f"  {counted(events, 'event')} received since: {became}"
