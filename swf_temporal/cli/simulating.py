"""`swf run --simulate`: a run in virtual time, with scripted answers of functions."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError, WorkflowFault
from swf_temporal.base.stopping import beside
from swf_temporal.cli.output import OutputFormat, print_data
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceKind
from swf_temporal.simulation.clock import MAX_STEPS
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.simulate import simulate
from swf_temporal.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from swf_temporal.simulation.script import Scripted

_HOW = {
    "NotScripted": "write its answer to a file, and pass that with --script",
    "UnknownSecret": "set it as for a worker, by SWF_SECRET_<NAME> or SWF_SECRETS_FILE; a made-up value is enough",
}
"""Hints for supplying what is missing, by the code of a fault."""


async def run_simulated(
    workflows: list[Definition],
    data: JSON,
    events: list[dict[str, Any]],
    script: Path | None,
    form: OutputFormat,
    max_steps: int | None,
) -> int:
    """Simulate the first of *workflows*, print its output, and return the exit code: 0 if it completed, else 1.

    It is aborted after *max_steps*, or the default number. Secrets come from the environment, as for a worker.
    """
    first, *others = workflows
    functions = _scripted(script)
    _refuse_unknown(functions, workflows, script)
    declared = [name for workflow in workflows for name in workflow.secrets]
    secrets = _secrets(declared)
    ended = await beside(
        lambda: simulate(
            first,
            data,
            events=events,
            functions=functions,
            definitions=others,
            secrets=secrets,
            max_steps=max_steps or MAX_STEPS,
        )
    )
    if ended.status == "completed":
        print_data(_hidden(ended.output, secrets), form)
        return 0
    typer.echo(f"error: {_scrubbed(_why(ended, first.words.state), secrets)}", err=True)
    return 1


def _secrets(declared: list[str]) -> dict[str, JSON]:
    if not declared:
        return {}
    from swf_temporal.functions.secrets import Secrets

    return dict(Secrets.from_environment(os.environ).as_mapping(declared))


def _hidden(output: JSON, secrets: dict[str, JSON]) -> JSON:
    if not secrets:
        return output
    from swf_temporal.functions.secrets import withhold

    return withhold(output, secrets)


def _scrubbed(text: str, secrets: dict[str, JSON]) -> str:
    if not secrets:
        return text
    from swf_temporal.functions.secrets import scrub

    return str(scrub(text, secrets))


def _scripted(script: Path | None) -> "dict[str, Scripted]":
    if script is None:
        return {}
    from swf_temporal.simulation.scenario import answering

    return answering(script)


def _refuse_unknown(scripted: Iterable[str], workflows: list[Definition], script: Path | None) -> None:
    """Raise UsageError if *script* has an answer for a name that is not a function: it would never be used."""
    known = [use.function.name for workflow in workflows for use in workflow.functions]
    for name in scripted:
        if name not in known:
            of = "that has no functions" if not known else f"whose functions are {', '.join(dict.fromkeys(known))}"
            raise UsageError(
                f"{script} has an answer of {name!r}, which is not a function of {workflows[0].id!r}",
                did_you_mean(name, known) or f"it is for the answers of functions of a definition {of}",
            )


def _why(ended: Simulation, state_word: str) -> str:
    if ended.status == "waiting":
        awaited = [entry for entry in ended.trace if entry.kind is TraceKind.EVENT_AWAITED]
        if not awaited:
            return "the workflow waits for something that cannot happen"
        return f"the workflow waits in {state_word} {awaited[-1].state!r} for {awaited[-1].name}: pass it with --event"
    fault = ended.fault or WorkflowFault(ended.status)
    where = f" in {state_word} {fault.state!r}" if fault.state else ""
    how = _HOW.get(fault.code)
    message = fault.message if how is None else f"{fault.message.partition(': ')[0]}\n  {how}"
    return f"the workflow failed{where}: {fault.name}: {message}"
