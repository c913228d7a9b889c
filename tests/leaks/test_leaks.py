"""A sample of the ways in which a secret might come back; `python -m tests.leaks` tries all of them."""

from collections.abc import AsyncIterator

import pytest

from swf_temporal.temporal.connected_server import Server
from swf_temporal.temporal.server import local_server
from tests.leaks.corpus import LEAKS, Leak
from tests.leaks.finding import find

pytestmark = pytest.mark.temporal


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Server]:
    """A server of its own: its whole log is looked through."""
    async with local_server() as server:
        yield server


@pytest.mark.parametrize("leak", LEAKS[::5], ids=lambda leak: leak.name)
async def test_no_secret_leaks(server: Server, leak: Leak) -> None:
    """It is in no history, query, description, error or line of the log; and business data come back as they were."""
    [found] = await find(server, [leak])
    assert (found.leaked, found.altered) == ([], False)
