"""`swf serve-function`: serve a Python function or a program like a function container of Direktiv."""

from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import ListenHost, ListenPort
from swf_temporal.cli.output import warn

EXAMPLES = {"serve-function": "Example: swf serve-function functions.py:greet --port 8081"}


def serve_function(
    function: Annotated[
        list[str],
        typer.Argument(
            metavar="FUNCTION",
            help="module:function, file.py:function, or a program with its arguments; `--` goes before its options.",
        ),
    ],
    *,
    port: ListenPort = 8080,
    host: ListenHost = "127.0.0.1",
) -> None:
    """Serve a Python function or a program like a function container of Direktiv.

    A Python function gets the input, and the folder of the call if it has a second parameter. A program gets the
    input on stdin, and writes the result to stdout. The URL is printed to stdout, errors of the function to stderr.
    """
    with default_sigint():
        from swf_temporal.base.errors import MissingExtra
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.http.container_functions import served_function

        try:
            from swf_temporal.http.function_server import serve_function as serve
        except ImportError as error:
            raise MissingExtra("containers", "serving a function", error.name) from None
    raise typer.Exit(run_until_stopped(serve(served_function(function), host, port, warn, typer.echo)))
