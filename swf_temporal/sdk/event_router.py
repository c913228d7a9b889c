"""The router of events: sends those from brokers, and those that instances produce, to their recipients."""

from temporalio import activity

from swf_temporal.base.client_errors import InboxFullError, ServerUnavailableError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed, DefinitionsUnavailable, PayloadUnavailable, UsageError
from swf_temporal.events.consumers.consumer import NeverError, NotNowError
from swf_temporal.events.sinks import SinkDelivery, Sinks
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.operations.event_sending import is_sent, send, why_stopped
from swf_temporal.settings.values import MAX_HOPS
from swf_temporal.temporal.event_dispatch import Receipt
from swf_temporal.temporal.variable_claims import namespace_id


class Router:
    """Sends events to their recipients among the definitions of a catalogue."""

    def __init__(self, client: Client, catalogue: Catalogue, task_queue: str, *, max_hops: int = MAX_HOPS) -> None:
        self.client = client
        self._catalogue = catalogue
        self._task_queue = task_queue
        self._max_hops = max_hops

    async def deployment(self) -> str:
        """Return the id of the deployment whose events this sends. Raises RPCError."""
        return f"{await namespace_id(self.client.temporal)}/{self._task_queue}"

    async def take(self, event: CloudEvent) -> int:
        """Send *event*; return how many instances or definitions get it. Raises NotNowError or NeverError."""
        receipts = await self._send(event)
        sent = sum(map(is_sent, receipts))
        if receipts and not sent:
            raise NeverError(why_stopped(event))
        return sent

    async def _send(self, event: CloudEvent) -> list[Receipt]:
        try:
            return await send(self.client, event, self._catalogue, self._task_queue, max_hops=self._max_hops)
        except (ServerUnavailableError, InboxFullError) as error:
            raise NotNowError(error.message) from error
        except UsageError as error:
            raise NeverError(error.message) from error
        except (DefinitionsUnavailable, PayloadUnavailable) as error:
            raise NotNowError(str(error)) from error

    async def deliver(self, event: CloudEvent) -> bool:
        """Send *event*, as a sink of produced events; return whether a definition consumes it. Raises CallFailed."""
        try:
            return any(map(is_sent, await self._send(event)))
        except NotNowError as error:
            raise CallFailed(f"the event {event.id!r} is not routed yet: {error}", code="NotRouted") from error
        except NeverError as error:
            message = f"the event {event.id!r} cannot be routed: {error}"
            raise CallFailed(message, code="NotRouted", retryable=False) from error


class EventDelivery:
    """Publishes events; an attempt does not repeat deliveries that succeeded before."""

    def __init__(self, sinks: Sinks) -> None:
        self._sinks = sinks

    async def publish(self, event: CloudEvent) -> list[str]:
        """Deliver *event*; return the names of the sinks with a recipient for it. Raises CallFailed.

        Heartbeats carry the names of the sinks that have it from one attempt to the next.
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
