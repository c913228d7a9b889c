"""A soak through a proxy that harms connections: nothing is lost, stuck or wrong. It is small, unless all is tried."""

from pathlib import Path

import pytest

from tests.soak.service import service
from tests.soak.soak import Figures, Size, Soak

pytestmark = [pytest.mark.temporal, pytest.mark.timeout(900)]  # the whole takes minutes


async def soaked(folder: Path, size: Size) -> Figures:
    async with service() as served:
        return await Soak(folder, size, None, served).run()


async def test_the_network_does_harm(tmp_path: Path) -> None:
    size = Size(instances=8, at_once=8, workers=1, kills=0, restarts=0, harms=4, turn=0.5)
    figures = await soaked(tmp_path, size)
    assert figures.is_right, figures
    assert (sum(figures.instances.values()), figures.harms) == (8, 4)


@pytest.mark.long
async def test_the_network_does_harm_while_workers_are_killed(tmp_path: Path) -> None:
    figures = await soaked(tmp_path, Size(instances=300, kills=8, restarts=1, harms=30))
    assert figures.is_right, figures
    assert (sum(figures.instances.values()), figures.harms) == (300, 30)
