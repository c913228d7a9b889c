"""That all contenders do the same work, and what local calls save in events; not how long they take."""

import pytest

from bench.local_calls import measure, table

pytestmark = pytest.mark.temporal


async def test_local_calls_cost_a_marker_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many events as local activities by hand, and far fewer than regular ones."""
    monkeypatch.setenv("TEMPORAL_DEBUG", "1")  # of the workers: on a busy machine a task may take two seconds
    rounds = await measure(calls=10, rounds=1, batch=1)
    [events] = [{name: cost.events for name, cost in one.items()} for one in rounds]
    assert events == {"local calls": 15, "regular by hand": 65, "local by hand": 15}
    assert "| local calls : by hand |" in table(rounds)
