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
from swf_temporal.temporal.constants import (
    ACTIVITIES,
    LOCAL_ACTIVITIES,
    MIN_WORKFLOW_TASKS,
    POLLERS,
    WORKFLOW_TASKS,
    WORKFLOWS,
)

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
    search_attributes: Annotated[
        bool | None,
        typer.Option(
            "--search-attributes/--no-search-attributes",
            show_default=False,
            help="Set search attributes on instances, by which they are found.",
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
    max_cached_workflows: Annotated[
        int | None,
        typer.Option(
            "--max-cached-workflows",
            min=1,
            show_default=str(WORKFLOWS),
            help="The maximum number of running instances in memory.",
        ),
    ] = None,
    max_workflow_tasks: Annotated[
        int | None,
        typer.Option(
            "--max-workflow-tasks",
            min=MIN_WORKFLOW_TASKS,
            show_default=str(WORKFLOW_TASKS),
            help="The maximum number of instances that take a step at once.",
        ),
    ] = None,
    max_local_activities: Annotated[
        int | None,
        typer.Option(
            "--max-local-activities",
            min=1,
            show_default=str(LOCAL_ACTIVITIES),
            help="The maximum number of local calls in progress.",
        ),
    ] = None,
    target_memory: Annotated[
        str | None,
        typer.Option(
            "--target-memory", metavar="SHARE", help="Take more work up to this share of memory, such as 0.8."
        ),
    ] = None,
    target_cpu: Annotated[
        str | None,
        typer.Option(
            "--target-cpu", metavar="SHARE", help="Take more work up to this share of processor time, such as 0.9."
        ),
    ] = None,
    pollers: Annotated[
        str | None,
        typer.Option(
            "--pollers",
            metavar="N|auto",
            show_default=str(POLLERS),
            help="Wait with so many requests for instances, and for calls.",
        ),
    ] = None,
    max_activity_rate: Annotated[
        str | None,
        typer.Option("--max-activity-rate", metavar="RATE", help="Begin calls at most at this rate, such as 100/s."),
    ] = None,
    max_queue_activity_rate: Annotated[
        str | None,
        typer.Option(
            "--max-queue-activity-rate",
            metavar="RATE",
            help="The same for all workers of the task queue together.",
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
        from swf_temporal.app.stopping import run_until_stopped
        from swf_temporal.app.worker_process import WorkerProcess
        from swf_temporal.settings.worker import WorkerSettings
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
        search_attributes=search_attributes,
        max_activities=max_activities,
        max_cached_workflows=max_cached_workflows,
        max_workflow_tasks=max_workflow_tasks,
        max_local_activities=max_local_activities,
        target_memory=target_memory,
        target_cpu=target_cpu,
        pollers=pollers,
        max_activity_rate=max_activity_rate,
        max_queue_activity_rate=max_queue_activity_rate,
        health_port=health,
        metrics_port=metrics,
        deployment=deployment,
        build_id=build_id,
        versioning=versioning,
        log_format=log_format,
        log_level=log_level,
    )
    raise typer.Exit(run_until_stopped(serve(prepared, waits=not no_wait)))
