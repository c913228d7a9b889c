"""`swf run`: run a definition to its end, here and now."""

import os
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from swf_temporal.cli.arguments import functions_of, json_value, length_of, read_events
from swf_temporal.cli.definitions import read_to_run, resources_of, with_sub_workflows
from swf_temporal.cli.fitting import refuse_unfit
from swf_temporal.cli.options import (
    Address,
    Config,
    Definitions,
    Events,
    FunctionModules,
    Input,
    InstanceId,
    Namespace,
    ResourceFolders,
    Strict,
)
from swf_temporal.cli.running import Order, run_on_some_server
from swf_temporal.cli.simulating import run_simulated
from swf_temporal.cli.stopping import run_until_stopped
from swf_temporal.errors import UsageError
from swf_temporal.functions.operator.configuration import read_settings

EXAMPLES = {"run": 'Example: swf run orders.yaml --input \'{"item": "mouse"}\' --functions functions.py'}


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The definition.")],
    *,
    input_: Input = None,
    event: Events = None,
    definitions: Definitions = None,
    resources: ResourceFolders = None,
    functions: FunctionModules = None,
    config: Config = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Run in virtual time, and call no function.")] = False,
    script: Annotated[
        Path | None, typer.Option("--script", help="With --simulate: a file with the results of functions.")
    ] = None,
    strict: Strict = False,
    workflow_id: InstanceId = None,
    address: Address = None,
    namespace: Namespace = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", help="Cancel it after this time: seconds, or as in PT5M.")
    ] = None,
) -> None:
    """Run a definition to its end and print its output.

    The server is the one at --address, else the one that the environment names (TEMPORAL_ADDRESS and so on), else
    one that listens on port 7233 of this machine, else one that is started for this run.

    Exits with 0 if the workflow completed, with 1 if it did not, and with 2 if it cannot be run.
    """
    data = json_value(input_, "--input")
    readable = resources_of(resources)
    workflow = read_to_run(file, readable, strict=strict)
    workflows = with_sub_workflows(workflow, file, definitions or (), readable, strict=strict)
    refuse_unfit(workflow, data)
    events = read_events(event or ())
    if simulate and timeout is not None:
        raise UsageError("--timeout is for a run on a server", "a simulation is over at once, whatever it waits for")
    if simulate:
        run_until_stopped(run_simulated(workflows, data, events, script))
    if script is not None:
        raise UsageError("--script says what functions answer in a simulation", "add --simulate")
    settings = read_settings(os.environ, local=True, file=config, resources=readable)
    order = Order(
        workflows,
        data,
        workflow_id or f"{workflow.id}-{uuid4().hex[:8]}",
        events,
        functions_of(functions or (), settings.modules),
        settings,
        length_of(timeout, "--timeout"),
    )
    run_until_stopped(run_on_some_server(order, address, namespace))
