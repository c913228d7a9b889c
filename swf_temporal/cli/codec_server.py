"""`swf codec-server`: decrypt payloads for the Temporal UI and the `temporal` program."""

from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Config, ListenHost, ListenPort, TlsCertificate, TlsKey
from swf_temporal.cli.setting_options import Given, taking
from swf_temporal.settings.http import tls_files
from swf_temporal.settings.values import Address
from swf_temporal.settings.worker import WorkerSettings

EXAMPLES = {"codec-server": "Example: swf codec-server --config swf.yaml --origin http://localhost:8233"}


@taking("log", WorkerSettings, "log_format", "log_level")
def codec_server(
    *,
    config: Config = None,
    host: ListenHost = "127.0.0.1",
    port: ListenPort = 8888,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            "--origin",
            metavar="URL",
            help="The origin of a UI that may send requests, besides those configured. Repeatable.",
        ),
    ] = None,
    tls_cert: TlsCertificate = None,
    tls_key: TlsKey = None,
    log: Given,
) -> None:
    """Decrypt payloads for the Temporal UI and the temporal program.

    Stored payloads are fetched. Keys, the storage and the permitted clients come from the configuration. The URL is
    printed to stdout; requests are logged to stderr, without payloads.
    """
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.http.codec_server.serving import prepare, serve
    settings, payloads = prepare(Address(host, port), origin or (), config, **log)
    raise typer.Exit(run_until_stopped(serve(settings, payloads, typer.echo, tls_files(tls_cert, tls_key))))
