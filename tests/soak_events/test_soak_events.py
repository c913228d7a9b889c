"""A short soak of events over brokers that are restarted and stalled, and over a gateway that is killed."""

from pathlib import Path

import pytest

from tests.soak_events.brokers import HTTP, WAYS
from tests.soak_events.soak import Size, Soak


@pytest.mark.timeout(500)
@pytest.mark.parametrize(
    "size",
    [
        Size(("nats", HTTP, "mqtt"), keys=2, events=2, faults=3, turn=0.5, killed=("consume",)),
        pytest.param(Size(WAYS, keys=10, events=6, faults=12, turn=2.0, restarts=1), marks=pytest.mark.long),
    ],
    ids=["some", "all"],
)
async def test_nothing_is_lost_and_nothing_doubled(size: Size, tmp_path: Path) -> None:
    found = await Soak(tmp_path, size).run()
    assert not {way: figures for way, figures in found.items() if not figures.is_right(size)}
    assert sum(figures.events for figures in found.values()) == len(size.ways) * size.keys * size.events
