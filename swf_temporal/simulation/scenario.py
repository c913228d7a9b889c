"""Runs a scenario in this process, in virtual time, and compares the outcome with the expectations.

A scenario is a YAML document with a workflow, its input, the results of its functions, its events, and the expected
outcome. The same scenario runs on every host: this module has everything that a host needs for that.
"""

import asyncio
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from swf_temporal.simulation.checking import canonical, check
from swf_temporal.simulation.clock import EPOCH
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.definitions import broken_in, check_reading, starts_of, workflows_of
from swf_temporal.simulation.model.expectations import Expected
from swf_temporal.simulation.model.part import ScenarioPart, StubAnswer
from swf_temporal.simulation.model.scenario import Scenario
from swf_temporal.simulation.reading import find_scenarios, read_scenarios, read_script
from swf_temporal.simulation.result import ObservedRun, Simulation
from swf_temporal.simulation.script import Scripted, Sleep, jitter_in, scripted
from swf_temporal.simulation.simulate import events_of
from swf_temporal.simulation.variables import VariableStore
from swf_temporal.text.model_errors import DIALECT, field_docs

if TYPE_CHECKING:
    from swf_temporal.simulation.services.stub_services import StubServices


def scenario_schema(title: str = "Scenario of Serverless Workflow") -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one scenario, a document of a file, with that *title*."""
    schema = Scenario.model_json_schema(schema_generator=_Generator)
    return {"$schema": DIALECT, **schema, "title": title}


class _Generator(GenerateJsonSchema):
    """Generates the schemas of what authors may write for the models' types."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, with the docstrings of its fields."""
        written = super().model_schema(schema)
        for kind in (one for one in schema["cls"].__mro__ if issubclass(one, ScenarioPart)):
            for field, text in field_docs(kind):
                name = kind.model_fields[field].alias or field if field in kind.model_fields else field
                if name in written.get("properties", {}):
                    written["properties"][name].setdefault("description", text)
        return written

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of an optional key: null is not allowed."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema of a value with a default, including that if it is meaningful."""
        written = super().default_schema(schema)
        if not written.get("default") or not isinstance(written["default"], str | int):
            written.pop("default", None)
        return written

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - asked for by the library
        """Return False: a title that repeats the name of its key is useless."""
        return False


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
