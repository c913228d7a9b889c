"""Databases to hold variables in."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from swf_temporal.sdk.stores import SqlVariables
from tests.stores.servers import PostgreSql, postgresql

Opening: TypeAlias = Callable[..., Awaitable[SqlVariables]]


@pytest.fixture(scope="session")
def server() -> Iterator[PostgreSql]:
    with postgresql() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'variables.db'}"
    server: PostgreSql = request.getfixturevalue("server")
    return server.fresh()


@pytest.fixture
async def opening(address: str) -> AsyncIterator[Opening]:
    stores = []

    async def opened(namespace: str = "default", server: str = "here", at: str = address) -> SqlVariables:
        store = await SqlVariables.opened(at, namespace, server)
        stores.append(store)
        return store

    yield opened
    for store in stores:
        await store.aclose()
