"""How functions prove who is calling."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.auth import headers_for
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.model.definitions import Auth, AuthRef, Function

if TYPE_CHECKING:
    from tests.functions.conftest import Failed, Service

SECRETS: dict[str, JSON] = {"shop": {"username": "ada", "password": "pw:1", "token": "t-42"}, "plain": "text"}
BASIC = "Basic " + base64.b64encode(b"ada:pw:1").decode()


def headers(scheme: str, properties: Any) -> dict[str, str]:
    """Return the headers that the auth `a` makes."""
    call = Call(Function(name="f"), auth=(Auth(name="a", scheme=scheme, properties=properties),), secrets=SECRETS)
    return dict(headers_for("a", call))


@pytest.mark.parametrize(
    ("scheme", "properties", "expected"),
    [
        ("basic", {"username": "ada", "password": "pw:1"}, BASIC),
        ("basic", "shop", BASIC),
        ("basic", {"username": "ada", "password": "${ $SECRETS.shop.password }"}, BASIC),
        ("bearer", "shop", "Bearer t-42"),
        ("bearer", {"token": "${$SECRETS.shop.token}"}, "Bearer t-42"),
    ],
)
def test_credentials_become_a_header(scheme: str, properties: Any, expected: str) -> None:
    """Properties are written out, or are a secret, or name secrets one by one."""
    assert headers(scheme, properties) == {"Authorization": expected}


def test_an_auth_without_a_scheme_is_basic() -> None:
    """The scheme may be left out: it is basic then."""
    auth = Auth(name="a", properties="shop")
    assert dict(headers_for("a", Call(Function(name="f"), auth=(auth,), secrets=SECRETS))) == {"Authorization": BASIC}


@pytest.mark.parametrize(
    ("scheme", "properties", "code"),
    [
        ("basic", {"username": "ada"}, "BadAuth"),
        ("bearer", {"token": 5}, "BadAuth"),
        ("bearer", "plain", "BadAuth"),
        ("bearer", "none", "NoSecret"),
        ("bearer", {"token": "${ $SECRETS.shop.none }"}, "NoSecret"),
        ("oauth2", {}, "Unsupported"),
        ("digest", {}, "Unsupported"),
    ],
)
def test_what_is_missing_is_told(scheme: str, properties: Any, code: str) -> None:
    """The fault names the auth, and trying again does not help."""
    with pytest.raises(CallFailed, match="auth 'a'") as caught:
        headers(scheme, properties)

    assert (caught.value.code, caught.value.retryable) == (code, False)


def test_an_auth_that_is_not_defined() -> None:
    """The fault names the auth that was perhaps meant."""
    with pytest.raises(CallFailed, match="did you mean 'shop-auth'"):
        headers_for("shopauth", Call(Function(name="f"), auth=(Auth(name="shop-auth"),)))


async def test_document_and_service_have_each_their_own(service: Service, functions: Functions, tmp_path: Path) -> None:
    """`resource` is for fetching the document, `invocation` for calling; neither is sent to the other."""
    document = {"openapi": "3.0.0", "paths": {"/a": {"get": {"operationId": "ask"}}}}
    service.answers_with("GET", "/api.json", document)
    service.answers_with("GET", "/a", "ok")
    auths = tuple(Auth(name=name, scheme="bearer", properties={"token": name}) for name in ("fetching", "calling"))
    function = Function(
        name="ask",
        operation=f"{service.url}/api.json#ask",
        auth_ref=AuthRef(resource="fetching", invocation="calling"),
    )

    assert await functions.call(Call(function, auth=auths, base=str(tmp_path))) == "ok"

    sent = {request.path: request.headers["authorization"] for request in service.requests}
    assert sent == {"/api.json": "Bearer fetching", "/a": "Bearer calling"}


async def test_credentials_do_not_appear_in_faults(service: Service, functions: Functions, failed: Failed) -> None:
    """A service that shows what it was sent does not make a secret public."""
    service.answers_with("GET", "/a", {"got": "t-42"}, status=403)
    function = Function(name="ask", type="http", operation="GET:/a", auth_ref=AuthRef(invocation="a"))
    auth = Auth(name="a", scheme="bearer", properties="shop")

    fault = await failed(functions, Call(function, auth=(auth,), secrets=SECRETS))

    assert fault.body == {"got": "***"}
