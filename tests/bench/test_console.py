"""That the benchmark of the console looks at what it says; not how long it takes."""

import pytest

from bench import console
from bench.console import AIMS, measure, table

pytestmark = pytest.mark.temporal


async def test_pages_of_the_console_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is asked for as often as wanted; the trace has as many entries as were asked for."""
    monkeypatch.setattr(console, "_WATCHED", 0.1)
    monkeypatch.setenv("TEMPORAL_DEBUG", "1")  # of the worker: on a busy machine a task may take two seconds
    measured = await measure(instances=60, entries=25, rounds=1, live=4)
    assert measured.entries == 25
    assert {name: len(those) for name, those in measured.times.items()} == dict.fromkeys(AIMS, 1)
    assert "| the list of 60 instances |" in table(60, measured)
    assert measured.live.startswith("4 live lists: ")
