"""How is a definition run in virtual time, its functions answering from a script?"""

from pathlib import Path
from typing import Any

import typer

from swf_temporal.cli.output import print_json
from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault
from swf_temporal.interpreter.host import Happening
from swf_temporal.model.workflow import Workflow
from swf_temporal.simulation.scenario import answering
from swf_temporal.simulation.simulate import Simulation, simulate

_NOT_SCRIPTED = "NotScripted"
"""The code of a call that nobody said the answer of."""


def run_simulated(workflows: list[Workflow], data: JSON, events: list[dict[str, Any]], script: Path | None) -> int:
    """Simulate the first of *workflows*, print its output, and return the exit code: 0 if it completed, else 1."""
    first, *others = workflows
    functions = {} if script is None else answering(script)
    ended = simulate(first, data, events=events, functions=functions, definitions=others)
    if ended.status == "completed":
        print_json(ended.output)
        return 0
    typer.echo(f"error: {_why(ended)}", err=True)
    return 1


def _why(ended: Simulation) -> str:
    if ended.status == "waiting":
        awaited = [entry for entry in ended.trace if entry.kind is Happening.EVENT_AWAITED]
        if not awaited:
            return "the workflow waits for something that cannot come"
        return f"the workflow waits in state {awaited[-1].state!r} for {awaited[-1].name}: give it with --event"
    fault = ended.fault or WorkflowFault(ended.status)
    where = f" in state {fault.state!r}" if fault.state else ""
    hint = "\n  say in a file what it answers, and give that with --script" if fault.code == _NOT_SCRIPTED else ""
    return f"the workflow failed{where}: {fault.name}: {fault.message}{hint}"
