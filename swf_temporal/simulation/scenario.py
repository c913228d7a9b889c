"""Runs a scenario in this process, in virtual time, and compares the outcome with the expectations.

A scenario is a YAML document with a workflow, its input, the results of its functions, its events, and the expected
outcome. The same scenario runs on every host: this module has everything that a host needs for that.
"""

import asyncio
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from swf_temporal.simulation.checking import canonical, check
from swf_temporal.simulation.clock import EPOCH
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.model.expectations import Expected
from swf_temporal.simulation.model.part import StubAnswer
from swf_temporal.simulation.model.scenario import Scenario
from swf_temporal.simulation.reading import (
    broken_in,
    check_reading,
    find_scenarios,
    read_scenarios,
    read_script,
    starts_of,
    workflows_of,
)
from swf_temporal.simulation.result import ObservedRun, Simulation
from swf_temporal.simulation.script import Scripted, Sleep, jitter_in, scripted
from swf_temporal.simulation.simulate import events_of
from swf_temporal.simulation.variables import VariableStore

if TYPE_CHECKING:
    from swf_temporal.simulation.services.stub_services import StubServices

__all__ = [
    "Expected",
    "ObservedRun",
    "Scenario",
    "Scripted",
    "Sleep",
    "StubAnswer",
    "answering",
    "canonical",
    "check",
    "check_reading",
    "context_of",
    "find_scenarios",
    "jitter_in",
    "observed",
    "read_scenarios",
    "read_script",
    "run",
    "scripted",
    "stub_services_of",
    "workflows_of",
]


def run(scenario: Scenario) -> tuple[Simulation | None, list[str]]:
    """Run *scenario* in this process; return the outcome, and all differences from what it expects.

    If its definition is expected to be refused, that is only read. Raises InvalidDefinition if another one cannot run.
    """
    if scenario.is_refused:
        return None, check_reading(scenario)
    simulation = context_of(scenario).run(scenario.input)
    return simulation, check(scenario, observed(scenario, simulation))


def context_of(scenario: Scenario) -> SimulationContext:
    """Return a fresh context in which *scenario* can run once."""
    workflows = workflows_of(scenario)
    context = SimulationContext(
        workflows,
        scripted(scenario.answers, _sleep),
        events_of(scenario.events),
        scenario.secrets,
        early=events_of(scenario.early, "early"),
        cancelling=scenario.cancels_waiting,
        stub_services=stub_services_of(scenario),
    )
    context.memo = scenario.memo
    context.environment = scenario.environment
    context.jitter = jitter_in(scenario)
    context.cancel_after = scenario.cancel_after
    context.start_time = scenario.start_time or EPOCH
    context.broken = broken_in(scenario)
    context.variables = VariableStore({}, workflows, scenario.file.parent)
    return context


def stub_services_of(scenario: Scenario) -> "StubServices | None":
    """Return the services of *scenario*, for one run, or None if it has none. The caller closes them."""
    if not scenario.services:
        return None
    from swf_temporal.simulation.services.stub_services import StubServices  # noqa: PLC0415 - heavy, and seldom needed

    return StubServices(scenario.services.values(), scenario.secrets)


def answering(path: Path) -> dict[str, Scripted]:
    """Return the functions in the script at *path*, for one simulated run."""
    return scripted(read_script(path), _sleep)


def observed(scenario: Scenario, simulation: Simulation) -> ObservedRun:
    """Return *simulation*, a run of *scenario*, in the form in which runs are compared."""
    return ObservedRun(
        status=simulation.status,
        output=simulation.output,
        error=None if simulation.error is None else asdict(simulation.error),
        produced=simulation.produced_events,
        calls=simulation.calls,
        requests=simulation.requests,
        unanswered=simulation.unanswered,
        delays=simulation.delays,
        trace=simulation.trace,
        answers=simulation.answers,
        elapsed=simulation.elapsed,
        starts=starts_of(scenario),
    )


async def _sleep(duration: timedelta) -> None:
    await asyncio.sleep(duration.total_seconds())
