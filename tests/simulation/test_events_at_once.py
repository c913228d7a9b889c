"""Events that come in one moment, before whoever waits for them has taken any."""

import asyncio

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.loading import load
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.simulate import SimulationContext

CORRELATED = [{"contextAttributeName": "order"}]
DEFINITION = {
    "id": "orders",
    "version": "1.0.0",
    "specVersion": "0.8",
    "events": [
        {"name": "Asked", "type": "asked", "source": "s", "kind": "produced"},
        {"name": "Paid", "type": "paid", "source": "s", "correlation": CORRELATED},
        {"name": "Sent", "type": "sent", "source": "s", "correlation": CORRELATED},
    ],
    "states": [
        {
            "name": "Both",
            "type": "parallel",
            "branches": [
                {"name": name, "actions": [{"eventRef": {"triggerEventRef": "Asked", "resultEventRef": name}}]}
                for name in ("Paid", "Sent")
            ],
            "end": True,
        }
    ],
}


def test_the_first_fixes_what_belongs_to_the_instance() -> None:
    """Of two events that come at once the second belongs to another instance, if the first says so."""
    others = CloudEvent("2", "s", "sent", {"sent": "another's"}, {"order": "2"})
    waits = 0

    def deliver(interpretation: Run, entry: TraceEntry) -> None:
        nonlocal waits
        waits += entry.kind is TraceKind.EVENT_AWAITED
        if waits == 2 and entry.kind is TraceKind.EVENT_AWAITED:
            for event in (CloudEvent("1", "s", "paid", {"paid": True}, {"order": "1"}), others):
                asyncio.get_running_loop().call_soon(interpretation.deliver, event)

    own = CloudEvent("3", "s", "sent", {"sent": "own"}, {"order": "1"})
    world = SimulationContext([load(DEFINITION)], {}, [own], {})
    world.on_trace = deliver

    assert world.run({}).output == {"paid": True, "sent": "own"}
