"""A client of a Temporal server that all these tests share."""

from collections.abc import AsyncIterator

import pytest

from swf_temporal import Client
from swf_temporal.temporal.server import local_server


@pytest.fixture(scope="session")
async def client() -> AsyncIterator[Client]:
    async with local_server() as server:
        yield await Client.connect(server.client.service_client.config.target_host)
