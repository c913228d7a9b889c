"""Sources and sinks of events that installed packages offer."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Protocol

from swf_temporal.base.cloud_event import CloudEvent


class EventSource(Protocol):
    """Receives events from elsewhere, for a consumer. A package offers its class, which is made without arguments."""

    def events(self) -> AsyncGenerator[CloudEvent | Mapping[str, Any]]:
        """Yield each event, as a CloudEvent or in its JSON format. It is taken once the generator is resumed.

        After an exception, and at the end, it is called again. An event that can never be taken is logged, and the
        generator resumed.
        """


class EventSink(Protocol):
    """Sends events elsewhere. A package offers its class, which is made without arguments.

    If it has `async def aclose()`, that is called when the worker ends.
    """

    async def send(self, event: CloudEvent) -> None:
        """Send *event*, and return when it has arrived. After an exception, it is sent again.

        A CallFailed with `retryable=False` fails the state that produced it.
        """
