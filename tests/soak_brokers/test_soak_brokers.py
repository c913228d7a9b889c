"""A short soak of brokers that are restarted and stalled."""

from pathlib import Path

import pytest

from tests.soak_brokers.brokers import FAMILIES
from tests.soak_brokers.soak import Size, Soak


@pytest.mark.timeout(500)
@pytest.mark.parametrize(
    "size",
    [
        Size(("nats", "mqtt"), keys=2, events=2, faults=2, turn=0.5, killed=("consume",)),
        pytest.param(Size(FAMILIES, keys=10, events=6, faults=12, turn=2.0), marks=pytest.mark.long),
    ],
    ids=["two brokers", "all"],
)
async def test_nothing_is_lost_and_nothing_doubled(size: Size, tmp_path: Path) -> None:
    found = await Soak(tmp_path, size).run()
    assert not {family: figures for family, figures in found.items() if not figures.is_right(size)}
    assert sum(figures.events for figures in found.values()) == len(size.families) * size.keys * size.events
