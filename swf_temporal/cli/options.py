"""Options that several commands share.

Nothing heavy is imported here, because completion on the command line also needs this module.
"""

import inspect
import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.importing import MAX_PORT
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.output import OutputFormat
from swf_temporal.cli.shell_completion import definitions_and_files, instance_ids

if TYPE_CHECKING:
    from swf_temporal.operations.client import Client


def not_empty(value: str | None) -> str | None:
    """Return *value*. Raises BadParameter if it is blank."""
    if value is not None and not value.strip():
        raise typer.BadParameter("it is empty")
    return value


class ScenarioHost(StrEnum):
    SIMULATION = "simulation"
    TEMPORAL = "temporal"
    BOTH = "both"


Input = Annotated[
    str | None,
    typer.Option("--input", "-i", metavar="DATA", help="The data to start with: JSON, @FILE, or - for stdin."),
]
Events = Annotated[
    list[Path] | None,
    typer.Option(
        "--event", "-e", metavar="FILE", help="A file with CloudEvents that are sent at the start. Repeatable."
    ),
]
Definitions = Annotated[
    list[Path] | None,
    typer.Option(
        "--definitions",
        "-d",
        metavar="FOLDER",
        help="A folder with sub-workflows, if they are not beside FILE. Repeatable.",
    ),
]
DefinitionPaths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Definitions, and folders of definitions; by default the current folder."),
]
ResourceFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--resources", metavar="FOLDER", help="A folder that definitions may read, besides their own. Repeatable."
    ),
]


def _in_mode(value: str | None) -> str | None:
    """Set the reading mode of this process, and of those that it starts."""
    if value:
        os.environ["SWF_MODE"] = value
    return value


class ReadingMode(StrEnum):
    SONATAFLOW = "sonataflow"


Mode = Annotated[
    ReadingMode | None,
    typer.Option("--mode", envvar="SWF_MODE", callback=_in_mode, help="Read and run definitions as SonataFlow did."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Count warnings about definitions as errors.")]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="End with 2 if no server answers at the start, instead of waiting for it.")
]
FunctionModules = Annotated[
    list[str] | None,
    typer.Option(
        "--functions", "-f", metavar="FILE_OR_MODULE", help="A Python file or module with custom functions. Repeatable."
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", envvar="SWF_CONFIG", help="The configuration file."),
]
NewWorkflowId = Annotated[
    str | None,
    typer.Option("--workflow-id", "-w", "--id", metavar="ID", callback=not_empty, help="The id of the instance."),
]
Address = Annotated[str | None, typer.Option("--address", metavar="HOST:PORT", callback=not_empty, help="The server.")]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NAME", callback=not_empty, help="The namespace on the server."),
]
TaskQueue = Annotated[
    str | None,
    typer.Option(
        "--task-queue",
        metavar="NAME",
        callback=not_empty,
        help="The task queue of the workers. Default: SWF_TASK_QUEUE, or swf.",
    ),
]
Output = Annotated[OutputFormat, typer.Option("--output", "-o", help="The format of the output.")]
WorkflowId = Annotated[
    str | None,
    typer.Argument(metavar="WORKFLOW_ID", help="The id of the instance.", autocompletion=instance_ids),
]
AlsoWorkflowId = Annotated[
    str | None,
    typer.Option("--workflow-id", "-w", metavar="ID", help="The same, as an option.", autocompletion=instance_ids),
]
IdOrFile = Annotated[
    str,
    typer.Argument(
        metavar="ID_OR_FILE",
        help="The id of a definition that the workers serve, a file, or - for stdin.",
        autocompletion=definitions_and_files,
    ),
]
ListenHost = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="The address to listen at; 0.0.0.0 means all addresses.")
]
ListenPort = Annotated[
    int, typer.Option("--port", min=0, max=MAX_PORT, help="The port to listen at; 0 is any free one.")
]
TlsCertificate = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", help="A certificate file: serve HTTPS.")
]
TlsKey = Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="The key file of the certificate.")]


def one_id(argument: str | None, option: str | None) -> str:
    """Return the id of the chosen instance. Raises UsageError if none is given, or two different ones."""
    given = [one for one in (argument, option) if one is not None]
    if not given:
        raise UsageError("which instance?", "give its id, as WORKFLOW_ID or with --workflow-id; `swf list` shows ids")
    if len(set(given)) > 1:
        raise UsageError(f"two instances are given: {given[0]!r} and {given[1]!r}", "give one of them")
    if not given[0].strip():
        raise UsageError("the id of the instance is empty", "`swf list` shows the ids of instances")
    return given[0]


def refuse_without_effect(ctx: typer.Context, why: str, hints: Mapping[str, str | None]) -> None:
    """Raise UsageError if an option without effect was given on the command line; *hints* has these, by name."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name in hints and source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} {why}", hints[parameter.name])


def list_filter(text: str) -> Any:
    """Return the option for a Temporal list filter, with the help *text*."""
    return typer.Option("--query", "-q", metavar="FILTER", callback=not_empty, help=text)


T = TypeVar("T")
Command: TypeAlias = Callable[..., None]


def spread(
    parameter: str, made: Callable[..., Any], *, but: Collection[str] = ()
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return a decorator that replaces *parameter* of a command by the parameters of *made*.

    The command gets the result of *made* as *parameter*. Parameters in *but* are omitted, and keep their defaults.
    """
    found = {name: one for name, one in inspect.signature(made).parameters.items() if name not in but}

    def decorated(command: Callable[..., T]) -> Callable[..., T]:
        @wraps(command)
        def with_all(**values: Any) -> T:
            given = {name: values.pop(name) for name in found if name in values}
            return command(**{parameter: made(**given)}, **values)

        parameters: list[inspect.Parameter] = []
        for one in inspect.signature(command).parameters.values():
            parameters += [one] if one.name != parameter else found.values()
        with_all.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        with_all.__annotations__ = {one.name: one.annotation for one in parameters}
        return with_all

    return decorated


Request: TypeAlias = "Callable[[Client], Awaitable[int]]"


def ask(request: Request, address: str | None, namespace: str | None, *, waits: bool = False) -> None:
    """Run *request* with a client of the server, and exit with the code that it returns.

    The server is the one at *address*, or the one in the environment. Its refusals are reported as usage errors. A
    request that *waits* for an instance handles by itself that the server does not answer for a while.
    """
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped

    raise typer.Exit(run_until_stopped(_asked(request, address, namespace, waits=waits)))


async def _asked(request: Request, address: str | None, namespace: str | None, *, waits: bool) -> int:
    with default_sigint():
        from swf_temporal.operations.client import Client
        from swf_temporal.operations.identity import user_identity
        from swf_temporal.sdk.logs import be_quiet
        from swf_temporal.temporal.client_errors import refusals_as_usage_errors
        from swf_temporal.temporal.server_timeout import FOR_REQUESTS, ServerWatch
    be_quiet()
    client = (await Client.connect(address, namespace=namespace)).acting_as(user_identity())
    with refusals_as_usage_errors():
        if waits:
            return await request(client)
        async with ServerWatch(client.temporal, FOR_REQUESTS).watching():
            return await request(client)
