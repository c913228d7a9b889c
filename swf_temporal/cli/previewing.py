"""`swf schedule preview`: when the server would start instances of a definition."""

from datetime import UTC, datetime
from pathlib import Path

import typer

from swf_temporal.app.definitions import load_given
from swf_temporal.calendars.moments import Unreadable, in_zone, parse_time, zone_of
from swf_temporal.calendars.previewing import preview
from swf_temporal.cli.output import Form, print_data
from swf_temporal.errors import UsageError


def show_times(file: Path, count: int, after: str | None, form: Form) -> None:
    """Show the next *count* times after *after*, or after now. Raises UsageError."""
    workflow = load_given(file)
    spec = workflow.schedule()
    zone = zone_of(workflow.schedule_timezone or spec.timezone)
    try:
        begin = datetime.now(UTC) if after is None else in_zone(parse_time(after), zone)
    except Unreadable as error:
        raise UsageError(f"--from: {error.message}", error.hint) from None
    times = [time.astimezone(zone).isoformat() for time in preview(spec, begin, count)]
    if form is Form.TEXT:
        typer.echo("".join(f"{time}\n" for time in times), nl=False)
    else:
        print_data(times, form)
    if not times:
        typer.echo(f"it starts nothing after {begin.isoformat(timespec='seconds')}", err=True)
