"""What the router makes of a server that does not answer, and of an event that it will never take."""

import asyncio

import pytest

from swf_temporal.base.client_errors import ServerUnavailableError
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.consumers.port import NeverError, NotNowError
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.operations.client import Client
from swf_temporal.sdk.event_router import Router
from swf_temporal.temporal.server import local_server
from tests.events.test_consumers import events_of, order
from tests.failing import fault_of

pytestmark = pytest.mark.temporal


async def test_a_server_that_is_away_is_asked_again() -> None:
    """An event that is too large is refused for good; one that the server could not be given is tried again."""
    catalogue = Catalogue([order()])
    placed = events_of("a")[0]
    async with local_server() as server:
        router = Router(Client(server.client), catalogue, "nobody")
        assert await router.take(placed) == 1
        assert await router.take(CloudEvent("1", "shop", "unheard-of")) == 0
        catalogue.unreadable = "definitions is not a folder"
        assert await router.take(placed) == 1
        with pytest.raises(NotNowError, match="definitions is not a folder"):
            await router.take(CloudEvent("1", "shop", "unheard-of"))
        catalogue.unreadable = None
        with pytest.raises(NeverError, match=r"too large|bytes"):
            await router.take(CloudEvent("1", "shop", "placed", "x" * 3_000_000, {"order": "7"}))
    away, undelivered, unconnected = await asyncio.gather(
        router.take(placed),
        fault_of(router.deliver(placed), retryable=True),
        Client.connect(server.client.service_client.config.target_host),
        return_exceptions=True,
    )
    assert isinstance(away, NotNowError)
    assert isinstance(undelivered, CallFailed)
    assert isinstance(away.__cause__, ServerUnavailableError)
    assert isinstance(unconnected, ServerUnavailableError)
