"""Events that are sent after a delay: each is a workflow of its own, which outlives the instance that asked for it.

Theory of operation. The instance begins such a workflow as a child that is abandoned when its parent closes, and goes
on once it has begun. It waits by a durable timer, and then sends the event by the same activity that sends those
without a delay. To withdraw the event, cancel that workflow.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.records import MalformedRecord, Record
from swf_temporal.runtime.limits import PUBLISH_LIMIT
from swf_temporal.temporal import summaries
from swf_temporal.temporal.record_types import wrong_input
from swf_temporal.temporal.records import PUBLISH

DELAYED_EVENT: Final = "swf delayed event"
"""The workflow type."""


@dataclass(frozen=True, slots=True)
class DelayedRecord(Record):
    """An event that is to be sent later."""

    WHAT: ClassVar[str] = "the record of a delayed event"

    event: CloudEvent
    seconds: timedelta
    """How long it waits."""


@workflow.defn(name=DELAYED_EVENT, sandboxed=False)
class DelayedEvent:
    @workflow.run
    async def run(self, given: Any = None) -> None:
        """Send the event when its time has come."""
        try:
            delayed = DelayedRecord.from_json(given)
        except MalformedRecord as error:
            raise wrong_input(str(error)) from None
        if workflow.info().parent is None:
            what = "a delayed event is begun by the instance that produces it alone"
            raise ApplicationError(what, type="NotProduced", non_retryable=True)
        summary, event = summaries.of_event(delayed.event.type), delayed.event.to_json()
        await workflow.sleep(delayed.seconds, summary=summary)
        await workflow.execute_activity(PUBLISH, event, start_to_close_timeout=PUBLISH_LIMIT, summary=summary)

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return what any instance returns: it awaits no events."""
        return {"state": None, "awaiting": []}
