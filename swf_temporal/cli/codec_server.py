"""`swf codec-server`: decrypt payloads for the Temporal UI and the `temporal` program."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.app.settings import Address
from swf_temporal.cli.interrupts import ending_at_once
from swf_temporal.cli.options import HIGHEST_PORT, Config, Format

EXAMPLES = {"codec-server": "Example: swf codec-server --config swf.yaml --origin http://localhost:8233"}


def codec_server(
    *,
    config: Config = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen at; 0.0.0.0 is all.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=HIGHEST_PORT, help="The port to listen at; 0 is any free one.")
    ] = 8888,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            "--origin", metavar="URL", help="The origin of a UI that may ask, besides those configured. Repeatable."
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="A certificate: serve https.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="The key of the certificate.")
    ] = None,
    log_format: Format = None,
) -> None:
    """Decrypt payloads for the Temporal UI and the temporal program.

    Those that are stored are fetched. Keys, storage and who may ask come from the configuration. The URL is printed to
    stdout; requests are logged to stderr, without payloads.
    """
    with ending_at_once():
        from swf_temporal.app.codec_server.serving import prepare, serve
        from swf_temporal.app.stopping import run_until_stopped
    settings, payloads = prepare(Address(host, port), origin or (), config, log_format)
    raise typer.Exit(run_until_stopped(serve(settings, payloads, typer.echo, tls_cert, tls_key)))
