"""Tokens are obtained as OAuth2 has it, from a real token server."""

import asyncio
import base64
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import aclosing
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.auth.auth import with_tokens
from swf_temporal.functions.auth.grants import read_grant
from swf_temporal.functions.auth.oauth2 import Tokens
from swf_temporal.functions.call import Call
from swf_temporal.functions.calling import Functions
from swf_temporal.functions.http.client import Http
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.network import read_pattern
from tests.failing import fault_of
from tests.functions.conftest import Answer, Calling, Received, Service, serving

SECRETS: dict[str, JSON] = {"login": {"id": "app", "secret": "hush-hush"}}
URN = "urn:ietf:params:oauth"
EXCHANGE: dict[str, Any] = {"grantType": "tokenExchange", "subjectToken": "s-1"}
EXCHANGED = {"grant_type": [f"{URN}:grant-type:token-exchange"], "subject_token": ["s-1"]}
BY_CLIENT: dict[str, Any] = {
    "grantType": "clientCredentials",
    "clientId": "${ $SECRETS.login.id }",
    "clientSecret": "${ $SECRETS.login.secret }",
}
BY_PASSWORD: dict[str, Any] = {"grantType": "password", "username": "ada", "password": "pw"}


class TokenServer(Service):
    def __init__(self, server: ThreadingHTTPServer) -> None:
        super().__init__(server)
        self.describes_itself = True
        self.lifetime = 3600
        self.refusal: tuple[int, Any] | None = None
        self.named = "token-"
        self.shows: Callable[[str], object] = str
        """How the service repeats a token."""
        self.forms: list[dict[str, list[str]]] = []
        self.logins: list[str] = []
        self.valid: set[str] = set()

    @property
    def asked_for(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.requests]

    def answer_to(self, request: Received) -> Answer:
        status, body = self._answer(request, request.headers.get("authorization", ""))
        return Answer(json.dumps(body).encode(), status, {"Content-Type": "application/json"})

    def _answer(self, request: Received, authorization: str) -> tuple[int, Any]:
        if request.path == "/orders":
            token = authorization.removeprefix("Bearer ")
            return (200, {"token": self.shows(token)}) if token in self.valid else (401, {"refused": token})
        if request.path == "/realm/.well-known/openid-configuration" and self.describes_itself:
            return 200, {"token_endpoint": f"{self.url}/realm/token"}
        if request.method != "POST":
            return 404, {}
        if self.refusal:
            return self.refusal
        self.forms.append(parse_qs(request.content.decode(), strict_parsing=True))
        self.logins.append(base64.b64decode(authorization.removeprefix("Basic ")).decode())
        token = f"{self.named}{len(self.forms)}"
        self.valid.add(token)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime}


@pytest.fixture
def server() -> Iterator[TokenServer]:
    with serving(TokenServer) as server:
        yield server


@pytest.fixture
def functions(calling: Calling, server: TokenServer) -> Functions:
    return calling(at=server.url)


def ask(server: TokenServer, url: str = "", **properties: Any) -> Call:
    authority = f"{url or server.url}/realm"
    auth = Auth(name="a", scheme="oauth2", properties={"authority": authority, **BY_CLIENT, **properties})
    function = Function(name="ask", type="http", operation="GET:/orders", auth_ref=AuthRef(invocation="a"))
    return Call(function, auth=(auth,), secrets=SECRETS, fill_auth=LANGUAGE.fill_auth)


@pytest.mark.parametrize(("properties", "form"), [
    ({}, {"grant_type": ["client_credentials"]}),
    ({"scopes": ["read", "write"], "audiences": ["shop", "stock"]},
     {"grant_type": ["client_credentials"], "scope": ["read write"], "audience": ["shop", "stock"]}),
    ({"grantType": "password", "username": "ada", "password": "pw&1"},
     {"grant_type": ["password"], "username": ["ada"], "password": ["pw&1"]}),
    ({"grantType": "resourceOwner", "username": "ada", "password": "pw"},
     {"grant_type": ["password"], "username": ["ada"], "password": ["pw"]}),
    (
        {**EXCHANGE, "requestedSubject": "eve", "requestedIssuer": "other", "audiences": ["shop"]},
        {**EXCHANGED, "subject_token_type": [f"{URN}:token-type:access_token"], "requested_subject": ["eve"],
         "requested_issuer": ["other"], "audience": ["shop"]},
    ),
    (
        {**EXCHANGE, "subjectTokenType": "jwt", "actorToken": "a-1", "requestedTokenType": "urn:example:own",
         "username": "nobody"},
        {**EXCHANGED, "subject_token_type": [f"{URN}:token-type:jwt"], "actor_token": ["a-1"],
         "actor_token_type": [f"{URN}:token-type:access_token"], "requested_token_type": ["urn:example:own"]},
    ),
])  # fmt: skip
async def test_grants(
    server: TokenServer, functions: Functions, properties: dict[str, Any], form: dict[str, list[str]]
) -> None:
    await functions.call(ask(server, **properties))
    assert server.forms == [form]
    assert server.logins == ["app:hush-hush"]


DESCRIBED = "GET /realm/.well-known/openid-configuration"


@pytest.mark.parametrize(("describes_itself", "asked"), [
    (True, [DESCRIBED, "POST /realm/token", "GET /orders"]),
    (False, ["GET /.well-known/oauth-authorization-server/realm", "POST /realm", "GET /orders"]),
])  # fmt: skip
async def test_an_authority_may_describe_itself(
    server: TokenServer, functions: Functions, asked: list[str], *, describes_itself: bool
) -> None:
    """Then the token endpoint is where it says. The token is not shown."""
    server.describes_itself = describes_itself
    assert await functions.call(ask(server)) == {"token": "***"}
    assert server.asked_for[-3:] == asked


async def test_a_public_client(server: TokenServer, functions: Functions) -> None:
    await functions.call(ask(server, **{**BY_PASSWORD, "clientSecret": None}))
    assert (server.forms[0]["client_id"], server.logins) == (["app"], [""])


async def test_an_authority_that_describes_itself_later(server: TokenServer, functions: Functions) -> None:
    server.describes_itself, server.refusal = False, (404, {})
    await fault_of(functions.call(ask(server)), "AuthFailed")
    server.describes_itself, server.refusal = True, None
    await functions.call(ask(server))
    assert server.asked_for[-3:] == ["GET /realm/.well-known/openid-configuration", "POST /realm/token", "GET /orders"]


async def test_calls_share_a_token(server: TokenServer, functions: Functions) -> None:
    await asyncio.gather(*(functions.call(ask(server)) for _ in range(5)))
    await functions.call(ask(server))
    assert len(server.forms) == 1
    await functions.call(ask(server, scopes=["write"]))
    assert len(server.forms) == 2


@pytest.mark.parametrize(("lifetime", "kept"), [(3600, 3569), (60, 53)])
async def test_a_token_is_replaced_before_it_expires(server: TokenServer, lifetime: int, kept: int) -> None:
    server.lifetime = lifetime
    now = 0.0
    grant = read_grant("a", {**BY_CLIENT, "authority": server.url, "clientId": "app", "clientSecret": "s"})
    async with aclosing(Http(Settings())) as http:
        tokens = Tokens(http, clock=lambda: now)
        first = await tokens.token(grant)
        now = float(kept)
        assert await tokens.token(grant) == first
        now += 2
        assert await tokens.token(grant) != first


@pytest.mark.parametrize("lifetime", [0, "0", 0.0, -1])
async def test_a_token_that_has_expired_is_not_kept(server: TokenServer, functions: Functions, lifetime: Any) -> None:
    """It is sent once, and the next call gets another one."""
    server.lifetime = lifetime
    for _ in range(2):
        await functions.call(ask(server))
    sent = [one.headers["authorization"] for one in server.requests if one.path == "/orders"]
    assert sent == ["Bearer token-1", "Bearer token-2"]


async def test_a_token_that_is_refused_is_renewed_once(server: TokenServer, functions: Functions) -> None:
    """A service may refuse a token before its end: calls are made once more with a new one, which they share."""
    await functions.call(ask(server))
    server.valid.clear()
    await asyncio.gather(*(functions.call(ask(server)) for _ in range(5)))
    assert len(server.forms) == 2
    assert server.asked_for[-3:].count("GET /orders") > 1


async def test_a_service_that_refuses_all_tokens(server: TokenServer) -> None:
    """The call fails as the service says after one repetition, and shows no token."""
    seen: list[str] = []

    async def perform(call: Call) -> JSON:
        seen.append(str(call.auth[0].properties))
        raise CallFailed("no", code=401, status=401)

    async with aclosing(Http(Settings())) as http:
        await fault_of(with_tokens(["a"], ask(server), Tokens(http), perform), "401", "no")
    assert len(seen) == len(set(seen)) == 2


async def test_tokens_are_no_expressions(server: TokenServer, functions: Functions) -> None:
    server.named = "${ $SECRETS.login.secret }"
    await functions.call(ask(server))
    assert server.valid == {"${ $SECRETS.login.secret }1"}


async def test_tokens_are_not_shown(server: TokenServer, functions: Functions) -> None:
    """In no encoding: they are secrets like others."""
    server.named = "tok-8f3a2b1c9d7e6f5a4b3c"
    for shown in (
        str,
        lambda token: token.encode().hex(),
        lambda token: token.encode().hex().upper(),
        lambda token: base64.b64encode(token.encode()).decode(),
        lambda token: [ord(one) for one in token],
    ):
        server.shows = shown
        assert await functions.call(ask(server)) in ({"token": "***"}, {"token": ["***"]})
    server.shows = lambda token: {f"for {token.encode().hex()}": base64.b64encode(f"x {token}".encode()).decode()}
    told = json.dumps(await functions.call(ask(server)))
    assert "for ***" in told
    assert base64.b64encode(b"8f3a2b1c9d7e6f").decode()[:8] not in told


@pytest.mark.parametrize(("answer", "retryable", "shown"), [
    ((400, {"error": "invalid_scope", "error_description": "not hush-hush"}), False, "invalid_scope: not ***"),
    ((401, {"error": "invalid_client"}), False, "invalid_client"),
    ((404, {}), False, "404 Not Found"),
    ((429, {}), True, "429"),
    ((503, {"error": "temporarily_unavailable"}), True, "503"),
    ((200, {"token": "x"}), False, "Missing access token"),
    ((200, [1]), False, "does not conform to OAuth2"),
])  # fmt: skip
async def test_a_token_that_is_not_granted(
    server: TokenServer, functions: Functions, answer: tuple[int, Any], *, retryable: bool, shown: str
) -> None:
    server.refusal = answer
    fault = await fault_of(functions.call(ask(server)), "AuthFailed", shown, retryable=retryable)
    assert "hush" not in fault.message


async def test_calls_share_a_failure(server: TokenServer, functions: Functions) -> None:
    server.refusal = (503, {})
    faults = await asyncio.gather(*(fault_of(functions.call(ask(server))) for _ in range(5)))
    assert {fault.code for fault in faults} == {"AuthFailed"}
    assert server.asked_for.count("POST /realm/token") == 1
    server.refusal = None
    assert await functions.call(ask(server)) == {"token": "***"}


async def test_an_authority_that_is_not_there(functions: Functions, server: TokenServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    await fault_of(functions.call(ask(server, url)), "AuthFailed", retryable=True)


@pytest.mark.parametrize(("properties", "shown"), [
    ({"grantType": "clientcredentials"}, "did you mean 'clientCredentials'"),
    ({"grantType": "password", "username": "ada"}, "lacks 'password'"),
    ({"grantType": "tokenExchange"}, "lacks 'subjectToken'"),
    ({"clientSecret": None}, "lacks 'clientSecret'"),
    ({"authority": None}, "lacks 'authority'"),
])  # fmt: skip
async def test_what_is_missing_is_told(
    server: TokenServer, functions: Functions, properties: dict[str, Any], shown: str
) -> None:
    await fault_of(functions.call(ask(server, **properties)), "BadAuth", shown, retryable=False)
    assert server.asked_for == []


async def test_calls_that_wait_for_a_token_leave_others_room(calling: Calling, server: TokenServer) -> None:
    """One of them asks for it, and may have to wait for the limits of the authority's host."""
    host = read_pattern(server.url.removeprefix("http://"))
    settings = Settings(calls=Options(base_url=server.url, concurrency=3), hosts={host: Options(rate=Rate(1, 3600))})
    functions = calling({"quick": dict}, settings)
    slow = [asyncio.create_task(functions.call(ask(server))) for _ in range(6)]
    while not server.asked_for:
        await asyncio.sleep(0.01)
    quick = [asyncio.create_task(functions.call(Call(Function(name="quick", type="custom")))) for _ in range(5)]
    done, _ = await asyncio.wait(quick, timeout=5)
    for task in (*slow, *quick):
        task.cancel()
    await asyncio.gather(*slow, *quick, return_exceptions=True)
    assert done == {*quick}
