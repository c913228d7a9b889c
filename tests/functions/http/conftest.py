"""A server that writes what it likes, and a client of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from swf_temporal.functions.http import streams
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
async def http(server: RawServer, tmp_path: Path) -> AsyncIterator[Http]:
    """Return a client that trusts the server, of which nothing has been logged: its port may have been another's."""
    streams._tell.cache_clear()
    tls = Tls(ca=str(tmp_path / "ca.pem") if server.context else None)
    proxy = server.url.replace("https", "http") if server.is_proxy else None
    async with aclosing(Http(Settings(calls=Options(tls=tls, proxy=proxy)))) as http:
        yield http
