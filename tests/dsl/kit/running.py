"""Running scenarios of the kit, and checking what they expect."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import yaml

from swf_temporal.base.client_errors import RunEnded
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.base.stopping import beside
from swf_temporal.runtime.host import TraceKind
from swf_temporal.sdk.scenarios.host import ScenarioHost
from swf_temporal.simulation.scenario import ObservedRun, Scenario, context_of, observed, read_scenarios, workflows_of
from swf_temporal.temporal.client import result
from tests.dsl.kit.features import KitScenario, Step
from tests.dsl.kit.services import SERVICES, refused

DEFINITION: Final = "a workflow with definition:"
INPUT: Final = "given the workflow input is:"
EXECUTED: Final = "the workflow is executed"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a workflow of the kit ended."""

    run: ObservedRun
    error: Mapping[str, JSON] = field(default_factory=dict)
    """The problem details of the error that it faulted with."""

    @property
    def begun(self) -> list[str]:
        """The tasks that began, in order."""
        return [one.name for one in self.run.trace if one.kind is TraceKind.STATE_ENTERED]

    @property
    def completed(self) -> list[str]:
        """The tasks that completed, in order."""
        return [one.name for one in self.run.trace if one.kind is TraceKind.STATE_LEFT]


Running: TypeAlias = Callable[[Scenario], Awaitable[Ended]]


async def simulate(scenario: Scenario) -> Ended:
    """Run *scenario* in simulation."""

    def run() -> Ended:
        simulated = context_of(scenario).run(scenario.input)
        return Ended(observed(scenario, simulated), _problem(None if simulated.fault is None else simulated.fault.body))

    return await beside(run)


def on_temporal(host: ScenarioHost) -> Running:
    """Return what runs scenarios on a Temporal server."""

    async def run(scenario: Scenario) -> Ended:
        seen = await host.observe(scenario)
        if seen.status != "failed":
            return Ended(seen)
        handle = host.client.get_workflow_handle(workflows_of(scenario)[0].id)
        try:
            await result(handle)
        except RunEnded as ended:
            return Ended(seen, _problem(None if ended.fault is None else ended.fault.body))
        raise AssertionError

    return run


def _problem(body: JSON) -> Mapping[str, JSON]:
    return body if isinstance(body, dict) else {}


async def failures(one: KitScenario, run: Running) -> list[str]:
    """Run a scenario of the kit; return the steps that do not hold."""
    documents = {step.text: step.document for step in one.steps if step.document is not None}
    with TemporaryDirectory() as folder:
        try:
            ended = await run(_scenario(one, documents, Path(folder)))
        except InvalidDefinition as invalid:
            return [f"the definition is refused: {invalid}"]
    expected = [step for step in one.steps if step.text not in (DEFINITION, INPUT, EXECUTED)]
    found = [f"{step.text}: {failure}" for step in expected for failure in _of_step(step, ended)]
    return [*found, *ended.run.unanswered, *refused(ended.run.requests)]


def _scenario(one: KitScenario, documents: Mapping[str, str], folder: Path) -> Scenario:
    """Return the workflow of the kit, as it is written, as a scenario with the services that the kit calls."""
    (folder / "workflow.yaml").write_text(documents[DEFINITION], encoding="utf-8")
    given = yaml.safe_load(documents[INPUT]) if INPUT in documents else {}
    written = {"scenario": one.name, "workflow": "workflow.yaml", "input": given, "services": SERVICES}
    file = folder / "scenarios.yaml"
    file.write_text(json.dumps(written), encoding="utf-8")
    return read_scenarios(file)[0]


def _of_step(step: Step, ended: Ended) -> list[str]:
    for pattern, check in _STEPS.items():
        if match := re.fullmatch(pattern, step.text):
            wanted = None if step.document is None else yaml.safe_load(step.document)
            return check(ended, match, wanted)
    return ["this step is not known"]


def _status(wanted: str) -> "_Check":
    def check(ended: Ended, _: re.Match[str], expected: JSON) -> list[str]:
        if ended.run.status != wanted:
            return [f"it {ended.run.status}, {dict(ended.run.error or {})}"]
        if expected is None:
            return []
        if wanted == "completed":
            return _unequal(expected, ended.run.output)
        assert isinstance(expected, dict)
        return [text for key, value in expected.items() for text in _unequal(value, ended.error.get(key), key)]

    return check


def _unequal(expected: JSON, actual: JSON, what: str = "it") -> list[str]:
    return [] if expected == actual else [f"{what} is {json.dumps(actual)}, not {json.dumps(expected)}"]


_NOTHING: Final = object()


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key, _NOTHING) if isinstance(value, dict) else _NOTHING
    return value


def _properties(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
    paths = re.findall(r"'([^']+)'", match[1])
    return [f"there is no {path!r}" for path in paths if _at(ended.run.output, path) is _NOTHING]


def _property(ended: Ended, match: re.Match[str], expected: JSON) -> list[str]:
    found = _at(ended.run.output, match[1])
    return [f"there is no {match[1]!r}"] if found is _NOTHING else _unequal(expected, found, match[1])


def _items(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
    found = _at(ended.run.output, match[1])
    return _unequal(int(match[2]), len(found) if isinstance(found, list | dict) else None, "the number of items")


def _first(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
    return _unequal(match[1], next(iter(ended.begun), None), "the first task")


def _last(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
    return _unequal(match[1], next(reversed(ended.begun), None), "the last task")


def _before(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
    return _in_order(ended, match[1], match[2])


def _after(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
    return _in_order(ended, match[2], match[1])


def _in_order(ended: Ended, one: str, other: str) -> list[str]:
    places = [ended.begun.index(name) if name in ended.begun else None for name in (one, other)]
    if None in places:
        return [f"the tasks that began are {ended.begun}"]
    return [] if places == sorted(places) else [f"they began in the order {ended.begun}"]  # type: ignore[type-var]


def _task_completed(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
    return [] if match[1] in ended.completed else [f"the tasks that completed are {ended.completed}"]


def _task_ended_as(status: str) -> "_Check":
    def check(ended: Ended, match: re.Match[str], _: JSON) -> list[str]:
        is_broken_off = match[1] in ended.begun and match[1] not in ended.completed
        return [] if is_broken_off and ended.run.status == status else ["it did not"]

    return check


_Check: TypeAlias = Callable[[Ended, "re.Match[str]", JSON], list[str]]
_STEPS: Final[Mapping[str, _Check]] = {
    r"the workflow should complete(?: with output:)?": _status("completed"),
    r"the workflow should fault(?: with error:)?": _status("failed"),
    r"the workflow should cancel": _status("cancelled"),
    r"the workflow output should have properties (.*)": _properties,
    r"the workflow output should have a '([^']+)' property with value:": _property,
    r"the workflow output should have a '([^']+)' property containing (\d+) items": _items,
    r"(\w+) should run first": _first,
    r"(\w+) should run last": _last,
    r"(\w+) should run before (\w+)": _before,
    r"(\w+) should run after (\w+)": _after,
    r"(\w+) should complete": _task_completed,
    r"(\w+) should cancel": _task_ended_as("cancelled"),
    r"(\w+) should fault": _task_ended_as("failed"),
}
"""What each kind of step checks. The kit's features have no step that looks at the output or the error of one task."""
