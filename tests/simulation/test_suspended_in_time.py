"""A run that is suspended while it waits goes on waiting until the same moment as if nothing had happened."""

import asyncio
from datetime import timedelta

import pytest

from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.scenario import Scenario, context_of
from tests.corpus import CORPUS
from tests.sampling import sample
from tests.simulation.test_scenarios import _can_be_suspended, _essence, _id, _takes_time, as_record

PARTS = 5
"""In how many parts the time of a run is cut; it is suspended between two of them, or each two in a run of all."""


def _passes_time(scenario: Scenario) -> bool:
    return bool(scenario.expect.elapsed) and _can_be_suspended(scenario)


@pytest.mark.parametrize("scenario", [one for one in CORPUS if _passes_time(one)], ids=_id)
def test_survives_suspension_at_any_time(scenario: Scenario) -> None:
    """Suspended at any time, with all its sub-workflows, and resumed, a run comes to the same, and as late."""
    undisturbed = _suspended(scenario, None)
    for part in sample(range(1, PARTS), _id(scenario), 1):
        again = _suspended(scenario, undisturbed.elapsed * part / PARTS)
        assert _essence(again) == _essence(undisturbed), f"{scenario}: suspended after {part}/{PARTS} of its time"
        if not _takes_time(scenario, undisturbed):
            assert again.elapsed == undisturbed.elapsed, f"{scenario}: suspended after {part}/{PARTS} of its time"


def _suspended(scenario: Scenario, after: timedelta | None) -> Simulation:
    """Run *scenario*; all runs that there are when so much time has passed are suspended then."""
    context = context_of(scenario)
    runs: list[Run] = []
    is_set = after is None

    def suspend() -> None:
        for run in runs:
            run.suspend()

    def notice(run: Run, _: TraceEntry) -> None:
        nonlocal is_set
        # A run is cancelled when nothing else is due: what is to happen later would come before that.
        if after is not None and not is_set and (run.execution.is_cancelled or not scenario.cancels_waiting):
            asyncio.get_running_loop().call_later(after.total_seconds(), suspend)
            is_set = True
        if run not in runs:
            runs.append(run)

    context.on_trace, context.resumed = notice, as_record
    return context.run(scenario.input)
