"""The results of scenarios, on each host."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.base.stopping import beside
from swf_temporal.sdk.scenarios.host import scenario_host
from swf_temporal.simulation.scenario import (
    ObservedRun,
    Scenario,
    canonical,
    check,
    check_reading,
    context_of,
    observed,
)

SIMULATION, TEMPORAL = "simulation", "temporal"
"""The hosts, as scenarios name them."""


@dataclass(frozen=True, slots=True)
class Verdict:
    scenario: Scenario
    host: str
    """Where it ran; `reading` where its definition is to be refused, so that it runs nowhere."""
    differences: tuple[str, ...] = ()
    """What was not as it was expected."""
    left_out: str | None = None
    """Why it did not run there, if it did not."""
    run: ObservedRun | None = None
    """What it did."""

    def to_json(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "scenario": self.scenario.claim,
            "file": str(self.scenario.file),
            "line": self.scenario.line,
            "host": str(self.host),
            "holds": None if self.left_out is not None else not self.differences,
            "differences": list(self.differences),
        }
        return facts if self.left_out is None else {**facts, "leftOut": self.left_out}

    def __str__(self) -> str:
        """Return a line for people, and below it the differences."""
        if self.left_out is not None:
            return f"-  {self.scenario} ({self.host}: {self.left_out})"
        if not self.differences:
            return f"✓  {self.scenario} ({self.host})"
        lines = [line for difference in self.differences for line in difference.splitlines()]
        return "\n     ".join([f"✗  {self.scenario} ({self.host})", *lines])


async def verdicts(scenarios: Sequence[Scenario], *, in_simulation: bool, on_temporal: bool) -> AsyncIterator[Verdict]:
    """Yield whether what each of *scenarios* claims holds, on each host where it is to run.

    Where both are asked for, the traces of both have to be the same as well.
    """
    running = [scenario for scenario in scenarios if not scenario.is_refused]
    for scenario in scenarios:
        if scenario.is_refused:
            yield Verdict(scenario, "reading", tuple(check_reading(scenario)))
        elif not on_temporal:
            yield _left_out(scenario, SIMULATION) or (await beside(partial(_simulated, scenario)))[0]
    if not on_temporal or not running:
        return
    async with scenario_host() as temporal:
        for scenario in running:
            seen: ObservedRun | None = None
            if in_simulation:
                left_out = _left_out(scenario, SIMULATION)
                verdict, seen = (left_out, None) if left_out else await beside(partial(_simulated, scenario))
                yield verdict
            yield _left_out(scenario, TEMPORAL) or await _on_temporal(scenario, temporal.observe, seen)


def _left_out(scenario: Scenario, host: str) -> Verdict | None:
    return None if host in scenario.hosts else Verdict(scenario, host, left_out=scenario.why)


def _simulated(scenario: Scenario) -> tuple[Verdict, ObservedRun | None]:
    try:
        seen = observed(scenario, context_of(scenario).run(scenario.input))
    except InvalidDefinition as error:
        return Verdict(scenario, SIMULATION, (str(error),)), None
    return Verdict(scenario, SIMULATION, tuple(check(scenario, seen)), run=seen), seen


async def _on_temporal(
    scenario: Scenario, observe: Callable[[Scenario], Awaitable[ObservedRun]], simulated: ObservedRun | None
) -> Verdict:
    try:
        seen = await observe(scenario)
    except InvalidDefinition as error:
        return Verdict(scenario, TEMPORAL, (str(error),))
    differences = check(scenario, seen)
    if simulated is not None:
        differences += _apart(simulated, seen)
    return Verdict(scenario, TEMPORAL, tuple(differences), run=seen)


def _apart(simulated: ObservedRun, seen: ObservedRun) -> list[str]:
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
