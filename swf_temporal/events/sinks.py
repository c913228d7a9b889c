"""Sinks: where the events go that workflows produce."""

from datetime import datetime
from typing import Any

import httpx
from cloudevents.core.bindings.http import HTTPMessage, to_structured
from cloudevents.core.exceptions import BaseCloudEventException
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent as Envelope

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed

TIMEOUT = 30.0
"""Seconds that a receiver may take."""


class HttpSink:
    """Sends events to an HTTP address, in the structured mode of CloudEvents, or nowhere if there is none.

    Without an address the events still stand in each run's history, where they can be looked up.
    """

    def __init__(self, url: str | None = None) -> None:
        self.url = url
        self._client: httpx.AsyncClient | None = None

    async def publish(self, event: CloudEvent) -> None:
        """Send *event*. Raises CallFailed if it was not taken."""
        if self.url is None:
            return
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=TIMEOUT)
        try:
            message = structured(event)
            response = await self._client.post(self.url, content=message.body, headers=message.headers)
        except BaseCloudEventException as error:
            raise CallFailed(f"event {event.type!r} is not a valid CloudEvent: {error}", retryable=False) from error
        except httpx.HTTPError as error:
            raise CallFailed(f"event {event.type!r} could not be sent to {self.url}: {error}") from error
        if not response.is_success:
            status = response.status_code
            raise CallFailed(f"{self.url} answered {status} to event {event.type!r}", code=status, status=status)

    async def aclose(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.aclose()


def structured(event: CloudEvent) -> HTTPMessage:
    """Return the HTTP message that carries *event*."""
    attributes: dict[str, object] = {"specversion": "1.0", "id": event.id, "source": event.source, "type": event.type}
    attributes |= {name.lower(): _attribute(name, value) for name, value in event.attributes.items()}
    data: Any = event.data  # the SDK names fewer types than JSON has, and writes them all
    return to_structured(Envelope(attributes=attributes, data=data), JSONFormat())


def _attribute(name: str, value: JSON) -> object:
    """Return an attribute as the SDK wants it: a time as one, a text or a number as they are, the rest as texts."""
    if name == "time" and isinstance(value, str):
        return datetime.fromisoformat(value)
    return value if isinstance(value, str | int | bool) else str(value)
