"""`swf consume`: take events from brokers, and send them where they go."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    Config,
    Format,
    Level,
    Metrics,
    Namespace,
    NoWait,
    ResourceFolders,
    WorkerTaskQueue,
)
from swf_temporal.cli.terminal import warn
from swf_temporal.origins import MAX_PORT

EXAMPLES = {"consume": "Example: swf consume definitions/ --config swf.yaml --health 8081"}


def consume(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Definitions, and folders of definitions; by default the current folder."),
    ] = None,
    *,
    config: Config = None,
    resources: ResourceFolders = None,
    task_queue: WorkerTaskQueue = None,
    health: Annotated[
        int | None,
        typer.Option("--health", min=1, max=MAX_PORT, help="Answer /livez and /readyz over HTTP on this port."),
    ] = None,
    metrics: Metrics = None,
    log_format: Format = None,
    log_level: Level = None,
    no_wait: NoWait = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Take events from brokers, and send them to instances.

    Events go to the instances that they start, or that wait for them. Queues, topics and subjects are in the section
    `events` of the configuration. A message is acknowledged once the Temporal server has its event; this does not need
    a running worker. Consumers reconnect when a connection breaks. The log goes to stderr, without the data of events.
    """
    with default_sigint():
        from swf_temporal.app.consuming import prepare
        from swf_temporal.app.stopping import run_until_stopped
    prepared = prepare(
        paths or [Path()],
        config=config,
        resources=resources or (),
        address=address,
        namespace=namespace,
        task_queue=task_queue,
        tell=warn,
        health_port=health,
        metrics_port=metrics,
        log_format=log_format,
        log_level=log_level,
    )
    raise typer.Exit(run_until_stopped(prepared.serve(waits=not no_wait)))
