"""Tokens as auth definitions of DSL 1.0 describe them, by `oauth2` and `oidc`."""

import asyncio
import base64
import hmac
import json
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.auth.grants import read_grant
from swf_temporal.functions.auth.oauth2 import Tokens
from swf_temporal.functions.call import Call
from swf_temporal.functions.calling import Functions
from swf_temporal.functions.http.client import Http
from swf_temporal.languages.loading import load
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from swf_temporal.settings.calls import Settings
from tests.failing import fault_of
from tests.functions.auth.oauth_server import Client, Code, Server, Token
from tests.functions.auth.oauth_server import serving as serving_tokens
from tests.functions.conftest import Answer, Calling, Received, Service, serving

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - the name of a kind of token
BY_JWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
SECRET = "hush:hush & more, so that it is long enough"  # noqa: S105 - of a test
CLIENT: dict[str, Any] = {"id": "app", "secret": SECRET}
BY_CLIENT: dict[str, Any] = {"grant": "client_credentials", "client": CLIENT, "scopes": ["read"]}
BY_PASSWORD = {**BY_CLIENT, "grant": "password", "username": "ada", "password": "pw & more"}
DESCRIBED = "/realm/.well-known/openid-configuration"


def ask(authority: str, properties: Any, scheme: str = "oauth2", **facts: Any) -> Call:
    if isinstance(properties, dict):
        properties = {"authority": authority, **properties}
    function = Function("ask", "request", auth_ref=AuthRef(invocation="a"))
    return Call(function, {"method": "get", "uri": "/orders"}, auth=(Auth("a", scheme, properties),), **facts)


# A server by a library of others:


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_tokens() as server:
        server.clients["app"] = Client("app", SECRET, "client_secret_post")
        for owner in ("ada", "bob"):
            server.tokens[f"{owner}'s"] = Token(f"{owner}'s", owner, "read", "", 3600)
        server.refreshing["r-1"] = Token("r-1", "ada", "read", "", 3600)
        server.codes["c-1"] = Code("ada")
        server.codes["c-2"] = Code("bob", "https://app.example/back")
        yield server


@pytest.fixture
def functions(calling: Calling, server: Server) -> Functions:
    return calling(at=server.url)


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return RSAKey.generate_key(2048)


GRANTS: dict[str, tuple[dict[str, Any], str]] = {
    "client": (BY_CLIENT, "app"),
    "password": ({**BY_PASSWORD, "audiences": ["shop"]}, "ada"),
    "exchange": ({**BY_CLIENT, "grant": EXCHANGE, "subject": {"token": "ada's", "type": ACCESS_TOKEN}}, "ada"),
    "exchange for another": (
        {**BY_CLIENT, "grant": EXCHANGE, "subject": {"token": "ada's", "type": "access_token"},
         "actor": {"token": "bob's", "type": ACCESS_TOKEN}}, "ada by bob",
    ),
    "refresh": ({**BY_CLIENT, "grant": "refresh_token", "subject": {"token": "r-1"}}, "ada"),
    "code": ({**BY_CLIENT, "grant": "authorization_code", "subject": {"token": "c-1"}}, "ada"),
    "code with a URI": (
        {**BY_CLIENT, "grant": "authorization_code", "subject": {"token": "c-2"},
         "redirectUri": "https://app.example/back"}, "bob",
    ),
}  # fmt: skip


@pytest.mark.parametrize("grant", GRANTS)
@pytest.mark.parametrize(("scheme", "path"), [("oauth2", "/realm"), ("oidc", "/realm"), ("oidc", DESCRIBED)])
async def test_grants(server: Server, functions: Functions, grant: str, scheme: str, path: str) -> None:
    properties, subject = GRANTS[grant]
    answer: Any = await functions.call(ask(f"{server.url}{path}", properties, scheme))
    assert (answer["for"], answer["audience"]) == (subject, "".join(properties.get("audiences", ())))


@pytest.mark.parametrize("method", [None, "client_secret_post", "client_secret_basic", "client_secret_jwt", "none"])
@pytest.mark.parametrize("scheme", ["oauth2", "oidc"])
async def test_how_a_client_proves_itself(
    server: Server, functions: Functions, scheme: str, method: str | None
) -> None:
    """As the definition says; what the server says that it supports does not count."""
    server.clients["app"].method = method or "client_secret_post"
    server.methods = []
    given = CLIENT if method is None else {"id": "app", "secret": SECRET, "authentication": method}
    answer: Any = await functions.call(ask(f"{server.url}/realm", {**BY_PASSWORD, "client": given}, scheme))
    assert answer["for"] == "ada"
    assert len(server.assertions) == (method == "client_secret_jwt")
    if method not in {None, "none"}:
        given = {**given, "secret": "x" * 40}
        call = ask(f"{server.url}/realm", {**BY_PASSWORD, "client": given}, scheme)
        await fault_of(functions.call(call), "AuthFailed", "invalid_client", retryable=False)


async def test_an_assertion_is_signed_for_each_request(server: Server, functions: Functions) -> None:
    server.clients["app"].method = "client_secret_jwt"
    client = {**CLIENT, "authentication": "client_secret_jwt"}
    for scopes in (["read"], ["read", "write"]):
        await functions.call(ask(f"{server.url}/realm", {**BY_CLIENT, "scopes": scopes, "client": client}))
    assert len({claims["jti"] for claims in server.assertions}) == 2


async def test_a_client_with_an_assertion_of_its_own(server: Server, functions: Functions, key: RSAKey) -> None:
    server.clients["app"].method = "private_key_jwt"
    server.public_key = RSAKey.import_key(key.as_dict(private=False))
    claims = {"iss": "app", "sub": "app", "aud": f"{server.url}/realm/oauth2/token", "jti": "1", "exp": 4102444800}
    client = {"id": "app", "authentication": "private_key_jwt"}
    for signing, is_right in ((key, True), (RSAKey.generate_key(2048), False)):
        assertion = jwt.encode({"alg": "RS256"}, claims, signing)
        call = ask(f"{server.url}/realm", {**BY_CLIENT, "client": {**client, "assertion": assertion}})
        if is_right:
            assert await functions.call(call) == {"for": "app", "audience": "", "zone": None}
        else:
            fault = await fault_of(functions.call(call), "AuthFailed")
            assert assertion not in fault.message


@pytest.mark.parametrize("kind", ["RSA", "P-256"])
async def test_a_client_with_a_private_key(server: Server, functions: Functions, key: RSAKey, kind: str) -> None:
    """An assertion is signed with it for each request."""
    private: Any = key if kind == "RSA" else ECKey.generate_key("P-256")
    server.clients["app"].method = "private_key_jwt"
    server.public_key = type(private).import_key(private.as_dict(private=False))
    client = {"id": "app", "authentication": "private_key_jwt", "assertion": private.as_pem(private=True).decode()}
    for scopes in (["read"], ["read", "write"]):
        call = ask(f"{server.url}/realm", {**BY_CLIENT, "scopes": scopes, "client": client})
        assert await functions.call(call) == {"for": "app", "audience": "", "zone": None}
    assert len({claims["jti"] for claims in server.assertions}) == 2


@pytest.mark.parametrize(("key", "told"), [
    ("-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----", "cannot be used: it cannot be read"),
    (ECKey.generate_key("P-384").as_pem(private=True).decode(), "must be RSA, or elliptic with the curve P-256"),
], ids=["no key", "P-384"])  # fmt: skip
async def test_keys_that_cannot_sign(server: Server, functions: Functions, key: str, told: str) -> None:
    client = {"id": "app", "authentication": "private_key_jwt", "assertion": key}
    call = ask(f"{server.url}/realm", {**BY_CLIENT, "client": client})
    fault = await fault_of(functions.call(call), "BadAuth", told, retryable=False)
    assert "hush" not in fault.message


async def test_refresh_tokens_replace_each_other(server: Server) -> None:
    """Each may be used once: the next request has the one in the last answer."""
    async with aclosing(Http(Settings())) as http:
        tokens = Tokens(http)
        for first in ("r-1", "c-1"):
            kind = "refresh_token" if first == "r-1" else "authorization_code"
            given: JSON = {**BY_CLIENT, "grant": kind, "subject": {"token": first}, "authority": f"{server.url}/realm"}
            grant = read_grant("a", given)  # type: ignore[arg-type]
            seen = []
            for _ in range(3):
                token = await tokens.token(grant)
                assert server.tokens[token].subject == "ada"
                seen.append(token)
                tokens.forget(grant, token)
            assert len(set(seen)) == 3
            assert len(server.refreshing) == 1
            assert {*seen, *server.refreshing} <= set(tokens.issued())
            server.refreshing.clear()
            # What it has is revoked: the next request begins anew.
            await fault_of(tokens.token(grant), "AuthFailed", "invalid_grant", retryable=False)
            if first == "r-1":
                server.refreshing["r-1"] = Token("r-1", "bob", "read", "", 3600)
                assert server.tokens[await tokens.token(grant)].subject == "bob"
                server.refreshing.clear()


@pytest.mark.parametrize("scheme", ["oauth2", "oidc"])
async def test_properties_in_a_secret(server: Server, functions: Functions, scheme: str) -> None:
    secret = {**BY_CLIENT, "authority": f"{server.url}/realm"}
    await functions.call(ask("", "login", scheme, secrets={"login": secret}))
    assert [token.subject for token in server.tokens.values()] == ["ada", "bob", "app"]
    # The secret may also have the properties of version 0.8.
    old = {"authority": f"{server.url}/realm", "grantType": "password", "clientId": "app", "clientSecret": SECRET,
           "username": "ada", "password": "pw & more", "scopes": ["read"]}  # fmt: skip
    server.methods = ["client_secret_post"]
    await functions.call(ask("", "login", scheme, secrets={"login": old}))
    assert [token.subject for token in server.tokens.values()] == ["ada", "bob", "app", "ada"]
    await fault_of(functions.call(ask("", "none", scheme)), "NoSecret")


OF_08 = """
id: a
version: 1.0.0
specVersion: "0.8"
secrets: [login]
auth:
  - name: a
    scheme: {scheme}
    properties:
      authority: {authority}
      grant: client_credentials
      client: {{id: "${{ $SECRETS.login.id }}", secret: "${{ $SECRETS.login.secret }}"}}
      scopes: [read]
functions:
  - {{name: ask, type: request, authRef: a}}
states:
  - {{name: A, type: operation, actions: [{{functionRef: ask}}], end: true}}
"""


@pytest.mark.parametrize("scheme", ["oauth2", "oidc"])
async def test_definitions_of_08(server: Server, functions: Functions, scheme: str) -> None:
    """They may have these properties, too, with secrets at any depth."""
    [called] = load(OF_08.format(scheme=scheme, authority=f"{server.url}/realm")).functions
    function = Function("ask", "request", auth_ref=AuthRef(invocation="a"))
    assert called.function == function
    client: JSON = {"id": "${ $SECRETS.login.id }", "secret": "${ $SECRETS.login.secret }"}
    call = ask(f"{server.url}/realm", {**BY_CLIENT, "client": client}, scheme, secrets={"login": CLIENT})
    await functions.call(replace(call, function=function, fill_auth=LANGUAGE.fill_auth))
    assert [token.subject for token in server.tokens.values()] == ["ada", "bob", "app"]


# A server that records what it is sent:


def token_of(issuer: str | None) -> str:
    """Return a JWT of *issuer*."""
    parts = ({"alg": "HS256"}, {"sub": "ada"} if issuer is None else {"iss": issuer, "sub": "ada"})
    signed = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{signed}.{base64.urlsafe_b64encode(hmac.digest(b'k', signed.encode(), 'sha256')).decode().rstrip('=')}"


class Recorder(Service):
    def __init__(self, server: ThreadingHTTPServer) -> None:
        super().__init__(server)
        self.metadata: Any = None
        self.status = 404
        """That of a description which there is not."""
        self.refusal: Any = None
        self.token = "token-4eC39HqLyjWDarjtT1"  # noqa: S105 - of a test

    def answer_to(self, request: Received) -> Answer:
        status, body = self._answer(request)
        return Answer(json.dumps(body).encode(), status, {"Content-Type": "application/json"})

    def _answer(self, request: Received) -> tuple[int, Any]:
        if request.path == "/orders":
            given = request.headers.get("authorization")
            return (200, {"token": self.token}) if given == f"Bearer {self.token}" else (401, {})
        if request.method == "GET":
            return (self.status, {}) if self.metadata is None else (200, self.metadata)
        if self.refusal:
            return 400, self.refusal
        return 200, {"access_token": self.token, "token_type": "Bearer", "expires_in": 3600}

    @property
    def token_request(self) -> Received:
        """The request for a token."""
        [request] = [request for request in self.requests if request.method == "POST"]
        return request


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with serving(Recorder) as recorder:
        yield recorder


@pytest.mark.parametrize(("properties", "expected"), [
    (BY_CLIENT, {"grant_type": "client_credentials", "client_id": "app", "client_secret": SECRET, "scope": "read"}),
    ({**BY_CLIENT, "scopes": ["a", "b"], "audiences": ["x"], "subject": {"token": "t", "type": "jwt"}},
     {"grant_type": "client_credentials", "client_id": "app", "client_secret": SECRET, "scope": "a b",
      "audience": "x"}),
    ({"grant": "password", "username": "ada", "password": "pw", "client": {"authentication": "none"}},
     {"grant_type": "password", "username": "ada", "password": "pw"}),
    ({"grant": "password", "username": "ada", "password": "pw", "client": {"id": "app"}},
     {"grant_type": "password", "username": "ada", "password": "pw", "client_id": "app"}),
    ({"grant": EXCHANGE, "client": CLIENT, "subject": {"token": "s", "type": "jwt"},
      "actor": {"token": "t", "type": "urn:example:own"}},
     {"grant_type": EXCHANGE, "client_id": "app", "client_secret": SECRET, "subject_token": "s",
      "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "actor_token": "t",
      "actor_token_type": "urn:example:own"}),
    ({"grant": "client_credentials",
      "client": {"id": "app", "authentication": "private_key_jwt", "assertion": "a.b.c"}},
     {"grant_type": "client_credentials", "client_id": "app", "client_assertion_type": BY_JWT,
      "client_assertion": "a.b.c"}),
])  # fmt: skip
@pytest.mark.parametrize("encoding", [None, "application/x-www-form-urlencoded", "application/json"])
async def test_requests(
    recorder: Recorder, calling: Calling, encoding: str | None, properties: dict[str, Any], expected: dict[str, str]
) -> None:
    asking = {} if encoding is None else {"request": {"encoding": encoding}}
    call = ask(f"{recorder.url}/realm/", {**properties, **asking})
    assert await calling(at=recorder.url).call(call) == {"token": "***"}
    sent = recorder.token_request
    assert sent.path == "/realm/oauth2/token"
    assert sent.headers["content-type"] == (encoding or "application/x-www-form-urlencoded")
    assert "authorization" not in sent.headers
    body = sent.body if encoding == "application/json" else dict(parse_qsl(sent.content.decode(), strict_parsing=True))
    assert body == expected


@pytest.mark.parametrize("encoding", ["application/x-www-form-urlencoded", "application/json"])
async def test_several_audiences(recorder: Recorder, calling: Calling, encoding: str) -> None:
    given = {**BY_CLIENT, "audiences": ["x", "y"], "request": {"encoding": encoding}}
    await calling(at=recorder.url).call(ask(recorder.url, given))
    content = recorder.token_request.content
    if encoding == "application/json":
        assert json.loads(content)["audience"] == ["x", "y"]
    else:
        assert [value for name, value in parse_qsl(content.decode()) if name == "audience"] == ["x", "y"]


async def test_a_login_in_a_header_beside_json(recorder: Recorder, calling: Calling) -> None:
    client = {**CLIENT, "authentication": "client_secret_basic"}
    given = {**BY_CLIENT, "client": client, "request": {"encoding": "application/json"}}
    await calling(at=recorder.url).call(ask(recorder.url, given))
    assert recorder.token_request.body == {"grant_type": "client_credentials", "scope": "read"}
    assert recorder.token_request.headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize(("authority", "endpoint", "path"), [
    ("", None, "/oauth2/token"),
    ("/realms/shop", None, "/realms/shop/oauth2/token"),
    ("/realms/shop/", "/protocol/openid-connect/token", "/realms/shop/protocol/openid-connect/token"),
    ("/realms/shop", "token", "/realms/shop/token"),
    ("/realms/shop", "{url}/elsewhere", "/elsewhere"),
])  # fmt: skip
async def test_the_token_endpoint(
    recorder: Recorder, calling: Calling, authority: str, endpoint: str | None, path: str
) -> None:
    """It is below the authority, which is not asked to describe itself."""
    named = {} if endpoint is None else {"endpoints": {"token": endpoint.format(url=recorder.url)}}
    await calling(at=recorder.url).call(ask(f"{recorder.url}{authority}", {**BY_CLIENT, **named}))
    assert [(one.method, one.path) for one in recorder.requests] == [("POST", path), ("GET", "/orders")]


async def test_an_authority_of_oidc_says_where_tokens_are(recorder: Recorder, calling: Calling) -> None:
    recorder.metadata = {"token_endpoint": f"{recorder.url}/a/b", "token_endpoint_auth_methods_supported": ["none"]}
    functions = calling(at=recorder.url)
    for path in ("/realm", DESCRIBED, "/realm/.well-known/own"):
        recorder.requests.clear()
        await functions.call(ask(f"{recorder.url}{path}", BY_CLIENT, "oidc"))
        asked = path if ".well-known" in path else DESCRIBED
        assert [one.path for one in recorder.requests] == [asked, "/a/b", "/orders"]


async def test_an_authority_of_oidc_without_a_description_is_the_token_endpoint(
    recorder: Recorder, calling: Calling
) -> None:
    await calling(at=recorder.url).call(ask(f"{recorder.url}/realm", BY_CLIENT, "oidc"))
    described = [("GET", DESCRIBED), ("GET", "/.well-known/oauth-authorization-server/realm")]
    assert [(one.method, one.path) for one in recorder.requests] == [*described, ("POST", "/realm"), ("GET", "/orders")]


@pytest.mark.parametrize(("path", "metadata"), [
    ("/realm", {}), ("/realm", {"token_endpoint": 5}), ("/realm", ["a"]), ("/realm", "<html>"), (DESCRIBED, None),
])  # fmt: skip
async def test_a_description_of_oidc_must_name_the_token_endpoint(
    recorder: Recorder, calling: Calling, path: str, metadata: Any
) -> None:
    recorder.metadata = metadata
    call = ask(f"{recorder.url}{path}", BY_CLIENT, "oidc")
    told = "the authority does not describe itself with a token_endpoint"
    await fault_of(calling(at=recorder.url).call(call), "AuthFailed", told, retryable=False)
    assert {request.method for request in recorder.requests} == {"GET"}


async def test_an_authority_of_oidc_that_cannot_describe_itself_now(recorder: Recorder, calling: Calling) -> None:
    """It is not taken for the token endpoint: tokens may be elsewhere."""
    recorder.status = 500
    call = ask(f"{recorder.url}/realm", BY_CLIENT, "oidc")
    await fault_of(calling(at=recorder.url).call(call), "AuthFailed", "500", retryable=True)
    unreachable = ask("http://127.0.0.1:1/realm", BY_CLIENT, "oidc")
    await fault_of(calling(at=recorder.url).call(unreachable), "AuthFailed", retryable=True)
    assert {request.method for request in recorder.requests} == {"GET"}


@pytest.mark.parametrize("scheme", ["oauth2", "oidc"])
@pytest.mark.parametrize(("token", "told"), [
    (token_of("https://login.example"), None),
    (token_of("https://other.example"), None),
    ("opaque", None),
    ("a.b.c", None),
    (token_of("https://evil.example"), "the issuer of the token is 'https://evil.example'"),
    (token_of(None), "the issuer of the token is None"),
])  # fmt: skip
async def test_issuers(recorder: Recorder, calling: Calling, scheme: str, token: str, told: str | None) -> None:
    recorder.token, recorder.metadata = token, {"token_endpoint": f"{recorder.url}/token"}
    issuers = ["https://login.example", "https://other.example"]
    call = ask(recorder.url, {**BY_CLIENT, "issuers": issuers}, scheme)
    if told is None:
        await calling(at=recorder.url).call(call)
        assert recorder.last.headers["authorization"] == f"Bearer {token}"
    else:
        fault = await fault_of(calling(at=recorder.url).call(call), "AuthFailed", told, retryable=False)
        assert token not in fault.message
        assert "/orders" not in {request.path for request in recorder.requests}
    await calling(at=recorder.url).call(ask(recorder.url, BY_CLIENT, scheme))


async def test_calls_share_a_token(recorder: Recorder, calling: Calling) -> None:
    functions = calling(at=recorder.url)
    await asyncio.gather(*(functions.call(ask(recorder.url, BY_CLIENT)) for _ in range(5)))
    assert sum(request.method == "POST" for request in recorder.requests) == 1


@pytest.mark.parametrize(("properties", "told"), [
    ({"grant": "clientCredentials"}, "did you mean 'client_credentials'"),
    ({"grant": None}, "the grant None is not one of authorization_code"),
    ({"client": {"secret": "s"}}, "lacks 'client.id'"),
    ({"client": None}, "lacks 'client.id'"),
    ({"client": {"id": "app"}}, "lacks 'client.secret'"),
    ({"client": {"id": "app", "authentication": "client_secret_jwt"}}, "lacks 'client.secret'"),
    ({"client": {**CLIENT, "authentication": "private_key_jwt"}}, "lacks 'client.assertion'"),
    ({"client": {**CLIENT, "authentication": "secret_post"}}, "did you mean 'client_secret_post'"),
    ({"request": {"encoding": "text/plain"}}, "the request.encoding 'text/plain' is not one of"),
    ({"grant": "password", "username": "ada"}, "lacks 'password'"),
    ({"grant": EXCHANGE}, "lacks 'subject.token'"),
    ({"grant": "refresh_token"}, "lacks 'subject.token', which refresh_token needs"),
    ({"grant": "authorization_code"}, "lacks 'subject.token'"),
    ({"authority": None}, "lacks 'authority'"),
])  # fmt: skip
@pytest.mark.parametrize("scheme", ["oauth2", "oidc"])
async def test_what_is_missing_is_told(
    recorder: Recorder, calling: Calling, scheme: str, properties: dict[str, Any], told: str
) -> None:
    call = ask(recorder.url, {**BY_CLIENT, **properties}, scheme)
    await fault_of(calling(at=recorder.url).call(call), "BadAuth", told, retryable=False)
    assert recorder.requests == []


async def test_secrets_are_not_told(recorder: Recorder, calling: Calling) -> None:
    """Of a fault of the token server that repeats what it was sent."""
    recorder.refusal = {"error": "invalid_request", "error_description": f"{SECRET} and code-hush"}
    given = {**BY_CLIENT, "grant": "authorization_code", "subject": {"token": "code-hush"}}
    fault = await fault_of(calling(at=recorder.url).call(ask(recorder.url, given)), "AuthFailed", "*** and ***")
    assert "hush" not in fault.message
