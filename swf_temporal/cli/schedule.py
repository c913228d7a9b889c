"""`swf schedule`: have definitions started by the server when their schedules say so."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from temporalio.client import Client

from swf_temporal.calendars.previewing import preview as times_of
from swf_temporal.calendars.unreadable import Unreadable
from swf_temporal.calendars.zones import in_zone, parse_time, zone_of
from swf_temporal.cli.arguments import json_value
from swf_temporal.cli.definitions import files_in, with_sub_workflows
from swf_temporal.cli.options import Address, AsJson, Definitions, Input, Namespace, TaskQueue
from swf_temporal.cli.output import print_json
from swf_temporal.cli.schedule_display import facts_of, row_of, show_facts, show_rows
from swf_temporal.cli.serving import quiet_client
from swf_temporal.cli.stopping import run_until_stopped
from swf_temporal.errors import UsageError
from swf_temporal.interpreter.scheduling import spec_of
from swf_temporal.loading import load
from swf_temporal.model.workflow import Workflow
from swf_temporal.temporal import schedules
from swf_temporal.temporal.worker import TASK_QUEUE

EXAMPLES = {
    "schedule": "Example: swf schedule apply orders.yaml",
    "apply": "Example: swf schedule apply workflows/ --paused",
    "list": "Example: swf schedule list --json",
    "show": "Example: swf schedule show orders",
    "pause": "Example: swf schedule pause orders --note 'until the audit is over'",
    "resume": "Example: swf schedule resume orders",
    "trigger": "Example: swf schedule trigger orders",
    "delete": "Example: swf schedule delete orders",
    "preview": "Example: swf schedule preview orders.yaml -n 5 --from 2030-01-01",
}

DefinitionId = Annotated[str, typer.Argument(metavar="ID", help="The id of the definition.")]
Note = Annotated[str | None, typer.Option("--note", help="Why: it is kept with the schedule.")]


def schedule() -> None:
    """Have the server start instances when definitions say so."""


def apply(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Definitions with a schedule, and folders of them.")
    ],
    *,
    input_: Input = None,
    definitions: Definitions = None,
    task_queue: TaskQueue = TASK_QUEUE,
    paused: Annotated[bool, typer.Option("--paused", help="Leave schedules that are new paused.")] = False,
    as_json: AsJson = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Make the schedules of definitions, or change those that there are.

    Instances run the text that the file has now, until it is applied again. What was paused stays so.
    """
    data = json_value(input_, "--input")
    families = [with_sub_workflows(workflow, file, definitions or ()) for workflow, file in _read(files)]

    async def work() -> int:
        client = await quiet_client(address, namespace)
        rows = []
        for first, *others in families:
            applied = await schedules.apply(client, first, others, data=data, task_queue=task_queue, paused=paused)
            rows.append(row_of(first, applied))
        if as_json:
            print_json(rows)
        else:
            show_rows(rows, ("definition", "outcome", "next"))
        return 0

    run_until_stopped(work())


def list_(as_json: AsJson = False, address: Address = None, namespace: Namespace = None) -> None:
    """List the schedules on the server."""

    async def work() -> int:
        client = await quiet_client(address, namespace)
        rows = [await facts_of(one) async for one in schedules.list_all(client)]
        rows.sort(key=lambda row: str(row["definition"]))
        if as_json:
            print_json(rows)
        else:
            show_rows(rows, ("definition", "paused", "next", "note"))
        return 0

    run_until_stopped(work())


def show(
    definition_id: DefinitionId, as_json: AsJson = False, address: Address = None, namespace: Namespace = None
) -> None:
    """Show when a definition is started next, what was started, and from which text."""

    async def work() -> int:
        client = await quiet_client(address, namespace)
        facts = await facts_of(await schedules.describe(client, definition_id))
        if as_json:
            print_json(facts)
        else:
            show_facts(facts)
        return 0

    run_until_stopped(work())


def pause(definition_id: DefinitionId, note: Note = None, address: Address = None, namespace: Namespace = None) -> None:
    """Start nothing until the schedule is resumed."""
    said = f"paused the schedule of {definition_id}"
    _do(lambda client: schedules.pause(client, definition_id, note), said, address, namespace)


def resume(
    definition_id: DefinitionId, note: Note = None, address: Address = None, namespace: Namespace = None
) -> None:
    """Go on after a pause. What was missed is not made up for."""
    said = f"resumed the schedule of {definition_id}"
    _do(lambda client: schedules.resume(client, definition_id, note), said, address, namespace)


def trigger(definition_id: DefinitionId, address: Address = None, namespace: Namespace = None) -> None:
    """Start an instance now, whether or not the schedule is paused."""
    said = f"asked for an instance: see `swf list --definition {definition_id}`"
    _do(lambda client: schedules.trigger(client, definition_id), said, address, namespace)


def delete(definition_id: DefinitionId, address: Address = None, namespace: Namespace = None) -> None:
    """Delete a schedule. Instances that it started go on."""
    said = f"deleted the schedule of {definition_id}"
    _do(lambda client: schedules.delete(client, definition_id), said, address, namespace)


def preview(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A definition with a schedule.")],
    count: Annotated[int, typer.Option("--number", "-n", min=1, help="How many times to show.")] = 10,
    after: Annotated[str | None, typer.Option("--from", help="The time to begin after; now, if not given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show when the server would start instances, without asking it.

    Times are shown as the clocks of the schedule's timezone show them, with the offset from UTC.
    """
    workflow = load(file)
    spec = spec_of(workflow)
    timing = workflow.start.schedule
    zone = zone_of((timing and timing.timezone) or spec.timezone)
    try:
        begin = datetime.now(UTC) if after is None else in_zone(parse_time(after), zone)
    except Unreadable as error:
        raise UsageError(f"--from: {error.message}", error.hint) from None
    times = [time.astimezone(zone).isoformat() for time in times_of(spec, begin, count)]
    if as_json:
        print_json(times)
    else:
        typer.echo("".join(f"{time}\n" for time in times), nl=False)
    if not times:
        typer.echo(f"it starts nothing after {begin.isoformat(timespec='seconds')}", err=True)


def _do(request: Callable[[Client], Awaitable[None]], said: str, address: str | None, namespace: str | None) -> None:
    async def work() -> int:
        await request(await quiet_client(address, namespace))
        typer.echo(said, err=True)
        return 0

    run_until_stopped(work())


def _read(paths: Iterable[Path]) -> list[tuple[Workflow, Path]]:
    """Return the definitions with a schedule that *paths* name, each with its file; a folder may have others, too.

    All are read before anything is changed. Raises UsageError where a file has none, or two are of the same id.
    """
    found: list[tuple[Workflow, Path]] = []
    for path in paths:
        inside = [(load(file), file) for file in (files_in(path) if path.is_dir() else [path])]
        scheduled = [one for one in inside if not path.is_dir() or one[0].start.schedule is not None]
        if not scheduled:
            raise UsageError(f"no definition in {path} has a schedule", "it is written under start: schedule:")
        found += scheduled
    by_id: dict[str, Path] = {}
    for workflow, file in found:
        spec_of(workflow)
        if workflow.id in by_id:
            raise UsageError(f"{by_id[workflow.id]} and {file} both define {workflow.id!r}, which has one schedule")
        by_id[workflow.id] = file
    return found


def _group() -> typer.Typer:
    plain: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}
    group = typer.Typer(name="schedule", epilog=EXAMPLES["schedule"], no_args_is_help=True, **plain)
    group.callback()(schedule)
    for command in (apply, list_, show, pause, resume, trigger, delete, preview):
        name = command.__name__.rstrip("_")
        group.command(name=name, epilog=EXAMPLES[name])(command)
    return group


GROUP = _group()
