"""Tokens of an OAuth2 server that is not ours, and the service that takes them."""

from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.functions.call import Call
from swf_temporal.functions.calling import Functions
from tests.failing import fault_of
from tests.functions.auth.oauth_server import Client, Server, Token, serving
from tests.functions.conftest import Calling

CLIENT: dict[str, Any] = {"clientId": "app", "clientSecret": "hush:hush & more", "scopes": ["read"]}
BY_CLIENT: dict[str, Any] = {**CLIENT, "grantType": "clientCredentials"}
BY_PASSWORD = {**CLIENT, "grantType": "password", "username": "ada", "password": "pw & more"}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        server.clients["app"] = Client("app", CLIENT["clientSecret"], "client_secret_basic")
        yield server


@pytest.fixture
def functions(calling: Calling, server: Server) -> Functions:
    return calling(at=server.url)


def ask(server: Server, properties: dict[str, Any]) -> Call:
    auth = Auth(name="a", scheme="oauth2", properties={"authority": f"{server.url}/realm", **properties})
    function = Function(name="ask", type="http", operation="GET:/orders", auth_ref=AuthRef(invocation="a"))
    return Call(function, auth=(auth,))


@pytest.mark.parametrize(("properties", "subject"), [
    (BY_CLIENT, "app"),
    ({**BY_PASSWORD, "audiences": ["shop"]}, "ada"),
    ({**CLIENT, "grantType": "tokenExchange", "subjectToken": "ada's"}, "ada"),
    ({**CLIENT, "grantType": "tokenExchange", "subjectToken": "ada's", "requestedSubject": "eve"}, "eve"),
    ({**CLIENT, "grantType": "tokenExchange", "subjectToken": "ada's", "actorToken": "bob's"}, "ada by bob"),
])  # fmt: skip
async def test_grants(server: Server, functions: Functions, properties: dict[str, Any], subject: str) -> None:
    for owner in ("ada", "bob"):
        server.tokens[f"{owner}'s"] = Token(f"{owner}'s", owner, "read", "", 3600)
    answer: Any = await functions.call(ask(server, properties))
    assert (answer["for"], answer["audience"]) == (subject, "".join(properties.get("audiences", ())))


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_how_a_client_proves_itself(server: Server, functions: Functions, method: str) -> None:
    server.clients["app"].method = method
    server.methods = [method]
    secret = {"clientSecret": None} if method == "none" else {}
    assert await functions.call(ask(server, {**BY_PASSWORD, **secret})) == {"for": "ada", "audience": "", "zone": None}


@pytest.mark.parametrize(("properties", "code", "told"), [
    ({**BY_CLIENT, "clientSecret": "wrong"}, "AuthFailed", "invalid_client"),
    ({**BY_PASSWORD, "password": "wrong"}, "AuthFailed", "Invalid 'username' or 'password'"),
    ({**CLIENT, "grantType": "tokenExchange", "subjectToken": "nobody's"}, "AuthFailed", "the subject_token is not"),
    ({**BY_CLIENT, "scopes": ["write"]}, "403", "403 Forbidden"),
])  # fmt: skip
async def test_what_is_not_granted(
    server: Server, functions: Functions, properties: dict[str, Any], code: str, told: str
) -> None:
    await fault_of(functions.call(ask(server, properties)), code, told)
