"""The command `swf test`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from swf_temporal.app.logs import be_quiet
from swf_temporal.app.scenarios.verdicts import verdicts
from swf_temporal.app.stopping import run_until_stopped
from swf_temporal.cli.junit import write_junit
from swf_temporal.cli.options import ScenarioHost
from swf_temporal.cli.output import Form, print_data
from swf_temporal.errors import UsageError
from swf_temporal.simulation.scenario import Scenario, find_scenarios


def test_all(paths: Iterable[Path], where: ScenarioHost, junit: Path | None, only: str | None, form: Form) -> None:
    """Put the scenarios at *paths* to the test, those with the text *only* if there is one, and exit with the code."""
    found = [one for one in find_scenarios(paths) if only is None or _matches(one, only)]
    if not found:
        raise UsageError("there is no scenario to test", "scenarios are YAML documents with the key `scenario`")
    be_quiet()
    raise typer.Exit(run_until_stopped(_test(found, where, junit, form)))


async def _test(scenarios: Sequence[Scenario], host: ScenarioHost, junit: Path | None, form: Form) -> int:
    found = []
    running = verdicts(
        scenarios, in_simulation=host is not ScenarioHost.TEMPORAL, on_temporal=host is not ScenarioHost.SIMULATION
    )
    async for verdict in running:
        if form is Form.TEXT:
            typer.echo(verdict)
        found.append(verdict)
    if form is not Form.TEXT:
        print_data([verdict.to_json() for verdict in found], form)
    if junit is not None:
        write_junit(junit, found)
    failed = sum(bool(verdict.differences) for verdict in found)
    left_out = sum(verdict.left_out is not None for verdict in found)
    counts = [f"{len(found) - failed - left_out} passed", f"{failed} failed"]
    typer.echo(", ".join(counts + ([f"{left_out} left out"] if left_out else [])), err=True)
    return int(failed > 0)


def _matches(scenario: Scenario, text: str) -> bool:
    return any(text.casefold() in part.casefold() for part in (scenario.claim, str(scenario.file), *scenario.spec))
