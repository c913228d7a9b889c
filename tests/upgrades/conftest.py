"""The server on which releases meet."""

from collections.abc import AsyncIterator

import pytest

from swf_temporal.temporal.server import local_server
from tests.temporal.conftest import Bench

# Runs continue as new every few events here; the server would have each of them wait a second.
AT_ONCE = ("--dynamic-config-value", 'history.workflowIdReuseMinimalInterval="0s"')


@pytest.fixture(scope="session")
async def bench() -> AsyncIterator[Bench]:
    async with local_server(extra=AT_ONCE) as server:
        yield Bench(server)
