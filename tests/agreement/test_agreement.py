"""Simulation and Temporal agree on generated definitions; `python -m tests.agreement` asks of more of them."""

import pytest

from swf_temporal.app.scenarios.host import scenario_host
from tests.agreement.comparing import Compared, compare
from tests.agreement.generating import scenario

COUNT = 200
SEED = 20_000
DIFFERED = (1842, 2406, 2615, 2665)
"""Seeds with which a sub-workflow is broken off in the moment in which it is started: it was tried again."""

pytestmark = pytest.mark.timeout(900)  # half a minute, and much more on a machine that is busy


@pytest.fixture(scope="module")
async def compared() -> list[Compared]:
    """Some hundred scenarios that ran on both hosts."""
    async with scenario_host() as host:
        return await compare(host, [scenario(seed) for seed in (*range(SEED, SEED + COUNT), *DIFFERED)])


async def test_both_hosts_agree(compared: list[Compared]) -> None:
    """They end alike, at the same time, having called and produced the same, by the same course."""
    told = [f"{one.document['scenario']}: {'; '.join(one.differences)}" for one in compared if one.differences]
    assert not told, "\n".join(told)


async def test_what_is_generated_is_worth_comparing(compared: list[Compared]) -> None:
    """Nearly all definitions can run; they end in every way, take time, call functions and fail."""
    seen = [one.simulated for one in compared if one.simulated is not None]
    assert len(seen) > 0.9 * COUNT
    assert {one.status for one in seen} == {"completed", "failed", "waiting", "cancelled"}
    assert sum(bool(one.elapsed) for one in seen) > COUNT / 2
    assert sum(bool(one.calls) for one in seen) > COUNT / 2
    assert len({str(one.error["name"]) for one in seen if one.error}) > 1


def test_the_same_seed_makes_the_same() -> None:
    """What differed once can be made again."""
    assert scenario(7) == scenario(7)
    assert scenario(7) != scenario(8)
