"""`swf worker`: serve definitions on a cluster until stopped."""

from pathlib import Path

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    Config,
    DefinitionPaths,
    FunctionModules,
    Mode,
    Namespace,
    NoWait,
    ResourceFolders,
    Strict,
)
from swf_temporal.cli.setting_options import Given, taking
from swf_temporal.settings.worker import WorkerSettings

EXAMPLES = {"worker": "Example: swf worker definitions/ --functions functions.py --health 8080"}


@taking("settings", WorkerSettings)
def worker(
    paths: DefinitionPaths = None,
    *,
    functions: FunctionModules = None,
    config: Config = None,
    resources: ResourceFolders = None,
    strict: Strict = False,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
    settings: Given,
    no_wait: NoWait = False,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Serve definitions on a cluster until stopped.

    Secrets and settings come from variables named SWF_... and from the configuration. After SIGTERM or Ctrl-C, calls in
    progress may finish. The log goes to stderr, without the data of instances.
    """
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.sdk.worker_process import WorkerProcess
    if WorkerProcess.own() is None:
        read = WorkerSettings.read(file=config, arguments=settings)
        if read.processes != "1":
            with default_sigint():
                from swf_temporal.cli.main import main
                from swf_temporal.sdk import serving  # noqa: F401 - the processes share what is imported here
                from swf_temporal.sdk.processes import supervised
            raise typer.Exit(run_until_stopped(supervised(read, main)))
    with default_sigint():
        from swf_temporal.sdk.serving import Sources, prepare, serve
    prepared = prepare(
        Sources(paths or [Path()], functions or (), config, resources or (), strict),
        address,
        namespace,
        **settings,
    )
    raise typer.Exit(run_until_stopped(serve(prepared, waits=not no_wait)))
