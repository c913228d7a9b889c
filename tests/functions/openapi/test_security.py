"""Operations are called with the credentials that their documents ask for."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.functions.call import Call
from swf_temporal.functions.calling import Functions
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service

SCHEMES: dict[str, Any] = {
    "basic": {"type": "http", "scheme": "Basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "inHeader": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "whole": {"type": "apiKey", "in": "header", "name": "Authorization"},
    "inQuery": {"type": "apiKey", "in": "query", "name": "key"},
    "inCookie": {"type": "apiKey", "in": "cookie", "name": "key"},
    "tokens": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}},
    "login": {"type": "oauth2", "flows": {"password": {"tokenUrl": "/token", "scopes": {}}}},
    "browser": {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "/ask", "scopes": {}}}},
    "elsewhere": {"type": "openIdConnect", "openIdConnectUrl": "/me"},
}
SWAGGER_SCHEMES: dict[str, Any] = {
    "basic": {"type": "basic"},
    "inHeader": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "tokens": {"type": "oauth2", "flow": "application", "tokenUrl": "/token", "scopes": {}},
}
PASSWORD = {"username": "ada", "password": "pw-1"}
BASIC = "Basic " + base64.b64encode(b"ada:pw-1").decode()
CLIENT = {"clientId": "app", "clientSecret": "hush"}
GRANT = {"grantType": "clientCredentials", "authority": "of the service"}
DSL = {
    "grant": "client_credentials",
    "client": {"id": "app", "secret": "hush"},
    "authority": "of the service",
    "endpoints": {"token": "/token"},
}
"""What an authentication of DSL 1.0 has: it says itself where its tokens are."""


@pytest.fixture
def functions(calling: Calling) -> Functions:
    return calling()


def reading(service: Service, call: Call, **reference: str) -> Call:
    """Return *call*, whose document is fetched with a token."""
    properties = {**CLIENT, **GRANT, "authority": f"{service.url}/token"}
    reader = Auth(name="reader", scheme="oauth2", properties=properties)
    function = replace(call.function, auth_ref=AuthRef(resource="reader", **reference))
    return replace(call, function=function, auth=(*call.auth, reader))


def declares(service: Service, security: Any, *, swagger: bool = False, at_root: bool = False) -> None:
    operation: dict[str, Any] = {"operationId": "ask"}
    document: dict[str, Any] = {"paths": {"/a": {"get": operation}}}
    (document if at_root else operation)["security"] = security
    if swagger:
        document |= {"swagger": "2.0", "securityDefinitions": SWAGGER_SCHEMES}
    else:
        document |= {"openapi": "3.0.0", "components": {"securitySchemes": SCHEMES}}
    service.answers_with("GET", "/api.json", document)
    service.answers_with("GET", "/a", "ok")
    service.answers_with("POST", "/token", {"access_token": "t-1", "token_type": "Bearer"})


def ask(service: Service, scheme: str = "bearer", properties: Any = None, **facts: Any) -> Call:
    reference = AuthRef(invocation="a") if properties else None
    function = Function(name="ask", operation=f"{service.url}/api.json#ask", auth_ref=reference)
    return Call(function, auth=(Auth(name="a", scheme=scheme, properties=properties),), **facts)


@pytest.mark.parametrize(("wanted", "scheme", "properties", "header", "value", "where"), [
    ("basic", "bearer", {**PASSWORD, "token": "t-9"}, "authorization", BASIC, {}),
    ("bearer", "basic", "odd", "authorization", "Bearer ${ .t }", {}),
    ("bearer", "basic", {**PASSWORD, "token": "t-9"}, "authorization", "Bearer t-9", {}),
    ("inHeader", "basic", {**PASSWORD, "apiKey": "k-9"}, "x-key", "k-9", {}),
    ("inHeader", "bearer", {"token": "t-9"}, "x-key", "t-9", {"at_root": True}),
    ("inCookie", "bearer", {"key": "k 9"}, "cookie", "key=k%209", {}),
    ("whole", "bearer", {"token": "t-9"}, "authorization", "Bearer t-9", {}),
    ("whole", "basic", PASSWORD, "authorization", BASIC, {}),
    ("whole", "oauth2", {**CLIENT, **GRANT}, "authorization", "Bearer t-1", {}),
    ("whole", "bearer", {"token": "t-9", "key": "Token k-9"}, "authorization", "Token k-9", {}),
    ("whole", "basic", "odd", "authorization", "${ .t }", {}),
    ("tokens", "oauth2", CLIENT, "authorization", "Bearer t-1", {}),
    ("tokens", "bearer", {"token": "t-9"}, "authorization", "Bearer t-9", {}),
    ("login", "oauth2", {**CLIENT, **PASSWORD}, "authorization", "Bearer t-1", {}),
    *((wanted, scheme, DSL, "authorization", "Bearer t-1", {})
      for wanted in ("tokens", "bearer", "whole", "elsewhere") for scheme in ("oauth2", "oidc")),
    ("browser", "bearer", {"token": "t-9"}, "authorization", "Bearer t-9", {}),
    ("elsewhere", "basic", PASSWORD, "authorization", BASIC, {}),
    ("basic", "bearer", PASSWORD, "authorization", BASIC, {"swagger": True}),
    ("inHeader", "bearer", {"key": "k-9"}, "x-key", "k-9", {"swagger": True}),
    ("tokens", "bearer", CLIENT, "authorization", "Bearer t-1", {"swagger": True}),
])  # fmt: skip
async def test_the_document_says_how(  # noqa: PLR0913 - the facts of a case
    service: Service, functions: Functions, wanted: str, scheme: str, properties: Any, header: str, value: str, *,
    where: dict[str, bool],
) -> None:  # fmt: skip
    declares(service, [{wanted: []}], **where)
    service.answers_with("GET", "/.well-known/openid-configuration", {"token_endpoint": f"{service.url}/token"})
    if isinstance(properties, dict) and "authority" in properties:
        properties = {**properties, "authority": service.url}
    await functions.call(ask(service, scheme, properties, secrets={"odd": {"token": "${ .t }"}}))
    assert service.last.headers[header] == value
    assert header == "authorization" or "authorization" not in service.last.headers


async def test_a_key_in_the_query(service: Service, functions: Functions) -> None:
    declares(service, [{"inQuery": []}])
    await functions.call(ask(service, properties={"key": "k&9"}))
    assert service.last.query == [("key", "k&9")]


@pytest.mark.parametrize(("security", "properties"), [
    ([], {"token": "t-9"}), ([{}], {"token": "t-9"}), ([{"basic": []}, {}], {"token": "t-9"}), ([{"basic": []}], None),
])  # fmt: skip
async def test_what_is_sent_no_credentials(
    service: Service, functions: Functions, security: Any, properties: Any
) -> None:
    """An operation that anybody may call is sent none but those that it has a use for."""
    declares(service, security)
    assert await functions.call(ask(service, "bearer", properties)) == "ok"
    assert "authorization" not in service.last.headers


async def test_the_first_that_is_possible(service: Service, functions: Functions) -> None:
    declares(service, [{"inHeader": [], "basic": []}, {"basic": []}])
    await functions.call(ask(service, "basic", PASSWORD))
    assert service.last.headers["authorization"] == BASIC
    assert "x-key" not in service.last.headers


async def test_secrets_named_like_schemes(service: Service, functions: Functions) -> None:
    declares(service, [{"inHeader": [], "basic": []}])
    await functions.call(ask(service, secrets={"inHeader": "k-9", "basic": PASSWORD}))
    assert (service.last.headers["x-key"], service.last.headers["authorization"]) == ("k-9", BASIC)


async def test_scopes_of_the_operation(service: Service, functions: Functions) -> None:
    declares(service, [{"tokens": ["read", "write"]}])
    await functions.call(ask(service, "oauth2", CLIENT))
    [asked] = [request for request in service.requests if request.path == "/token"]
    assert b"scope=read+write" in asked.content


@pytest.mark.parametrize(("security", "properties", "code", "told"), [
    ([{"basic": []}, {"inHeader": [], "login": []}], {"username": "ada"}, "BadAuth",
     "asks for 'basic' or 'inHeader' and 'login', and auth 'a' has no credentials"),
    ([{"none": []}], {"token": "t"}, "BadDocument", ""),
])  # fmt: skip
async def test_the_wrong_credentials(
    service: Service, functions: Functions, security: Any, properties: Any, code: str, told: str
) -> None:
    declares(service, security)
    await fault_of(functions.call(ask(service, "basic", properties)), code, told, retryable=False)
    assert service.last.path == "/api.json"


async def test_keys_do_not_follow_redirects(service: Service, functions: Functions) -> None:
    """A key in a header is not shown to whoever the service redirects to, unless that is itself."""
    declares(service, [{"inHeader": []}])
    elsewhere = service.url.replace("127.0.0.1", "localhost")
    service.answers_with("GET", "/a", status=302, headers={"Location": "/b"})
    service.answers_with("GET", "/b", status=302, headers={"Location": f"{elsewhere}/c"})
    service.answers_with("GET", "/c", {})
    await functions.call(ask(service, properties={"key": "k-9"}))
    sent = [(request.path, "k-9" in request.headers.values()) for request in service.requests[-3:]]
    assert sent == [("/a", True), ("/b", True), ("/c", False)]


async def test_a_token_for_the_document(service: Service, functions: Functions) -> None:
    """What the document asks for is for its operations; it is itself fetched as the definition says."""
    declares(service, [{"inHeader": []}])
    await functions.call(reading(service, ask(service, properties={"key": "k-9"}), invocation="a"))
    sent = {request.path: request.headers.get("authorization") for request in service.requests}
    assert (sent["/api.json"], sent["/a"]) == ("Bearer t-1", None)


async def test_a_token_for_the_document_that_is_refused(service: Service, functions: Functions) -> None:
    declares(service, None)
    service.answers_with("GET", "/api.json", {"who": "are you?"}, status=401)
    fault = await fault_of(functions.call(reading(service, ask(service))), "NoDocument")
    paths = [request.path for request in service.requests if request.method == "POST" or request.path == "/api.json"]
    assert paths == ["/token", "/api.json", "/token", "/api.json"]
    assert fault.status is None


async def test_a_document_on_the_server_that_is_called(calling: Calling, service: Service) -> None:
    """What is for the call is shown to the document's server too if it is known to be the same, and to no other."""
    declares(service, None)
    elsewhere = service.url.replace("127.0.0.1", "localhost")
    for configured, is_shown in ((service.url, True), (elsewhere, False), (None, False)):
        await calling(at=configured).call(ask(service, "bearer", {"token": "t-9"}))
        [fetched] = [request for request in service.requests[-2:] if request.path == "/api.json"]
        assert ("authorization" in fetched.headers) is is_shown
        assert service.last.headers["authorization"] == "Bearer t-9"
