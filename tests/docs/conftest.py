"""A Temporal server for the programs of the pages."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from swf_temporal.temporal.server import local_server


@pytest.fixture(scope="session")
def server_address() -> Iterator[str]:
    """Return the address of a server. It runs in a loop of its own: the programs bring theirs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = local_server()
    server = asyncio.run_coroutine_threadsafe(running.__aenter__(), loop).result(60)
    yield server.client.service_client.config.target_host
    asyncio.run_coroutine_threadsafe(running.__aexit__(None, None, None), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
