"""What measures settings of workers."""

import pytest

from bench.tuning import DEFAULTS, SETTINGS, measure, table


@pytest.mark.temporal
async def test_workers_with_settings_work_in_turn() -> None:
    """Each has a figure for each round, without the one in which it gets warm."""
    chosen = {name: SETTINGS[name] for name in (DEFAULTS, "`--pollers auto`")}
    found = await measure(chosen, rounds=1, batch=2, at_once=2)
    assert [(len(one.rates), len(one.cpu)) for one in found.values()] == [(1, 1), (1, 1)]
    assert table(found).count("\n| ") == 2
