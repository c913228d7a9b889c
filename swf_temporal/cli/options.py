"""Which options mean the same in several commands?"""

from pathlib import Path
from typing import Annotated

import typer

LOWEST_PORT, HIGHEST_PORT = 1, 65535
"""What a port can be."""

Input = Annotated[
    str | None, typer.Option("--input", "-i", help="The data it starts with: JSON, @FILE, or - for stdin.")
]
Events = Annotated[
    list[Path] | None,
    typer.Option("--event", "-e", help="A file with CloudEvents that are there from the start. Repeatable."),
]
Definitions = Annotated[
    list[Path] | None,
    typer.Option("--definitions", "-d", help="A folder with sub-workflows, if they are not beside FILE. Repeatable."),
]
ResourceFolders = Annotated[
    list[Path] | None,
    typer.Option("--resources", help="A folder that definitions may read, besides their own. Repeatable."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Count warnings about definitions as errors.")]
FunctionModules = Annotated[
    list[str] | None,
    typer.Option("--functions", "-f", help="A Python file or module with custom functions. Repeatable."),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", envvar="SWF_CONFIG", help="What holds for calls: hosts, limits, headers."),
]
InstanceId = Annotated[str | None, typer.Option("--id", help="The id of the instance.")]
Address = Annotated[str | None, typer.Option("--address", help="The server, as HOST:PORT.")]
Namespace = Annotated[str | None, typer.Option("--namespace", help="The namespace on the server.")]
TaskQueue = Annotated[str, typer.Option("--task-queue", help="The task queue of the workers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WorkflowId = Annotated[str, typer.Argument(metavar="WORKFLOW_ID", help="The id of the instance.")]
