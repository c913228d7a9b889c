"""How functions prove who is calling."""

import base64
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.auth.auth import auth_for_document, headers_for
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from tests.failing import failing, fault_of
from tests.functions.conftest import Service, showing

SECRETS: dict[str, JSON] = {
    "shop": {"username": "ada", "password": "pw:1", "token": "t-42"},
    "my-shop": {"the token": "t-43", "parts": {"first": "t-", "second": "44"}},
    "plain": "t-45",
    "number": {"token": 46},
}
BASIC = "Basic " + base64.b64encode(b"ada:pw:1").decode()


def headers(scheme: str | None, properties: Any) -> dict[str, str]:
    auth = Auth(name="a", properties=properties) if scheme is None else Auth("a", scheme, properties)
    call = Call(Function(name="f"), auth=(auth,), secrets=SECRETS, fill_auth=LANGUAGE.fill_auth)
    return dict(headers_for("a", call))


def ask(scheme: str, properties: Any, arguments: JSON = None) -> Call:
    function = Function(name="ask", type="http", operation="GET:/a")
    return showing(Call(function, arguments, secrets=SECRETS, fill_auth=LANGUAGE.fill_auth), scheme, properties)


@pytest.mark.parametrize(("scheme", "properties", "expected"), [
    ("basic", {"username": "ada", "password": "pw:1"}, BASIC),
    ("basic", "shop", BASIC),
    (None, "shop", BASIC),
    ("basic", {"username": "ada", "password": "${ $SECRETS.shop.password }"}, BASIC),
    ("bearer", "shop", "Bearer t-42"),
    ("basic", "${ $SECRETS.shop }", BASIC),
    ("basic", "$SECRETS.shop", BASIC),
    ("bearer", {"token": "${$SECRETS.shop.token}"}, "Bearer t-42"),
    ("bearer", {"token": '${ $SECRETS["my-shop"]["the token"] }'}, "Bearer t-43"),
    ("bearer", {"token": "${ $SECRETS['my-shop']['the token'] }"}, "Bearer t-43"),
    ("bearer", {"token": '${ $SECRETS."my-shop"."the token" }'}, "Bearer t-43"),
    ("bearer", {"token": '${ $SECRETS["my-shop"].parts | .first + .second }'}, "Bearer t-44"),
    ("bearer", {"token": "${ $SECRETS.plain }/${ $SECRETS.shop.username }"}, "Bearer t-45/ada"),
    ("bearer", "plain", "Bearer t-45"),
    ("bearer", {"token": "pa$$word"}, "Bearer pa$$word"),
])  # fmt: skip
def test_credentials_become_a_header(scheme: str | None, properties: Any, expected: str) -> None:
    assert headers(scheme, properties) == {"Authorization": expected}


@pytest.mark.parametrize(("scheme", "properties", "code", "told"), [
    ("basic", {"username": "ada"}, "BadAuth", "lacks 'password'"),
    ("bearer", {"token": 5}, "BadAuth", "something that is not a text as 'token'"),
    ("bearer", "number", "BadAuth", "something that is not a text as 'token'"),
    ("bearer", None, "BadAuth", "lacks 'token'"),
    ("basic", "plain", "BadAuth", "lacks 'username'"),
    ("bearer", "none", "NoSecret", "needs the secret 'none'"),
    ("bearer", {"token": "${ $SECRETS.shop.none }"}, "NoSecret", "needs the secret 'shop.none'"),
    ("bearer", {"token": "x${ $SECRETS.shop.none }"}, "NoSecret", "needs the secret 'shop.none'"),
    ("bearer", {"token": "${ $CONST.token }"}, "BadAuth", "only $SECRETS has a value there"),
    ("bearer", {"token": "${ nothing }"}, "BadAuth", "cannot be evaluated"),
    ("bearer", {"token": "${ .token }"}, "BadAuth", "lacks 'token'"),
    ("bearer", {"token": "${ empty }"}, "BadAuth", "lacks 'token'"),
    ("apiKey", {"key": "k"}, "BadAuth", "lacks 'name'"),
    ("apiKey", {"name": "X-Key"}, "BadAuth", "lacks 'key'"),
    ("apiKey", {"name": "X-Key", "key": "k", "in": "body"}, "BadAuth", "not one of header, query, cookie"),
    ("apiKey", {"name": "X-Key", "key": "k", "in": "query"}, "BadAuth", "in: header"),
    ("oauth", {}, "BadAuth", "did you mean 'oauth2'?"),
    ("token", {}, "BadAuth", "is not one of basic, bearer, digest, oauth2, oidc, apiKey and certificate"),
    ("digest", {"username": "ada", "password": "pw"}, "BadAuth", "is for calls over HTTP, not for documents"),
])  # fmt: skip
def test_what_is_missing_is_told(scheme: str, properties: Any, code: str, told: str) -> None:
    with failing(code, "auth 'a'", retryable=False) as caught:
        headers(scheme, properties)
    assert told in caught.value.message


def test_a_certificate_is_not_in_a_header() -> None:
    """The connection shows it, with the settings of the operator."""
    assert headers("certificate", {}) == {}


def test_an_auth_that_is_not_defined() -> None:
    with pytest.raises(CallFailed, match="did you mean 'shop-auth'"):
        headers_for("shopauth", Call(Function(name="f"), auth=(Auth(name="shop-auth"),)))


@pytest.mark.parametrize(("properties", "sent", "query"), [
    ({"name": "X-Key", "key": "k-9"}, {"x-key": "k-9"}, []),
    ({"name": "X-Key", "in": "header", "apiKey": "${ $SECRETS.plain }"}, {"x-key": "t-45"}, []),
    ({"name": "key", "in": "cookie", "key": "k 9"}, {"cookie": "key=k%209"}, []),
    ({"name": "key", "in": "query", "key": "k&9"}, {}, [("key", "k&9")]),
])  # fmt: skip
async def test_keys(
    service: Service, functions: Functions, properties: Any, sent: dict[str, str], query: list[tuple[str, str]]
) -> None:
    service.answers_with("GET", "/a", "ok")
    assert await functions.call(ask("apiKey", properties, {"a": 1})) == "ok"
    assert sent.items() <= service.last.headers.items()
    assert service.last.query == [("a", "1"), *query]


@pytest.mark.parametrize(("reference", "service", "auth"), [
    (AuthRef(invocation="a"), "https://shop.example:443/v1", "a"),
    (AuthRef(invocation="a"), "https://elsewhere.example", None),
    (AuthRef(invocation="a"), "http://shop.example", None),
    (AuthRef(invocation="a"), "https://shop.example:8443", None),
    (AuthRef(invocation="a"), None, None),
    (AuthRef(invocation="a", resource="b"), "https://elsewhere.example", "b"),
    (AuthRef(resource="b"), None, "b"),
    (None, "https://shop.example", None),
])  # fmt: skip
def test_what_a_document_is_fetched_with(reference: AuthRef | None, service: str | None, auth: str | None) -> None:
    """Credentials for the call are shown to the document's server only if it is the one that is called."""
    call = Call(Function(name="f", auth_ref=reference))
    assert auth_for_document(call, "https://shop.example/api.json", service) == auth


async def test_document_and_service_have_each_their_own(service: Service, functions: Functions, tmp_path: Path) -> None:
    """`resource` is for fetching the document, `invocation` for calling; neither is sent to the other."""
    document = {"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "ask"}}}}
    service.answers_with("GET", "/api.json", document)
    service.answers_with("GET", "/a", "ok")
    auths = tuple(Auth(name=name, scheme="bearer", properties={"token": name}) for name in ("fetching", "calling"))
    function = Function(
        name="ask", operation=f"{service.url}/api.json#ask", auth_ref=AuthRef(resource="fetching", invocation="calling")
    )
    assert await functions.call(Call(function, auth=auths, base=str(tmp_path))) == "ok"
    sent = {request.path: request.headers["authorization"] for request in service.requests}
    assert sent == {"/api.json": "Bearer fetching", "/a": "Bearer calling"}


async def test_credentials_do_not_appear_in_faults(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/a", {"got": "t-42"}, status=403)
    fault = await fault_of(functions.call(ask("bearer", "shop")))
    assert fault.body == {"got": "***"}


@pytest.mark.parametrize(("scheme", "properties"), [
    ("basic", {"username": "ada", "password": "${ $SECRETS.shop.password }"}),
    ("bearer", {"token": '${ $SECRETS["my-shop"].parts | .first + .second + "-4eC39HqLyj" }'}),
])  # fmt: skip
async def test_what_was_made_of_secrets_does_not_appear(
    service: Service, functions: Functions, scheme: str, properties: Any
) -> None:
    """A service that shows the headers that it was sent shows no credentials, though no secret is written like them."""
    sent = headers(scheme, properties)["Authorization"]
    service.answers_with("GET", "/a", {"got": sent})
    answer = await functions.call(ask(scheme, properties))
    assert service.last.headers["authorization"] == sent
    assert answer == {"got": f"{sent.split()[0]} ***"}
