"""Do workflows do what scenarios claim?"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import typer

from swf_temporal.cli.junit import write_junit
from swf_temporal.cli.logs import be_quiet
from swf_temporal.cli.output import Form, print_data
from swf_temporal.cli.scenario_host import scenario_host
from swf_temporal.cli.stopping import beside, run_until_stopped
from swf_temporal.cli.testing import Where
from swf_temporal.cli.verdicts import Verdict
from swf_temporal.errors import InvalidDefinition, UsageError
from swf_temporal.simulation.scenario import (
    Observed,
    Scenario,
    canonical,
    check,
    check_reading,
    find_scenarios,
    observed,
    world_of,
)


def test_all(paths: Iterable[Path], where: Where, junit: Path | None, only: str | None, form: Form) -> None:
    """Put the scenarios at *paths* to the test, those with the text *only* if there is one, and exit with the code."""
    found = [one for one in find_scenarios(paths) if only is None or _matches(one, only)]
    if not found:
        raise UsageError("there is no scenario to test", "scenarios are YAML documents with the key `scenario`")
    be_quiet()
    run_until_stopped(_test(found, where, junit, form))


async def _test(scenarios: Sequence[Scenario], host: Where, junit: Path | None, form: Form) -> int:
    verdicts = []
    async for verdict in _verdicts(scenarios, host):
        if form is Form.TEXT:
            typer.echo(verdict)
        verdicts.append(verdict)
    if form is not Form.TEXT:
        print_data([verdict.to_json() for verdict in verdicts], form)
    if junit is not None:
        write_junit(junit, verdicts)
    failed = sum(bool(verdict.differences) for verdict in verdicts)
    left_out = sum(verdict.left_out is not None for verdict in verdicts)
    counts = [f"{len(verdicts) - failed - left_out} hold", f"{failed} do not"]
    typer.echo(", ".join(counts + ([f"{left_out} left out"] if left_out else [])), err=True)
    return int(failed > 0)


async def _verdicts(scenarios: Sequence[Scenario], host: Where) -> AsyncIterator[Verdict]:
    running = [scenario for scenario in scenarios if not scenario.is_refused]
    for scenario in scenarios:
        if scenario.is_refused:
            yield Verdict(scenario, "reading", tuple(check_reading(scenario)))
        elif host is Where.SIMULATION:
            yield _left_out(scenario, Where.SIMULATION) or (await beside(partial(_simulated, scenario)))[0]
    if host is Where.SIMULATION or not running:
        return
    async with scenario_host() as temporal:
        for scenario in running:
            seen: Observed | None = None
            if host is Where.BOTH:
                left_out = _left_out(scenario, Where.SIMULATION)
                verdict, seen = (left_out, None) if left_out else await beside(partial(_simulated, scenario))
                yield verdict
            yield _left_out(scenario, Where.TEMPORAL) or await _on_temporal(scenario, temporal.observe, seen)


def _left_out(scenario: Scenario, host: Where) -> Verdict | None:
    return None if host in scenario.hosts else Verdict(scenario, host, left_out=scenario.why)


def _simulated(scenario: Scenario) -> tuple[Verdict, Observed | None]:
    try:
        seen = observed(scenario, world_of(scenario).run(scenario.input))
    except InvalidDefinition as error:
        return Verdict(scenario, Where.SIMULATION, (str(error),)), None
    return Verdict(scenario, Where.SIMULATION, tuple(check(scenario, seen))), seen


async def _on_temporal(
    scenario: Scenario, observe: Callable[[Scenario], Awaitable[Observed]], simulated: Observed | None
) -> Verdict:
    try:
        seen = await observe(scenario)
    except InvalidDefinition as error:
        return Verdict(scenario, Where.TEMPORAL, (str(error),))
    differences = check(scenario, seen)
    if simulated is not None:
        differences += _apart(simulated, seen)
    return Verdict(scenario, Where.TEMPORAL, tuple(differences))


def _apart(simulated: Observed, seen: Observed) -> list[str]:
    """Return where the traces of two hosts part: for each lane the first entry that differs."""
    here, there = canonical(simulated.trace), canonical(seen.trace)
    found = []
    for lane in dict.fromkeys([*here, *there]):
        one, other = here.get(lane, []), there.get(lane, [])
        if one != other:
            number = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
            step = min(len(one), len(other)) if number is None else number
            found.append(
                f"trace of {lane or 'the workflow'}, step {step + 1}: in simulation {one[step : step + 1]}, "
                f"on Temporal {other[step : step + 1]}"
            )
    return found


def _matches(scenario: Scenario, text: str) -> bool:
    return any(text.casefold() in part.casefold() for part in (scenario.claim, str(scenario.file), *scenario.spec))
