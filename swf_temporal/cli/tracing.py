"""`swf logs`: the trace of an instance, as it happens or after the fact."""

import asyncio
import sys
from functools import partial
from typing import Any

import typer

from swf_temporal.base.client_errors import InstancePausedError
from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.output import OutputFormat, print_yaml
from swf_temporal.cli.progress import line_of, news
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import view_instance
from swf_temporal.operations.listing import is_open
from swf_temporal.operations.outlasting import Outlasting

_INTERVAL = 0.3
"""Seconds between two looks at an instance."""


async def show_trace(client: Client, workflow_id: str, form: OutputFormat, connecting: str, *, follow: bool) -> int:
    """Tell what happened in an instance and, if that is asked for, what happens until it ends.

    *connecting* is what a command needs to find the server.
    """
    outlasting, looking = Outlasting(client, workflow_id, connecting), partial(view_instance, client, workflow_id)
    last: dict[str, Any] | None = None
    has_printed = False
    while True:
        status, trace = await (outlasting(looking) if follow else looking())
        is_running = is_open(status)
        if isinstance(trace, UsageError):
            if not (follow and is_running):
                raise trace
            if not has_printed:
                what = "it is paused" if isinstance(trace, InstancePausedError) else "no worker is currently responding"
                typer.echo(what, err=True)
            has_printed, trace = True, []
        for entry in news(trace, last):
            _tell(entry, form)
            last = entry
        if not (follow and is_running):
            if not is_running:
                typer.echo(f"{workflow_id}: {status}", err=True)
            return 0
        await asyncio.sleep(_INTERVAL)


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
