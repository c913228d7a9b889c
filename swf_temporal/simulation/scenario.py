"""Runs a scenario in this process, in virtual time, and compares what came of it with what it claims.

A scenario is a document of YAML that names a workflow, gives it an input, answers for its functions and events, and
says what is expected. The same scenario runs on every host: this module holds all that a host needs for that.
"""

import asyncio
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from swf_temporal.simulation.checking import Observed, canonical, check
from swf_temporal.simulation.definitions import check_reading, workflows_of
from swf_temporal.simulation.description import UNSAID, Answer, Expected, Scenario
from swf_temporal.simulation.reading.scenarios import find_scenarios, read_scenarios, read_script
from swf_temporal.simulation.script import Scripted, Sleep, jitter_in, scripted
from swf_temporal.simulation.simulate import Simulation, SimulationContext, events_of
from swf_temporal.simulation.starts import starts_of

if TYPE_CHECKING:
    from swf_temporal.simulation.services.outside import StubServices

__all__ = [
    "UNSAID",
    "Answer",
    "Expected",
    "Observed",
    "Scenario",
    "Scripted",
    "Sleep",
    "answering",
    "canonical",
    "check",
    "check_reading",
    "find_scenarios",
    "jitter_in",
    "observed",
    "outside_of",
    "read_scenarios",
    "read_script",
    "run",
    "scripted",
    "workflows_of",
    "world_of",
]


def run(scenario: Scenario) -> tuple[Simulation | None, list[str]]:
    """Run *scenario* in this process; return what came of it, and every difference from what it expects.

    One whose definition is expected to be refused is only read. Raises InvalidDefinition if another's cannot run.
    """
    if scenario.is_refused:
        return None, check_reading(scenario)
    simulation = world_of(scenario).run(scenario.input)
    return simulation, check(scenario, observed(scenario, simulation))


def world_of(scenario: Scenario) -> SimulationContext:
    """Return a fresh world in which *scenario* can run once."""
    world = SimulationContext(
        workflows_of(scenario),
        scripted(scenario.functions, _sleep),
        events_of(scenario.events),
        scenario.secrets,
        early=events_of(scenario.early, "early"),
        cancelling=scenario.cancel,
        outside=outside_of(scenario),
    )
    world.jitter = jitter_in(scenario)
    return world


def outside_of(scenario: Scenario) -> "StubServices | None":
    """Return the services of *scenario*, for one run, or None if it has none. Whoever asks closes them."""
    if not scenario.services:
        return None
    from swf_temporal.simulation.services.outside import StubServices  # noqa: PLC0415 - heavy, and seldom needed

    return StubServices(scenario.services, scenario.secrets)


def answering(path: Path) -> dict[str, Scripted]:
    """Return the functions that the script at *path* describes, for one simulated run."""
    return scripted(read_script(path), _sleep)


def observed(scenario: Scenario, simulation: Simulation) -> Observed:
    """Return what *simulation*, a run of *scenario*, did, in the form in which runs are compared."""
    return Observed(
        status=simulation.status,
        output=simulation.output,
        error=None if simulation.error is None else asdict(simulation.error),
        produced=simulation.produced_events,
        calls=simulation.calls,
        requests=simulation.requests,
        unanswered=simulation.unanswered,
        delays=simulation.delays,
        trace=simulation.trace,
        elapsed=simulation.elapsed,
        starts=starts_of(scenario),
    )


async def _sleep(duration: timedelta) -> None:
    await asyncio.sleep(duration.total_seconds())
