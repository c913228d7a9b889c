"""Coverage of definitions by scenarios: as lines, and as a page with pictures."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.base.stopping import beside
from swf_temporal.drawing.course import Course, Coverage, course_of, coverage_of
from swf_temporal.drawing.model import xml_text
from swf_temporal.drawing.outline import WorkflowRef
from swf_temporal.drawing.svg import figure_of, page_with
from swf_temporal.languages.port import Definition
from swf_temporal.sdk.scenarios.host import scenario_host
from swf_temporal.simulation.scenario import (
    ObservedRun,
    Scenario,
    canonical,
    check,
    check_reading,
    context_of,
    observed,
    workflows_of,
)

SIMULATION, TEMPORAL = "simulation", "temporal"
"""The hosts, as scenarios name them."""


@dataclass(frozen=True, slots=True)
class Verdict:
    scenario: Scenario
    host: str
    """The host it ran on; `reading` if its definition is to be refused, so that it does not run."""
    differences: tuple[str, ...] = ()
    """Differences from what was expected."""
    left_out: str | None = None
    """Why it did not run there, if it did not."""
    run: ObservedRun | None = None
    """The observed run."""

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
    """Yield whether the expectations of each of *scenarios* hold, on each host where it is to run.

    If both are requested, both traces have to be the same as well.
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
    """Return where the traces of two hosts diverge: the first entry of each lane that differs."""
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


@dataclass(slots=True)
class Covered:
    """A definition, and the scenarios that ran it."""

    definition: Definition
    runs: list[tuple[Verdict, Course]] = field(default_factory=list)

    @property
    def coverage(self) -> Coverage:
        """The coverage of all runs together."""
        return coverage_of(self.definition.outline, (course for _, course in self.runs))

    @property
    def words(self) -> str:
        """The coverage, in a line."""
        coverage, called = self.coverage, WorkflowRef(self.definition.id or "", self.definition.version)
        reached, total = coverage.counts
        return (
            f"{int(coverage.percent)} % of {called} ({self.definition.source.name}): "
            f"{reached} of {total} states, branches and ways"
        )

    @property
    def lines(self) -> Iterator[str]:
        """The uncovered parts, a line for each."""
        coverage = self.coverage
        yield from (f"not reached: {path}" for path in coverage.unreached)
        yield from (f"not taken: {way}" for way in coverage.untaken)


def covered_by(verdicts: Sequence[Verdict]) -> list[Covered]:
    """Return the definitions that scenarios ran, each once, in the order of their first run."""
    found: dict[str, Covered] = {}
    for verdict in verdicts:
        if verdict.run is None:
            continue
        try:
            definition = workflows_of(verdict.scenario)[0]
        except InvalidDefinition:  # its verdict says so
            continue
        covered = found.setdefault(definition.digest, Covered(definition))
        if any(one.scenario is verdict.scenario for one, _ in covered.runs):
            continue  # it ran on the other host, too
        covered.runs.append((verdict, course_of(definition.outline, verdict.run.trace)))
    return list(found.values())


def page_about(found: Sequence[Covered]) -> str:
    """Return a page with the coverage of each definition, and the progress of each of its scenarios to unfold."""
    return page_with("Scenarios", _body(found))


def _body(found: Sequence[Covered]) -> Iterator[str]:
    ids = (f"g{number}-" for number in count(1))
    for covered in found:
        yield figure_of(covered.definition.picture(covered.coverage, f"coverage: {covered.words}"), next(ids))
        for verdict, course in covered.runs:
            mark = "✗" if verdict.differences else "✓"
            yield f"<details><summary>{mark} {xml_text(f'{verdict.scenario} ({verdict.host})')}</summary>"
            if verdict.differences:
                lines = [line for one in verdict.differences for line in one.splitlines()]
                yield "\n".join(["<pre>", *map(xml_text, lines), "</pre>"])
            yield figure_of(covered.definition.picture(course, verdict.scenario.claim, course.words), next(ids))
            yield "</details>"
