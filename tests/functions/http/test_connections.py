"""Over which connections requests go: guarded, proxied, secured, redirected."""

import asyncio
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme

from swf_temporal.base.data import JSON
from swf_temporal.settings.calls import HostOptions, Options, Settings, read_settings
from swf_temporal.settings.network import Network, read_pattern
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, http_call
from tests.listening import Quiet, listening

LOOPBACK = Network(deny=(read_pattern("127.0.0.0/8"), read_pattern("::1")), local=True)


@pytest.mark.parametrize(("settings", "host", "path", "told"), [
    (read_settings({}), "127.0.0.1", "/a", "SWF_ALLOW_HOSTS"),
    # A harmless name that stands for a forbidden address is refused when it is connected to.
    (Settings(network=LOOPBACK), "localhost", "/a", ""),
    # A service that may be called cannot send a call to one that may not.
    (Settings(), "127.0.0.1", "/redirected", "169.254.169.254"),
])  # fmt: skip
async def test_who_may_not_be_called(
    calling: Calling, service: Service, settings: Settings, host: str, path: str, told: str
) -> None:
    there = {"Location": "http://169.254.169.254/latest/meta-data"}
    service.answers_with("GET", "/redirected", status=302, headers=there)
    url = service.url.replace("127.0.0.1", host) + path
    await fault_of(calling(settings=settings).call(http_call("GET", url)), "HostDenied", told, retryable=False)
    assert [request.path for request in service.requests] == (["/redirected"] if path == "/redirected" else [])


Resolve = Callable[[str, list[str]], list[str]]


@pytest.fixture
async def resolve(monkeypatch: pytest.MonkeyPatch) -> Resolve:
    """Return a way to give a name addresses, one for each look-up; it returns the list of look-ups."""
    loop = asyncio.get_running_loop()
    usual, answers, asked = loop.getaddrinfo, dict[str, Iterator[str]](), list[str]()

    async def getaddrinfo(host: Any, port: Any, **options: Any) -> Any:
        if host in answers:
            asked.append(host)
            return await usual(next(answers[host]), port, **options)
        return await usual(host, port, **options)

    def give(name: str, addresses: list[str]) -> list[str]:
        answers[name] = iter(addresses)
        return asked

    monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
    return give


HARMLESS, FORBIDDEN = "127.0.0.1", "127.0.0.2"
GUARDED = Settings(network=Network(deny=(read_pattern(FORBIDDEN),), local=True))


async def test_what_is_connected_to_is_what_was_judged(calling: Calling, service: Service, resolve: Resolve) -> None:
    """A name that stands for another address a moment later is not looked up again."""
    asked = resolve("rebinding.example", [HARMLESS, FORBIDDEN])
    service.answers_with("GET", "/a", {"by": "the harmless one"})
    port = service.url.rpartition(":")[2]
    functions = calling(settings=GUARDED)
    for _ in range(2):  # the second goes over the same connection
        got = await functions.call(http_call("GET", f"http://rebinding.example:{port}/a"))
        assert got == {"by": "the harmless one"}
    assert asked == ["rebinding.example"]
    assert [request.headers["host"] for request in service.requests] == [f"rebinding.example:{port}"] * 2
    assert len({request.connection for request in service.requests}) == 1


async def test_every_connection_is_judged(calling: Calling, service: Service, resolve: Resolve) -> None:
    """Where the service closes the connection, the name is looked up again, and the new address is judged."""
    resolve("rebinding.example", [HARMLESS, FORBIDDEN])
    service.answers_with("GET", "/a", {}, headers={"Connection": "close"})
    port = service.url.rpartition(":")[2]
    functions = calling(settings=GUARDED)
    await functions.call(http_call("GET", f"http://rebinding.example:{port}/a"))
    doing = functions.call(http_call("GET", f"http://rebinding.example:{port}/a"))
    await fault_of(doing, "HostDenied", f"rebinding.example:{port} ({FORBIDDEN})", retryable=False)
    assert len(service.requests) == 1


async def test_a_redirect_to_a_name_is_judged_by_its_address(
    calling: Calling, service: Service, resolve: Resolve
) -> None:
    """The name is harmless, and what it stands for is not; a connection to the same port that is open is no help."""
    port = service.url.rpartition(":")[2]
    resolve("elsewhere.example", [FORBIDDEN])
    service.answers_with("GET", "/a", status=302, headers={"Location": f"http://elsewhere.example:{port}/b"})
    service.answers_with("GET", "/b", {})
    await fault_of(calling(settings=GUARDED).call(http_call("GET", f"{service.url}/a")), "HostDenied")
    assert [request.path for request in service.requests] == ["/a"]


async def test_one_forbidden_address_of_several_is_enough(
    calling: Calling, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that stands for both is not tried at the harmless one first."""
    loop = asyncio.get_running_loop()
    usual = loop.getaddrinfo
    port = service.url.rpartition(":")[2]

    async def both(host: Any, port: Any, **options: Any) -> Any:
        if host != "both.example":
            return await usual(host, port, **options)
        return [*await usual(HARMLESS, port, **options), *await usual(FORBIDDEN, port, **options)]

    monkeypatch.setattr(loop, "getaddrinfo", both)
    await fault_of(calling(settings=GUARDED).call(http_call("GET", f"http://both.example:{port}/a")), "HostDenied")

    assert service.requests == []


async def test_no_more_connections_than_allowed(calling: Calling, service: Service) -> None:
    service.answers_with("GET", "/a", {})
    functions = calling(settings=Settings(max_connections=2))
    await asyncio.gather(*(functions.call(http_call("GET", f"{service.url}/a")) for _ in range(8)))
    assert len({request.connection for request in service.requests}) <= 2
    assert len(service.requests) == 8


async def test_an_idle_connection_makes_room_for_another_origin(calling: Calling) -> None:
    """At no time are there more connections than allowed, idle ones included."""
    is_open, most = 0, 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal is_open, most
        is_open += 1
        most = max(most, is_open)
        while await reader.readline():
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}")
        is_open -= 1
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        functions = calling(settings=Settings(max_connections=1))
        for host in ("127.0.0.1", "localhost", "127.0.0.1"):
            assert await functions.call(http_call("GET", f"http://{host}:{port}/a")) == {}
            await asyncio.sleep(0.01)
        assert (is_open, most) == (1, 1)


async def test_credentials_in_a_url_are_sent(calling: Calling, service: Service) -> None:
    """Those of a service go to the service, and those of a proxy to the proxy."""
    service.answers_with("GET", "/a", {})
    await calling().call(http_call("GET", f"{service.url.replace('//', '//ada:pw%201@')}/a"))
    assert service.last.headers["authorization"] == f"Basic {b64encode(b'ada:pw 1').decode()}"
    proxy = service.url.replace("//", "//bo:pw-2@")
    await calling(settings=read_settings({"SWF_PROXY": proxy})).call(http_call("GET", "http://api.invalid/a"))
    assert service.last.headers["proxy-authorization"] == f"Basic {b64encode(b'bo:pw-2').decode()}"
    assert "authorization" not in service.last.headers


async def test_a_proxy_of_another_kind(calling: Calling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://proxy.invalid:1080")
    doing = calling().call(http_call("GET", "http://api.invalid/a"))
    await fault_of(doing, "ProxyFailed", "not at socks5://", retryable=False)


async def test_credentials_stay_with_their_origin(calling: Calling, service: Service) -> None:
    """What could be secret is not sent to where a service redirects; what says how to answer is."""
    elsewhere = service.url.replace("127.0.0.1", "localhost")
    service.answers_with("GET", "/a", status=302, headers={"Location": f"{elsewhere}/b"})
    service.answers_with("GET", "/b", {})
    configured = Options(headers={"X-All": "a-1", "X-Team": "orders", "Proxy-Token": "t", "User-Agent": "ours"})
    there = {read_pattern("localhost"): HostOptions(headers={"X-There": "t-1"})}
    settings = Settings(functions={"ASK": Options(headers={"X-Api-Key": "k-1"})}, calls=configured, hosts=there)
    headers = {"HEADER_Authorization": "Bearer t-1", "HEADER_x-team": "stock", "HEADER_Accept-Language": "de"}
    await calling(settings=settings).call(http_call("GET", f"{service.url}/a", headers))
    first, second = (request.headers for request in service.requests)
    assert (first["authorization"], first["x-api-key"], first["x-all"]) == ("Bearer t-1", "k-1", "a-1")
    assert first["x-team"] == "stock", "what the call says wins over what is configured"
    assert set(second) <= {"host", "connection", "accept", "accept-encoding", "accept-language", "user-agent"}
    assert (second["accept-language"], second["user-agent"]) == ("de", "ours")


async def test_all_redirects_share_one_timeout(calling: Calling, service: Service) -> None:
    service.answers_with("GET", "/a", status=302, headers={"Location": "/b"})
    service.hangs("GET", "/b")
    hasty = calling(at=service.url, timeout=timedelta(milliseconds=200))
    await fault_of(hasty.call(http_call("GET", "/a")), "Timeout")


async def test_calls_go_through_a_proxy(calling: Calling, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy gets the whole URL, and looks the name up itself. The environment may name one, too."""
    service.answers_with("GET", "/a", {"by": "proxy"})
    functions = calling(settings=read_settings({"SWF_PROXY_ASK": service.url}))
    assert await functions.call(http_call("GET", "http://api.invalid/a")) == {"by": "proxy"}
    monkeypatch.setenv("HTTP_PROXY", service.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for url in ("http://api.invalid", service.url):
        await calling().call(http_call("GET", f"{url}/a"))
    asked = [request.headers["host"] for request in service.requests]
    assert asked == ["api.invalid", "api.invalid", service.url[7:]]


async def test_a_proxy_does_not_lead_around_the_guard(calling: Calling, service: Service) -> None:
    settings = read_settings({"SWF_PROXY": service.url, "SWF_DENY_HOSTS": "secret.invalid"})
    functions = calling(settings=settings)
    for url in ("http://secret.invalid/a", "http://169.254.169.254/a", "http://127.1/a"):
        assert (await fault_of(functions.call(http_call("GET", url)))).code == "HostDenied"
    assert service.requests == []


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[str]:
    """Return the URL of a service that wants to see a certificate if there is one."""

    class Handler(Quiet):
        def respond(self, content: bytes) -> None:
            assert not content
            shown: Any = self.connection.getpeercert()
            self.answer(b'{"certificate": true}' if shown else b'{"certificate": false}')

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_OPTIONAL
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with listening(server):
        yield f"https://localhost:{server.server_port}"


@pytest.mark.parametrize(("settings", "host", "expected"), [
    ("", "localhost", None),
    ("calls: {tls: {ca: ca.pem}}", "localhost", {"certificate": False}),
    ("calls: {tls: {ca: ca.pem}}", "127.0.0.1", None),
    ("hosts: {localhost: {tls: {ca: ca.pem, cert: client.pem}}}", "localhost", {"certificate": True}),
    ("hosts: {localhost: {tls: {verify: false}}}", "localhost", {"certificate": False}),
])  # fmt: skip
async def test_certificates(
    calling: Calling, secure: str, authority: trustme.CA, tmp_path: Path, settings: str, host: str, *, expected: JSON
) -> None:
    """A server proves who it is, by an authority that is known; it may be shown who is calling."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("worker").private_key_and_cert_chain_pem.write_to_path(tmp_path / "client.pem")
    (tmp_path / "swf.yaml").write_text(settings or "{}", encoding="utf-8")
    functions = calling(settings=read_settings({}, local=True, file=tmp_path / "swf.yaml"))
    call = http_call("GET", f"{secure.replace('localhost', host)}/a")
    if expected is None:
        await fault_of(functions.call(call), "TlsFailed", "certificate")
    else:
        assert await functions.call(call) == expected


async def test_nobody_listens(calling: Calling) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            told = f"GET http://{host}:{port}/a: the connection was refused"
            doing = calling().call(http_call("GET", f"http://{host}:{port}/a"))
            fault = await fault_of(doing, "ConnectionRefused", told, retryable=True)
            assert fault.status is None
    await fault_of(calling().call(http_call("GET", "http://no.such.host.invalid/")), "UnknownHost")
