"""What stopped workers or runs once, on a worker of its own: none dies, and every run ends or goes on."""

from contextlib import suppress

import pytest

from swf_temporal import InvalidDefinition, simulate
from swf_temporal.temporal.server import local_server
from tests.hostile.cases import RAW, Case, cases
from tests.hostile.running import Outcome, hostile_worker, run_all

# What is nested this deeply has the garbage collector find what tests of other modules left open.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
ON_WORKER = (
    "expression/endless",
    "sum/ten slow actions",
    "size/target 1000000000",
    "depth/growing",
    "schema/patternProperties (a+)+",
    "jsonpath/descents",
)
"""A sample: one of each kind."""

SIMULATED = (
    "expression/endless",
    "size/computed target",
    "schema/24 levels of allOf",
    "syntax/50,000 sums",
    "syntax/50,000 brackets",
    "syntax/50,000 fields",
    "depth/growing array",
    "depth/target",
    "schema/cycle",
    "schema/uniqueItems",
    "schema/pattern 50,000 deep",
    "jsonpath/selectors of selectors",
    "jsonpath/50,000 names",
    "dsl/endless",
    "dsl/growing",
    "dsl/large loop",
    "dsl/long wait",
    "dsl/retries without end",
    "dsl/function of itself",
)


def _chosen(ids: tuple[str, ...]) -> list[Case]:
    found = {case.id: case for case in cases()}
    return [found[one] for one in ids]


@pytest.mark.timeout(900)  # on a busy machine a second of processor time is a minute
async def test_a_worker_survives_them() -> None:
    """It does not die; every run ends as completed or failed, or has come further."""
    told: list[Outcome] = []
    async with local_server() as server, hostile_worker(server.client) as hostile:
        outcomes = await run_all(hostile, _chosen(ON_WORKER), 2, told.append, patience=240)
    assert hostile.deaths == []
    assert [one for one in outcomes if one.how not in ("completed", "failed", "goes on")] == []
    assert [one for one in outcomes if one.told.startswith("InternalError")] == []


@pytest.mark.parametrize("case", _chosen(SIMULATED), ids=lambda case: case.id)
def test_a_simulation_ends(case: Case) -> None:
    definition, data = case.made()
    assert not isinstance(data, RAW)
    name = None
    with suppress(InvalidDefinition):
        ended = simulate(definition, data)
        name = None if ended.error is None else ended.error.name
    assert name != "InternalError"
