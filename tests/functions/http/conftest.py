"""A server that writes what it likes, and a client of it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.functions.http import http11
from swf_temporal.functions.http.client import Http
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.network import Tls
from tests.functions.http.raw_server import RawServer, raw_server


@pytest.fixture(params=["in the clear", "with TLS"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RawServer]:
    with raw_server(tmp_path / "ca.pem" if "with TLS" in request.param else None) as served:
        served.is_proxy = "proxy" in request.param
        yield served


@pytest.fixture
async def client(server: RawServer, tmp_path: Path) -> AsyncIterator[Callable[..., Http]]:
    """Return what makes clients that trust the server. Nothing of its port was logged: that may have been another's."""
    http11._tell.cache_clear()
    tls = Tls(ca=str(tmp_path / "ca.pem") if server.context else None)
    proxy = server.url.replace("https", "http") if server.is_proxy else None
    async with AsyncExitStack() as stack:

        def client(**options: Any) -> Http:
            http = Http(Settings(calls=Options(tls=tls, proxy=proxy, **options)))
            stack.push_async_callback(http.aclose)
            return http

        yield client


@pytest.fixture
def http(client: Callable[..., Http]) -> Http:
    return client()
