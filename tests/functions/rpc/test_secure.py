"""How gRPC servers are reached: over TLS, through a proxy, and only where the operator allows it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from swf_temporal.base.calls import Function
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import HostOptions, Options, Settings
from swf_temporal.settings.network import Network, Tls, read_pattern
from tests.failing import fault_of
from tests.functions.conftest import Calling
from tests.functions.rpc.users_service import GRPC, PROTOS, serving


@dataclass(frozen=True)
class Files:
    authority: trustme.CA
    ca: str
    client: str
    client_key: str
    both: str

    def server(self, name: str, *, knows_clients: bool = False) -> Any:
        issued = self.authority.issue_cert(name)
        chain = b"".join(part.bytes() for part in issued.cert_chain_pems)
        return GRPC.ssl_server_credentials(
            [(issued.private_key_pem.bytes(), chain)],
            root_certificates=self.authority.cert_pem.bytes() if knows_clients else None,
            require_client_auth=knows_clients,
        )


@pytest.fixture
def files(tmp_path: Path) -> Files:
    authority, strange = trustme.CA(), tmp_path
    client = authority.issue_cert("worker@example.com")
    client.cert_chain_pems[0].write_to_path(strange / "client.pem")
    client.private_key_pem.write_to_path(strange / "client.key")
    client.private_key_and_cert_chain_pem.write_to_path(strange / "both.pem")
    authority.cert_pem.write_to_path(strange / "ca.pem")
    return Files(authority, *(str(strange / name) for name in ("ca.pem", "client.pem", "client.key", "both.pem")))


def remove() -> Call:
    return Call(Function(name="ask", type="rpc", operation="users.proto#UserService#RemoveUser"), base=str(PROTOS))


def securely(calling: Calling, port: int, tls: Tls) -> Functions:
    hosts = {read_pattern("localhost"): HostOptions(tls=tls)}
    return calling(settings=Settings(calls=Options(base_url=f"grpcs://localhost:{port}"), hosts=hosts))


@pytest.mark.parametrize("shown", ["nothing", "two files", "one file"])
async def test_certificates(calling: Calling, files: Files, shown: str) -> None:
    """The server's is of an authority of one's own; it may want to see the client's."""
    tls = {
        "nothing": Tls(ca=files.ca),
        "two files": Tls(ca=files.ca, cert=files.client, key=files.client_key),
        "one file": Tls(ca=files.ca, cert=files.both),
    }[shown]
    async with serving(credentials=files.server("localhost", knows_clients=shown != "nothing")) as users:
        assert await securely(calling, users.port, tls).call(remove()) == {}


@pytest.mark.parametrize(("name", "knows_authority", "message"), [
    ("localhost", False, "CERTIFICATE_VERIFY_FAILED"),
    ("elsewhere.example", True, "Hostname Verification Check failed|is not in peer certificate"),
])  # fmt: skip
async def test_a_server_that_nobody_vouches_for(
    calling: Calling, files: Files, name: str, message: str, *, knows_authority: bool
) -> None:
    async with serving(credentials=files.server(name)) as users:
        functions = securely(calling, users.port, Tls(ca=files.ca if knows_authority else None))
        fault = await fault_of(functions.call(remove()), "UNAVAILABLE", retryable=True)
    assert fault.status == 14
    assert re.search(message, fault.message)
    assert users.received == []


@pytest.mark.parametrize(("tls", "message"), [
    (Tls(verify=False), "gRPC always verifies the server"),
    (Tls(ca="/there/is/no/such.pem"), "/there/is/no/such.pem cannot be used"),
])  # fmt: skip
async def test_what_cannot_be_secured(calling: Calling, tls: Tls, message: str) -> None:
    await fault_of(securely(calling, 1, tls).call(remove()), "TlsFailed", message, retryable=False)


async def test_hosts_that_are_not_allowed(calling: Calling) -> None:
    functions = calling(settings=Settings(network=Network()))
    async with serving() as users:
        operation = f"grpc://127.0.0.1:{users.port}#UserService#RemoveUser"
        doing = functions.call(Call(Function(name="ask", type="rpc", operation=operation)))
        await fault_of(doing, "HostDenied", retryable=False)
    assert users.received == []


class Proxy:
    """A proxy that leads to one port whatever the name, and remembers which it was asked for."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head.split(b"\r\n")[0].decode())
        server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(_copied(reader, to_server), _copied(server, writer))


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while content := await reader.read(65536):
        writer.write(content)
    writer.close()


@asynccontextmanager
async def leading(port: int) -> AsyncIterator[tuple[Proxy, str]]:
    proxy = Proxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    async with server:
        yield proxy, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("is_from_environment", [False, True])
async def test_through_a_proxy(
    calling: Calling, files: Files, monkeypatch: pytest.MonkeyPatch, *, is_from_environment: bool
) -> None:
    async with serving(credentials=files.server("users.example")) as users, leading(users.port) as (proxy, url):
        if is_from_environment:
            monkeypatch.setenv("https_proxy", url)
        options = Options(tls=Tls(ca=files.ca), proxy=None if is_from_environment else url)
        functions = calling(settings=Settings(calls=options.replace(base_url="grpcs://users.example:50051")))
        assert await functions.call(remove()) == {}
        assert proxy.asked == ["CONNECT users.example:50051 HTTP/1.1"]


async def test_a_proxy_is_asked_whatever_the_host_is_called(calling: Calling) -> None:
    """A host may be called like what the library knows as a kind of address, such as a file."""
    async with serving() as users, leading(users.port) as (proxy, url):
        functions = calling(at="grpc://unix:80", proxy=url)
        assert await functions.call(remove()) == {}
        assert proxy.asked == ["CONNECT unix:80 HTTP/1.1"]


async def test_around_a_proxy(calling: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty proxy is none, whatever the environment says; and the environment may name hosts that need none."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with serving() as users:
        assert await calling(at=users.url, proxy="").call(remove()) == {}
        monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
        for host in ("127.0.0.1", "localhost"):  # the second has addresses of both families
            assert await calling(at=f"grpc://{host}:{users.port}").call(remove()) == {}
