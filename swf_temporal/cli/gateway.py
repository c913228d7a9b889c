"""`swf gateway`: events and instances over HTTP."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Address as ServerAddress
from swf_temporal.cli.options import (
    Config,
    DefinitionPaths,
    ListenHost,
    ListenPort,
    Mode,
    Namespace,
    NoWait,
    ResourceFolders,
    Strict,
    TlsCertificate,
    TlsKey,
)
from swf_temporal.cli.setting_options import Given, taking
from swf_temporal.settings.http import GatewaySettings, tls_files
from swf_temporal.settings.values import Address
from swf_temporal.settings.worker import WorkerSettings

EXAMPLES = {"gateway": "Example: swf gateway definitions/ --config swf.yaml --host 0.0.0.0"}


@taking("settings", GatewaySettings)
@taking("log", WorkerSettings, "log_format", "log_level")
def gateway(
    paths: DefinitionPaths = None,
    *,
    config: Config = None,
    resources: ResourceFolders = None,
    strict: Strict = False,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
    host: ListenHost = "127.0.0.1",
    port: ListenPort = 8080,
    origin: Annotated[
        list[str] | None,
        typer.Option("--origin", metavar="URL", help="The origin of web pages that may send requests. Repeatable."),
    ] = None,
    settings: Given,
    tls_cert: TlsCertificate = None,
    tls_key: TlsKey = None,
    log: Given,
    no_wait: NoWait = False,
    address: ServerAddress = None,
    namespace: Namespace = None,
) -> None:
    """Accept events over HTTP, and start and show instances.

    Clients and their limits come from the configuration. /docs lists all requests. The URL is printed to stdout;
    rejected requests are logged to stderr, without their contents.
    """
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.http.gateway.serving import prepare, serve
    prepared = prepare(
        paths or [Path()],
        Address(host, port),
        origins=origin or (),
        config=config,
        resources=resources or (),
        strict=strict,
        tls=tls_files(tls_cert, tls_key),
        server=address,
        namespace=namespace,
        **settings,
        **log,
    )
    raise typer.Exit(run_until_stopped(serve(prepared, typer.echo, waits=not no_wait)))
