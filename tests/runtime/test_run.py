"""What one activation of a run costs is counted."""

from datetime import UTC, datetime, timedelta
from typing import cast

from swf_temporal.loading import load
from swf_temporal.runtime.host import Host, Instance
from swf_temporal.runtime.run import Run
from swf_temporal.runtime.semantics import SEMANTICS


class Clock:
    """What of a host the counting asks."""

    time = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the time."""
        return self.time


def test_the_work_of_an_activation_is_counted() -> None:
    """It is added up as long as the host's time stands still, and begins anew once it moves on."""
    definition = load({"id": "a", "specVersion": "0.8", "states": [{"name": "A", "type": "inject", "data": {}}]})
    clock = Clock()
    run = Run(definition.language.prepare(definition, SEMANTICS), cast("Host", clock), {}, Instance("a", "a"))

    run.charge()
    run.charge(3)
    assert run.cost == 4

    clock.time += timedelta(seconds=1)
    run.charge()
    assert run.cost == 1
