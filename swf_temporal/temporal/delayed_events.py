"""Events that are sent after a delay: each is a workflow of its own, which outlives the instance that asked for it.

Theory of operation. The instance begins such a workflow as a child that is abandoned when its parent closes, and goes
on once it has begun. It waits by a durable timer, and then sends the event by the same activity that sends those
without a delay. To withdraw the event, cancel that workflow.
"""

from datetime import timedelta
from typing import Any, Final

from temporalio import workflow

from swf_temporal.temporal.call_facts import shortened
from swf_temporal.temporal.records import PUBLISH

DELAYED_EVENT: Final = "swf delayed event"
"""The workflow type."""
PUBLISH_LIMIT: Final = timedelta(minutes=1)
"""The time limit of one attempt to send an event."""


@workflow.defn(name=DELAYED_EVENT, sandboxed=False)
class DelayedEvent:
    """One event that is to be sent."""

    @workflow.run
    async def run(self, event: dict[str, Any], seconds: float) -> None:
        """Send *event*, a CloudEvent as JSON, after so many seconds."""
        summary = shortened(str(event["type"]))
        await workflow.sleep(timedelta(seconds=seconds), summary=summary)
        await workflow.execute_activity(PUBLISH, event, start_to_close_timeout=PUBLISH_LIMIT, summary=summary)

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return what any instance returns: it awaits no events."""
        return {"state": None, "awaiting": []}
