"""`swf gateway`: events and instances over HTTP."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Address as ServerAddress
from swf_temporal.cli.options import (
    Config,
    Format,
    KeptHeaders,
    Level,
    ListenHost,
    ListenPort,
    Metrics,
    Mode,
    Namespace,
    NoWait,
    ResourceFolders,
    SonataFlowApi,
    Strict,
    TlsCertificate,
    TlsKey,
    not_empty,
)
from swf_temporal.cli.terminal import warn
from swf_temporal.settings.values import Address

EXAMPLES = {"gateway": "Example: swf gateway definitions/ --config swf.yaml --host 0.0.0.0"}


def gateway(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Definitions, and folders of definitions; by default the current folder."),
    ] = None,
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
    console: Annotated[
        bool | None,
        typer.Option("--console", show_default=False, help="Serve pages for people at /console."),
    ] = None,
    sonataflow_api: SonataFlowApi = None,
    kept_headers: KeptHeaders = None,
    tls_cert: TlsCertificate = None,
    tls_key: TlsKey = None,
    task_queue: Annotated[
        str | None,
        typer.Option("--task-queue", metavar="NAME", callback=not_empty, help="The task queue of the workers."),
    ] = None,
    metrics: Metrics = None,
    log_format: Format = None,
    log_level: Level = None,
    no_wait: NoWait = False,
    address: ServerAddress = None,
    namespace: Namespace = None,
) -> None:
    """Accept events over HTTP, and start and show instances.

    Clients and their limits come from the configuration. /docs lists all requests. The URL is printed to stdout;
    rejected requests are logged to stderr, without their contents.
    """
    with default_sigint():
        from swf_temporal.app.gateway.serving import prepare, serve
        from swf_temporal.app.stopping import run_until_stopped
        from swf_temporal.settings.http import tls_files
    prepared = prepare(
        paths or [Path()],
        Address(host, port),
        origins=origin or (),
        console=console,
        sonataflow_api=sonataflow_api,
        kept_headers=kept_headers,
        config=config,
        resources=resources or (),
        strict=strict,
        task_queue=task_queue,
        metrics_port=metrics,
        tls=tls_files(tls_cert, tls_key),
        server=address,
        namespace=namespace,
        log_format=log_format,
        log_level=log_level,
        tell=warn,
    )
    raise typer.Exit(run_until_stopped(serve(prepared, typer.echo, waits=not no_wait)))
