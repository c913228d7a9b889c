"""Every scenario of the corpus holds in simulation, and holds as well if the run is suspended anywhere."""

import json
from typing import Any

import pytest

from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.scenario import Scenario, canonical, context_of, run
from tests.corpus import CORPUS, ROOT
from tests.sampling import sample

SUSPENSIONS = 1, 60
"""At how many of its steps a run is suspended: at one, or many in a run of the tests that tries everything."""

RACES = {
    "Continues after the first branch, whatever the sub-workflow of the other does",
    "Calls as often as there is time in each branch and in each iteration", "Fails with the first action that does",
    "Waits for the first success alone in the mode or", "Gives up all elements after the timeout of a foreach",
    "Gives up all actions after the timeout of a parallel state",
    "Goes no further in a branch that was given up in the moment in which its sub-workflow ended",
    "Wins with a branch of several tasks before one that gives up a call",
    "Wins with a branch that gives up a workflow before it starts, before one that starts another and leaves it",
}  # fmt: skip
"""Claims about who is first. A run that is suspended waits for calls and sub-workflows, and others are first then."""


def _id(scenario: Scenario) -> str:
    return f"{scenario.file.relative_to(ROOT)}: {scenario.claim}"


def _can_be_suspended(scenario: Scenario) -> bool:
    """Tell whether a suspension changes nothing, and there are steps between which it can be.

    A cycle that is given up after 10,000 has too many.
    """
    if scenario.claim in RACES:
        return False
    return not scenario.is_refused and scenario.expect.error.name != "StepLimitExceeded"


@pytest.mark.parametrize("scenario", CORPUS, ids=_id)
def test_holds(scenario: Scenario) -> None:
    _, differences = run(scenario)
    assert not differences, "\n".join([str(scenario), *differences])


@pytest.mark.parametrize("scenario", [one for one in CORPUS if _can_be_suspended(one)], ids=_id)
def test_survives_suspension(scenario: Scenario) -> None:
    """Suspended after any of its steps, and resumed from a record of plain JSON, a run comes to the same."""
    undisturbed, steps = _suspended(scenario, 0)
    for step in sample(range(1, steps + 1), _id(scenario), *SUSPENSIONS):
        run_again, _ = _suspended(scenario, step)
        assert _essence(run_again) == _essence(undisturbed), f"{scenario}: suspended at step {step}"
        if not _takes_time(scenario, undisturbed):
            assert run_again.elapsed == undisturbed.elapsed, f"{scenario}: suspended at step {step}"


def _suspended(scenario: Scenario, at: int) -> tuple[Simulation, int]:
    """Run *scenario*; the instance that takes its step number *at*, if any, is suspended then. Also count the steps."""
    context = context_of(scenario)
    steps = 0

    def suspend(interpretation: Run, _: TraceEntry) -> None:
        nonlocal steps
        steps += 1
        if steps == at:
            interpretation.suspend()

    context.on_trace, context.resumed = suspend, as_record
    return context.run(scenario.input), steps


def as_record(progress: dict[str, Any]) -> dict[str, Any]:
    """Return the progress of a suspended run as it is once it was written and read."""
    written: dict[str, Any] = json.loads(json.dumps(progress, allow_nan=False))
    return written


def _takes_time(scenario: Scenario, run_: Simulation) -> bool:
    """Tell whether calls take time: one in flight when a run is suspended is waited for before others begin."""
    scripted = any(one.takes for answers in scenario.answers.values() for one in answers)
    return scripted or bool(scenario.definitions) or any(e.kind is TraceKind.ACTION_RETRIED for e in run_.trace)


def _essence(simulation: Simulation) -> dict[str, Any]:
    own = ("id", "time")
    return {
        "status": simulation.status, "output": simulation.output, "error": simulation.error,
        "produced": [{k: v for k, v in event.items() if k not in own} for event in simulation.produced_events],
        "calls": sorted(json.dumps(call, sort_keys=True) for call in simulation.calls),
        "trace": canonical(simulation.trace),
    }  # fmt: skip
