"""`swf consume`: take events from brokers, and send them to instances."""

from pathlib import Path

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Address, Config, DefinitionPaths, Namespace, NoWait, ResourceFolders
from swf_temporal.cli.setting_options import Given, taking
from swf_temporal.settings.worker import WorkerSettings

EXAMPLES = {"consume": "Example: swf consume definitions/ --config swf.yaml --health 8081"}


@taking("settings", WorkerSettings, "task_queue", "health_port", "metrics", "log_format", "log_level")
def consume(
    paths: DefinitionPaths = None,
    *,
    config: Config = None,
    resources: ResourceFolders = None,
    settings: Given,
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
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.sdk.consuming import prepare
    prepared = prepare(
        paths or [Path()],
        config=config,
        resources=resources or (),
        address=address,
        namespace=namespace,
        **settings,
    )
    raise typer.Exit(run_until_stopped(prepared.serve(waits=not no_wait)))
