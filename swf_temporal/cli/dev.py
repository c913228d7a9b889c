"""`swf dev`: a local server, its UI and a worker that follows the files."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.base.importing import MAX_PORT
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Config, FunctionModules, Mode, Strict
from swf_temporal.cli.output import warn
from swf_temporal.cli.setting_options import Given, taking
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.constants import DEFAULT_PORT, DEFAULT_UI_PORT

EXAMPLES = {"dev": "Example: swf dev definitions/ --functions functions.py"}


@taking("gateway", GatewaySettings, "sonataflow_api", "kept_headers")
@taking("settings", WorkerSettings, "task_queue", "metrics", "log_format", "log_level")
def dev(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the definitions.")] = Path(),
    *,
    functions: FunctionModules = None,
    config: Config = None,
    port: Annotated[
        int,
        typer.Option("--port", envvar="SWF_DEV_PORT", min=1, max=MAX_PORT, help="The port of the server."),
    ] = DEFAULT_PORT,
    ui_port: Annotated[
        int,
        typer.Option("--ui-port", envvar="SWF_DEV_UI_PORT", min=1, max=MAX_PORT, help="The port of its UI."),
    ] = DEFAULT_UI_PORT,
    gateway_port: Annotated[
        int | None,
        typer.Option(
            "--gateway-port",
            envvar="SWF_DEV_GATEWAY_PORT",
            min=0,
            max=MAX_PORT,
            show_default="8080, or a free one",
            help="The port of the gateway; 0 is any free port.",
        ),
    ] = None,
    gateway: Given,
    database: Annotated[Path, typer.Option("--db", metavar="FILE", help="The file of the server's database.")] = Path(
        ".swf", "temporal.db"
    ),
    strict: Strict = False,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
    settings: Given,
) -> None:
    """Serve a folder of definitions on a local server, and reload those that change.

    Running instances keep the definition that they started with. Instances survive a restart of this command. The log
    goes to stderr, without their data.
    """
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.http.dev_server import Listening, prepare
    development = prepare(
        folder,
        Listening(port, ui_port, database, gateway_port),
        functions=functions or (),
        config=config,
        strict=strict,
        gateway=gateway,
        tell=warn,
        **settings,
    )
    raise typer.Exit(run_until_stopped(development.serve()))
