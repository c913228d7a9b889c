"""`swf worker`: serve definitions on a cluster until told to stop."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.app.settings import LogFormat, LogLevel, WorkerSettings
from swf_temporal.cli.interrupts import ending_at_once
from swf_temporal.cli.options import (
    HIGHEST_PORT,
    LOWEST_PORT,
    Address,
    Config,
    Format,
    FunctionModules,
    Level,
    Namespace,
    ResourceFolders,
    Strict,
    TaskQueue,
)
from swf_temporal.temporal.conventions import ACTIVITIES, TASK_QUEUE

EXAMPLES = {"worker": "Example: swf worker definitions/ --functions functions.py --health 8080"}


def worker(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Definitions, and folders of definitions; else the current folder."),
    ] = None,
    *,
    functions: FunctionModules = None,
    config: Config = None,
    resources: ResourceFolders = None,
    strict: Strict = False,
    task_queue: TaskQueue = TASK_QUEUE,
    known_definitions_only: Annotated[
        bool,
        typer.Option(
            "--known-definitions-only",
            envvar="SWF_KNOWN_DEFINITIONS_ONLY",
            help="Refuse instances that bring another definition than those that are served.",
        ),
    ] = False,
    max_activities: Annotated[
        int, typer.Option("--max-activities", min=1, help="How many function calls may be under way at once.")
    ] = ACTIVITIES,
    health: Annotated[
        int | None,
        typer.Option(
            "--health", min=LOWEST_PORT, max=HIGHEST_PORT, help="Answer /livez and /readyz over HTTP on this port."
        ),
    ] = None,
    log_format: Format = LogFormat.TEXT,
    log_level: Level = LogLevel.INFO,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Serve definitions on a cluster until told to stop.

    Secrets and settings come from variables named SWF_..., produced events are sent to the URL in SWF_SINK. SIGTERM
    and Ctrl-C let the calls that are under way come to an end. What happens to instances is logged to stderr, without
    the data that they work on.
    """
    settings = WorkerSettings(
        task_queue,
        known_definitions_only,
        max_activities,
        health_port=health,
        log_format=log_format,
        log_level=log_level,
    )
    with ending_at_once():
        from swf_temporal.app.serving import Sources, prepare, serve
        from swf_temporal.app.stopping import run_until_stopped
    sources = Sources(paths or [Path()], functions or (), config, resources or (), strict)
    raise typer.Exit(run_until_stopped(serve(prepare(sources, settings, address, namespace))))
