"""Digest authentication, with a server that checks it by RFC 7616 on its own."""

import asyncio
import hashlib
import itertools
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.request import parse_http_list, parse_keqv_list

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from tests.failing import fault_of
from tests.functions.conftest import Answer, Calling, Received, Service, serving

LOGIN = {"username": "Ada L", "password": "pw:1"}
HASHES = {"MD5": "md5", "SHA-256": "sha256"}


class DigestServer(Service):
    """Asks for digest authentication, and answers with the number of the user's request since the last challenge."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        super().__init__(server)
        self.algorithm: str | None = "SHA-256"
        self.qop: str | None = "auth"
        self.challenge: str | None = None
        """What is asked for instead, whatever a request has."""
        self.uses = 1000
        """How often one nonce may be used."""
        self.counts: dict[str, list[int]] = {}
        """The counts of requests by the nonce that they had."""
        self._nonces = (f"nonce-{number}" for number in itertools.count(1))

    def answer_to(self, request: Received) -> Answer:
        if self.challenge:
            return Answer(b"{}", 401, {"WWW-Authenticate": self.challenge})
        scheme, _, written = request.headers.get("authorization", "").partition(" ")
        given = parse_keqv_list(parse_http_list(written)) if scheme == "Digest" else {}
        counts = self.counts.get(given.get("nonce", ""))
        if counts is None or not self._is_right(request, given):
            return self._refusal()
        if len(counts) >= self.uses:
            return self._refusal(", stale=true")
        counts.append(int(given.get("nc", "0"), 16))
        return Answer(b'{"nc": %d}' % counts[-1], 200, {"Content-Type": "application/json"})

    def _refusal(self, more: str = "") -> Answer:
        nonce = next(self._nonces)
        self.counts[nonce] = []
        parts = f'Digest realm="The shop", nonce="{nonce}", opaque="o,1"{more}'
        if self.qop:
            parts += f', qop="{self.qop}"'
        if self.algorithm:
            parts += f", algorithm={self.algorithm}"
        return Answer(b'{"error": "who are you?"}', 401, {"WWW-Authenticate": parts})

    def _is_right(self, request: Received, given: dict[str, str]) -> bool:
        def hashed(*parts: str) -> str:
            algorithm = HASHES[(self.algorithm or "MD5").removesuffix("-sess")]
            return hashlib.new(algorithm, ":".join(parts).encode(), usedforsecurity=False).hexdigest()

        query = "&".join(f"{name}={value}" for name, value in request.query)
        uri = f"{request.path}?{query}" if query else request.path
        secret = hashed(LOGIN["username"], "The shop", LOGIN["password"])
        if self.algorithm and self.algorithm.endswith("-sess"):
            secret = hashed(secret, given["nonce"], given["cnonce"])
        asked = hashed(request.method, uri)
        middle = (given["nc"], given["cnonce"], given["qop"]) if self.qop else ()
        return (
            (given["username"], given["realm"], given["uri"], given["opaque"])
            == (LOGIN["username"], "The shop", uri, "o,1")
            and given.get("qop") == (self.qop and "auth")
            and given["response"] == hashed(secret, given["nonce"], *middle, asked)
        )


@pytest.fixture
def server() -> Iterator[DigestServer]:
    with serving(DigestServer) as server:
        yield server


@pytest.fixture
def functions(calling: Calling, server: DigestServer) -> Functions:
    return calling(at=server.url)


def ask(properties: Any = LOGIN, kind: str = "request", **facts: Any) -> Call:
    function = {
        "request": Function("ask", "request", auth_ref=AuthRef(invocation="a")),
        "http": Function("ask", "http", "rest:POST:/a?b=1", auth_ref=AuthRef(invocation="a")),
    }[kind]
    arguments: JSON = {"n": 1}
    if kind == "request":
        arguments = {"method": "post", "uri": "/a", "query": {"b": 1}, "body": arguments, "output": "response"}
    return Call(function, arguments, auth=(Auth("a", "digest", properties),), **facts)


@pytest.mark.parametrize(("algorithm", "qop"), [
    ("MD5", "auth"), ("SHA-256", "auth"), ("SHA-256", "auth-int,auth"), (None, "auth"), ("MD5", None), (None, None),
    ("MD5-sess", "auth"), ("SHA-256-sess", "auth"),
])  # fmt: skip
async def test_a_challenge_is_met(
    server: DigestServer, functions: Functions, algorithm: str | None, qop: str | None
) -> None:
    """With the whole request, over the same connection."""
    server.algorithm, server.qop = algorithm, qop
    result: Any = await functions.call(ask())
    assert (result["statusCode"], result["content"]["nc"]) == (200, 1 if qop else 0)
    assert "Authorization" not in result["request"]["headers"]
    assert [request.body for request in server.requests] == [{"n": 1}, {"n": 1}]
    assert len({request.connection for request in server.requests}) == 1


@pytest.mark.parametrize("kind", ["request", "http"])
async def test_further_requests_need_no_challenge(server: DigestServer, functions: Functions, kind: str) -> None:
    for _ in range(3):
        await functions.call(ask(kind=kind))
    assert len(server.requests) == 4
    assert server.counts == {"nonce-1": [1, 2, 3]}


async def test_calls_at_once(server: DigestServer, functions: Functions) -> None:
    await asyncio.gather(*(functions.call(ask()) for _ in range(5)))
    assert sum(map(len, server.counts.values())) == 5
    assert all(len(counts) == len(set(counts)) for counts in server.counts.values())


async def test_a_stale_nonce_is_replaced(server: DigestServer, functions: Functions) -> None:
    server.uses = 2
    for _ in range(5):
        await functions.call(ask())
    assert [counts for counts in server.counts.values() if counts] == [[1, 2], [1, 2], [1]]
    assert len(server.requests) == 5 + 3


async def test_a_wrong_password_is_refused(server: DigestServer, functions: Functions) -> None:
    fault = await fault_of(functions.call(ask({**LOGIN, "password": "guess"})), "401", "who are you?")
    assert fault.status == 401
    assert len(server.requests) == 2


async def test_the_challenge_of_one_user_is_not_for_another(server: DigestServer, functions: Functions) -> None:
    await functions.call(ask())
    await fault_of(functions.call(ask({**LOGIN, "username": "eve"})), "401")
    assert "authorization" not in server.requests[-2].headers


async def test_a_service_that_asks_for_nothing(service: Service, calling: Calling) -> None:
    service.answers_with("POST", "/a", {})
    await calling(at=service.url).call(ask())
    assert "authorization" not in service.last.headers


@pytest.mark.parametrize("challenge", [
    'Digest realm="r", nonce="n", algorithm=SHA-512-256, qop="auth"',
    'Digest realm="r", nonce="n", qop="auth-int"',
    'Digest realm="r", qop="auth"',
    "Digest nonsense",
])  # fmt: skip
async def test_a_challenge_that_cannot_be_met(server: DigestServer, functions: Functions, challenge: str) -> None:
    server.challenge = challenge
    fault = await fault_of(functions.call(ask()), "BadAuth", "of a kind that is not supported", retryable=False)
    assert challenge in fault.message
    server.challenge = None
    await functions.call(ask())


async def test_another_challenge_is_an_answer(server: DigestServer, functions: Functions) -> None:
    server.challenge = 'Basic realm="r"'
    await fault_of(functions.call(ask()), "401")
    assert len(server.requests) == 1


async def test_the_login_may_be_in_a_secret(functions: Functions) -> None:
    result: Any = await functions.call(ask("shop", secrets={"shop": dict(LOGIN)}))
    assert result["content"] == {"nc": 1}
    await fault_of(functions.call(ask("none")), "NoSecret")


@pytest.mark.parametrize(("properties", "told"), [
    ({"username": "ada"}, "auth 'a' of scheme 'digest' lacks 'password'"),
    ({"username": 5, "password": "pw"}, "something that is not a text as 'username'"),
    (None, "lacks 'username'"),
])  # fmt: skip
async def test_what_is_missing_is_told(server: DigestServer, functions: Functions, properties: Any, told: str) -> None:
    await fault_of(functions.call(ask(properties)), "BadAuth", told, retryable=False)
    assert server.requests == []


async def test_another_origin_gets_no_answer_to_its_challenge(
    server: DigestServer, service: Service, calling: Calling
) -> None:
    """It would prove the password, and a server could have that of another tried out."""
    elsewhere = server.url.replace("127.0.0.1", "localhost")
    service.answers_with("GET", "/a", None, status=302, headers={"Location": f"{elsewhere}/b"})
    arguments: JSON = {"method": "get", "uri": "/a", "redirect": True}
    function = Function("ask", "request", auth_ref=AuthRef(invocation="a"))
    call = Call(function, arguments, auth=(Auth("a", "digest", LOGIN),))
    await fault_of(calling(at=service.url).call(call), "401")
    assert len(server.requests) == 1
    assert "authorization" not in server.last.headers


async def test_a_header_of_the_call_overrides_it(server: DigestServer, functions: Functions) -> None:
    call = ask()
    call.arguments["headers"] = {"Authorization": "Bearer t"}  # type: ignore[index,call-overload]
    await fault_of(functions.call(call), "401")
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer t"]


@pytest.mark.parametrize(("kind", "operation"), [("graphql", "/graphql#query#pet"), ("odata", "/shop.svc#Pets")])
async def test_other_functions_over_http(server: DigestServer, functions: Functions, kind: str, operation: str) -> None:
    """Every request of theirs meets the challenge, also the one for a schema."""
    function = Function("ask", kind, operation, auth_ref=AuthRef(invocation="a"))
    call = Call(function, auth=(Auth("a", "digest", LOGIN),))
    if kind == "graphql":
        await fault_of(functions.call(call), "MalformedAnswer", "is not a GraphQL answer")
    else:
        assert await functions.call(call) == {"nc": 1}
    asked = {"graphql": 2, "odata": 1}[kind]
    assert server.counts == {"nonce-1": [*range(1, asked + 1)]}
