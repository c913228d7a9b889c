"""`swf worker`: serve definitions on a cluster until told to stop."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    BuildId,
    Config,
    DeploymentName,
    Format,
    FunctionModules,
    Level,
    Metrics,
    Mode,
    Namespace,
    NoWait,
    ResourceFolders,
    Strict,
    VersioningWord,
    WorkerTaskQueue,
)
from swf_temporal.origins import MAX_PORT
from swf_temporal.temporal.constants import ACTIVITIES

EXAMPLES = {"worker": "Example: swf worker definitions/ --functions functions.py --health 8080"}


def worker(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Definitions, and folders of definitions; by default the current folder."),
    ] = None,
    *,
    functions: FunctionModules = None,
    config: Config = None,
    resources: ResourceFolders = None,
    strict: Strict = False,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
    task_queue: WorkerTaskQueue = None,
    known_definitions_only: Annotated[
        bool | None,
        typer.Option(
            "--known-definitions-only",
            help="Refuse instances that come with a definition which is not served.",
        ),
    ] = None,
    max_activities: Annotated[
        int | None,
        typer.Option(
            "--max-activities",
            min=1,
            show_default=str(ACTIVITIES),
            help="The maximum number of function calls in progress.",
        ),
    ] = None,
    processes: Annotated[
        str | None,
        typer.Option(
            "--processes",
            metavar="N|auto",
            help="Work in so many processes, or in one for each core.",
            show_default="1",
        ),
    ] = None,
    health: Annotated[
        int | None,
        typer.Option("--health", min=1, max=MAX_PORT, help="Answer /livez and /readyz over HTTP on this port."),
    ] = None,
    metrics: Metrics = None,
    deployment: DeploymentName = None,
    build_id: BuildId = None,
    versioning: VersioningWord = None,
    log_format: Format = None,
    log_level: Level = None,
    no_wait: NoWait = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Serve definitions on a cluster until stopped.

    Secrets and settings come from variables named SWF_... and from the configuration. After SIGTERM or Ctrl-C, calls in
    progress may finish. The log goes to stderr, without the data of instances.
    """
    with default_sigint():
        from swf_temporal.app.settings import WorkerSettings
        from swf_temporal.app.stopping import run_until_stopped
        from swf_temporal.app.worker_process import WorkerProcess
    if WorkerProcess.own() is None:
        said = {"processes": processes, "health_port": health, "metrics_port": metrics}
        said |= {"log_format": log_format, "log_level": log_level}
        settings = WorkerSettings.read(file=config, arguments=said)
        if settings.processes != "1":
            from swf_temporal.app.processes import supervised

            raise typer.Exit(run_until_stopped(supervised(settings)))
    with default_sigint():
        from swf_temporal.app.serving import Sources, prepare, serve
    prepared = prepare(
        Sources(paths or [Path()], functions or (), config, resources or (), strict),
        address,
        namespace,
        task_queue=task_queue,
        known_definitions_only=known_definitions_only,
        max_activities=max_activities,
        health_port=health,
        metrics_port=metrics,
        deployment=deployment,
        build_id=build_id,
        versioning=versioning,
        log_format=log_format,
        log_level=log_level,
    )
    raise typer.Exit(run_until_stopped(serve(prepared, waits=not no_wait)))
