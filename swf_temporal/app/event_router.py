"""The router of events: sends those that come from brokers, and those that instances produce, where they go."""

from temporalio.service import RPCError, RPCStatusCode

from swf_temporal.app.client import Client
from swf_temporal.app.event_sending import send
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.errors import CallFailed, PayloadUnavailable, UsageError
from swf_temporal.events.consumers.port import NeverError, NotNowError
from swf_temporal.languages.catalogue import Catalogue

_FOR_GOOD = frozenset({RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED})
"""What a server answers to an event that it will never take."""


class Router:
    """Sends events where they go among the definitions of a catalogue."""

    def __init__(self, client: Client, catalogue: Catalogue, task_queue: str) -> None:
        self._client = client
        self._catalogue = catalogue
        self._task_queue = task_queue

    async def take(self, event: CloudEvent) -> int:
        """Send *event*; return how many instances or definitions it went to. Raises NotNowError or NeverError."""
        try:
            return len(await send(self._client, event, self._catalogue, self._task_queue))
        except UsageError as error:
            if _is_transient(error):
                raise NotNowError(error.message) from error
            raise NeverError(error.message) from error
        except RPCError as error:
            if error.status in _FOR_GOOD:
                raise NeverError(error.message) from error
            raise NotNowError(error.message) from error
        except PayloadUnavailable as error:
            raise NotNowError(str(error)) from error

    async def deliver(self, event: CloudEvent) -> bool:
        """Send *event*, as a sink of produced events; tell whether a definition consumes it. Raises CallFailed."""
        try:
            return await self.take(event) > 0
        except NotNowError as error:
            raise CallFailed(f"the event {event.id!r} is not routed yet: {error}", code="NotRouted") from error
        except NeverError as error:
            message = f"the event {event.id!r} cannot be routed: {error}"
            raise CallFailed(message, code="NotRouted", retryable=False) from error


def _is_transient(error: UsageError) -> bool:
    """Tell whether the server did not answer, and did not refuse the event."""
    cause = error.__cause__ or error.__context__
    return isinstance(cause, RPCError) and cause.status not in _FOR_GOOD
