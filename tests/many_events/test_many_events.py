"""A short flood of events for one key."""

from pathlib import Path

import pytest

from tests.many_events.__main__ import flood

pytestmark = [pytest.mark.temporal, pytest.mark.timeout(300)]


@pytest.mark.parametrize("has_instance", [True, False], ids=["with an instance", "without"])
async def test_every_accepted_event_is_taken_once_and_in_order(tmp_path: Path, *, has_instance: bool) -> None:
    """Whatever was refused was told, and there is more than one history has room for."""
    [found] = (await flood(tmp_path, events=260, kills=1, sizes=[10_000], instances=[has_instance])).values()
    assert found.taken == found.wanted
    assert has_instance or found.refused
