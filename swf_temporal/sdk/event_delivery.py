"""Delivering produced events to their sinks, in an activity that is tried again until each of them has its event."""

from temporalio import activity

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.sinks import SinkDelivery, Sinks


class EventDelivery:
    """Publishes events; an attempt does not repeat what one before it has delivered."""

    def __init__(self, sinks: Sinks) -> None:
        self._sinks = sinks

    async def publish(self, event: CloudEvent) -> list[str]:
        """Deliver *event*; return the names of the sinks where somebody takes it. Raises CallFailed.

        A heartbeat carries the names of the sinks that have it from one attempt to the next.
        """
        info = activity.info()
        details = info.heartbeat_details
        done: dict[str, bool] = dict(details[0]) if details and isinstance(details[0], dict) else {}

        def note(one: SinkDelivery) -> None:
            done[one.sink.name] = one.is_taken
            activity.heartbeat(done)

        outcomes = await self._sinks.deliver(event, but=done, on_done=note)
        faults = [_judged(one, info.attempt) for one in outcomes if one.fault is not None]
        if faults:
            raise next((fault for fault in faults if fault.retryable), faults[0])
        return [name for name, is_taken in done.items() if is_taken]


def _judged(delivery: SinkDelivery, attempt: int) -> CallFailed:
    fault, most = delivery.fault, delivery.sink.max_attempts
    assert fault is not None  # noqa: S101 - for the type checker
    if most is not None and attempt >= most:
        fault.retryable = False
    return fault
