"""That the benchmark of several processes does what it says; not how fast they are."""

import pytest

from bench.processes import measure, table

pytestmark = [pytest.mark.temporal, pytest.mark.long]


async def test_processes_are_measured_and_killed() -> None:
    """Each does its batch in each round; each of two processes is killed, and no instance is lost."""
    figures = await measure(rounds=1, batch=2, steps=5)
    assert {processes: len(rates) for processes, rates in figures.rates.items()} == {1: 1, 2: 1}
    assert len(figures.back) == 2
    assert figures.lost == 0
    assert "times as much as one, the median of 1 rounds" in table(figures)
