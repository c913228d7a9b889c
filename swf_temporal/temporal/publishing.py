"""Events that a run produces: sent by an activity or, if they are to be sent later, by a separate workflow.

Theory of operation. The instance starts such a workflow as a child that is abandoned when its parent closes, and
continues once it has started. The child waits by a durable timer, and then sends the event by the same activity that
sends events without a delay. To withdraw the event, cancel that workflow.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar, Final

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError
from temporalio.workflow import ParentClosePolicy

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.records import MalformedRecord, Record
from swf_temporal.events.routing import HOPS, next_hops
from swf_temporal.runtime.performing import PUBLISH_LIMIT
from swf_temporal.temporal import summaries
from swf_temporal.temporal.call_records import fault_of_activity, fault_of_start
from swf_temporal.temporal.children import REUSE
from swf_temporal.temporal.instance_part import operator_options
from swf_temporal.temporal.markers import is_recorded
from swf_temporal.temporal.outgoing import Outgoing
from swf_temporal.temporal.records import PUBLISH, Pin, wrong_input

DELAYED_EVENT: Final = "swf delayed event"
"""The workflow type."""


@dataclass(frozen=True, slots=True)
class DelayedRecord(Record):
    """An event that is to be sent later."""

    WHAT: ClassVar[str] = "the record of a delayed event"

    event: CloudEvent
    seconds: timedelta
    """The delay."""


@workflow.defn(name=DELAYED_EVENT, sandboxed=False)
class DelayedEvent:
    @workflow.run
    async def run(self, given: Any = None) -> None:
        """Send the event after its delay."""
        try:
            delayed = DelayedRecord.from_json(given)
        except MalformedRecord as error:
            raise wrong_input(str(error)) from None
        if workflow.info().parent is None:
            what = "a delayed event is only started by the instance that produces it"
            raise ApplicationError(what, type="NotProduced", non_retryable=True)
        summary, event = summaries.of_event(delayed.event.type), delayed.event.to_json()
        await workflow.sleep(delayed.seconds, summary=summary)
        await workflow.execute_activity(PUBLISH, event, start_to_close_timeout=PUBLISH_LIMIT, summary=summary)

    @workflow.query(name="status")
    def status(self) -> dict[str, Any]:
        """Return the fields of any instance's status: it awaits no events."""
        return {"state": None, "awaiting": []}


INSTANCE_ID: Final = "swfinstanceid"
"""The extension attribute with the id of the instance that produced an event."""
DEFINITION_ID: Final = "swfdefinitionid"
"""The extension attribute with the id of its definition."""
_ORIGIN: Final = frozenset({INSTANCE_ID, DEFINITION_ID, HOPS})
_ORDERED: Final = "swf-ordered-"
"""The prefix of the markers of places where an event waited for the previous one."""


class Publishing:
    """Sends the events of one execution."""

    def __init__(self, outgoing: Outgoing, id_of_child: Callable[[str], str], pin: Pin) -> None:
        self._outgoing = outgoing
        self._pin = pin
        self._id_of_child = id_of_child
        self._turn = asyncio.Lock()
        self._count = 0
        self.on_untaken: Callable[[str], None] = lambda _: None
        """Called with the type of each event that no sink takes."""

    async def publish(self, event: CloudEvent) -> None:
        """Send *event*, and wait until it is delivered; if events are ordered, after the earlier ones.

        Raises CallFailed for one that cannot be delivered.
        """
        self._count += 1
        waits = self._turn.locked() and is_recorded(f"{_ORDERED}{self._count}", wanted=operator_options().ordered)
        if self._turn.locked() and not waits:
            await self._publish(event)
            return
        async with self._turn:
            await self._publish(event)

    async def _publish(self, event: CloudEvent) -> None:
        payload = await self._outgoing.payload(with_origin(event, self._pin.lineage.hops).to_json())
        try:
            taken = await workflow.execute_activity(
                PUBLISH,
                args=[RawValue(payload)],
                start_to_close_timeout=PUBLISH_LIMIT,
                summary=summaries.of_event(event.type),
            )
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise asyncio.CancelledError from None
            raise fault_of_activity(error, PUBLISH) from None
        if taken == []:
            self.on_untaken(event.type)

    async def publish_later(self, event: CloudEvent, after: timedelta) -> None:
        """Start the workflow that sends *event*; it continues after the end of this one."""
        delayed = DelayedRecord(with_origin(event, self._pin.lineage.hops), after)
        payload = self._outgoing.written(delayed.to_json())
        await self._outgoing.in_turn(payload, starts_child=True)
        try:
            with self._outgoing.starting():
                child = await workflow.start_child_workflow(
                    DELAYED_EVENT,
                    args=[RawValue(payload)],
                    id=self._id_of_child(f"event/{event.id}"),
                    id_reuse_policy=REUSE,
                    parent_close_policy=ParentClosePolicy.ABANDON,
                    static_summary=summaries.of_event(event.type),
                )
        except FailureError as error:
            raise fault_of_start(error, DELAYED_EVENT) from None
        self._outgoing.detached(child)


def with_origin(event: CloudEvent, hops: int) -> CloudEvent:
    """Return *event* with the attributes that say which instance produced it, replacing any by its author.

    *hops* is the number of instances before that instance in its chain.
    """
    info = workflow.info()
    origin: dict[str, JSON] = {
        INSTANCE_ID: info.workflow_id,
        DEFINITION_ID: info.workflow_type,
        HOPS: next_hops(hops),
    }
    own = {name: value for name, value in event.attributes.items() if name.lower() not in origin}
    return replace(event, attributes={**own, **origin})


def without_origin(event: CloudEvent) -> CloudEvent:
    own = {name: value for name, value in event.attributes.items() if name not in _ORIGIN}
    return replace(event, attributes=own)
