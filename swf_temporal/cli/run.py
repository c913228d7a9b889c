"""`swf run`: run a definition to its end, and print its output."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.files import STDIN
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    Config,
    Definitions,
    Events,
    FunctionModules,
    Input,
    Mode,
    Namespace,
    NewWorkflowId,
    Output,
    ResourceFolders,
    Strict,
    refuse_without_effect,
)
from swf_temporal.cli.output import OutputFormat

EXAMPLES = {"run": 'Example: swf run orders.yaml --input \'{"item": "mouse"}\' --functions functions.py'}

_ON_A_SERVER = {
    "timeout": "a simulation ends at once, whatever it waits for",
    "functions": "a simulation calls no functions: give their answers with --script",
    "config": "a simulation calls no functions, and needs no server",
    "workflow_id": "an instance of a simulation has the definition's id",
    "address": "a simulation needs no server",
    "namespace": "a simulation needs no server",
}
"""The options that have no effect on a simulation, and why."""


def run(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The definition, or - for stdin.")],
    *,
    input_: Input = None,
    event: Events = None,
    definitions: Definitions = None,
    resources: ResourceFolders = None,
    functions: FunctionModules = None,
    config: Config = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Run in virtual time, without calling functions.")
    ] = False,
    script: Annotated[
        Path | None,
        typer.Option("--script", metavar="FILE", help="With --simulate: a file with the answers of functions."),
    ] = None,
    max_steps: Annotated[
        int | None,
        typer.Option(
            "--max-steps",
            min=1,
            show_default="10000",
            help="With --simulate: the number of states and retries after which it is stopped.",
        ),
    ] = None,
    strict: Strict = False,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
    workflow_id: NewWorkflowId = None,
    address: Address = None,
    namespace: Namespace = None,
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout", metavar="TIME", help="Cancel the workflow after this time, in seconds or such as PT5M."
        ),
    ] = None,
    form: Output = OutputFormat.JSON,
) -> None:
    """Run a definition to its end and print its output.

    The server is the one at --address, or the one in the environment (TEMPORAL_ADDRESS and so on), or one on port 7233
    of this machine, or one that is started for this run.

    Exits with 0 if the workflow completed, with 1 if it did not, and with 2 if it cannot be run.
    """
    if simulate:
        refuse_without_effect(ctx, "is for a run on a server, not for --simulate", _ON_A_SERVER)
    elif script is not None:
        raise UsageError("--script has the answers of functions in a simulation", "add --simulate")
    elif max_steps is not None:
        raise UsageError("--max-steps is the limit of a simulation", "add --simulate")
    if file == STDIN and input_ == "-":
        raise UsageError("the definition and --input cannot both be on stdin", "give one of them as a file")
    with default_sigint():
        from swf_temporal.base.stopping import run_until_stopped
        from swf_temporal.cli.arguments import json_value, length_of, read_events
        from swf_temporal.cli.output import warn
        from swf_temporal.sdk.definitions import read_related, refuse_unfit, resources_of
    data, length, readable = json_value(input_, "--input"), length_of(timeout, "--timeout"), resources_of(resources)
    workflows = read_related(file, definitions or (), readable, warn=warn, strict=strict)
    refuse_unfit(workflows[0], data)
    events = read_events(event or ())
    if simulate:
        with default_sigint():
            from swf_temporal.cli.simulating import run_simulated
        raise typer.Exit(run_until_stopped(run_simulated(workflows, data, events, script, form, max_steps)))
    with default_sigint():
        from swf_temporal.cli.running import run_on_some_server
        from swf_temporal.sdk.running import Order, with_functions
    order = with_functions(
        Order(workflows, data, workflow_id, events, timeout=length), functions or (), config, readable
    )
    raise typer.Exit(run_until_stopped(run_on_some_server(order, form, address, namespace)))
