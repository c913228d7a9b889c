"""A short soak of runs that are watched while they work long."""

import pytest

from tests.sampling import chance
from tests.soak_watched.__main__ import watch


@pytest.mark.timeout(500)
async def test_runs_that_are_watched_and_whose_workers_are_killed() -> None:
    seed = chance("watched").randrange(1000)
    found = await watch(kills=1, seed=seed, states=400, slow=8, least=200_000, patience=200)
    assert {name: (one.stuck, one.wrong, one.unanswered) for name, one in found.items()} == dict.fromkeys(
        ["chain", "conditions"], ([], [], [])
    )
    assert {one.killed for one in found.values()} == {1}
    assert all(one.queries > len(("status", "trace")) * one.instances for one in found.values())
