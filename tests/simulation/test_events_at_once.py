"""Events that come in one moment, before whoever waits for them has taken any."""

import asyncio

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.languages.loading import load
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.simulation.context import SimulationContext

CORRELATED = [{"contextAttributeName": "order"}]
DEFINITION = {
    "id": "orders", "version": "1.0.0", "specVersion": "0.8",
    "events": [{"name": "Asked", "type": "asked", "source": "s", "kind": "produced"},
               {"name": "Paid", "type": "paid", "source": "s", "correlation": CORRELATED},
               {"name": "Sent", "type": "sent", "source": "s", "correlation": CORRELATED}],
    "states": [{"name": "Both", "type": "parallel",
                "branches": [{"name": name,
                              "actions": [{"eventRef": {"triggerEventRef": "Asked",
                                                        "resultEventRef": name}}]} for name in ("Paid", "Sent")],
                "end": True}],
}  # fmt: skip


def test_the_first_fixes_what_belongs_to_the_instance() -> None:
    """Of two events that come at once the second belongs to another instance, if the first says so, and is kept."""
    others = CloudEvent("2", "s", "sent", {"sent": "another's"}, {"order": "2"})
    waits = 0
    kept: list[str] = []

    def deliver(interpretation: Run, entry: TraceEntry) -> None:
        nonlocal waits
        if entry.kind is TraceKind.STATE_LEFT:
            kept.extend(event.id for event in interpretation.inbox.kept)
        waits += entry.kind is TraceKind.EVENT_AWAITED
        if waits == 2 and entry.kind is TraceKind.EVENT_AWAITED:
            for event in (CloudEvent("1", "s", "paid", {"paid": True}, {"order": "1"}), others):
                asyncio.get_running_loop().call_soon(interpretation.deliver, event)

    own = CloudEvent("3", "s", "sent", {"sent": "own"}, {"order": "1"})
    context = SimulationContext([load(DEFINITION)], {}, [own], {})
    context.on_trace = deliver

    assert context.run({}).output == {"paid": True, "sent": "own"}
    assert kept == ["2"]
