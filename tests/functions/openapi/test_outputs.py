"""What the result of an operation is, and which statuses are errors, as the function's metadata says."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from tests.failing import fault_of
from tests.functions.auth.test_digest import LOGIN, DigestServer
from tests.functions.conftest import Calling, Service, serving

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.0",
    "components": {
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "key"},
            "digest": {"type": "http", "scheme": "digest"},
        }
    },
    "paths": {
        "/orders/{id}": {
            "get": {
                "operationId": "get",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                ],
                "security": [{"key": []}],
                "responses": {"200": {"content": {"application/json": {"schema": {"type": "object"}}}}},
            },
            "post": {
                "operationId": "pay",
                "security": [{"digest": []}],
                "requestBody": {"content": {"application/json": {}}},
            },
        }
    },
}


@pytest.fixture
def document(service: Service) -> str:
    service.answers_with("GET", "/api.json", DOCUMENT)
    return f"{service.url}/api.json"


def call_of(document: str, arguments: JSON = None, **metadata: JSON) -> Call:
    function = Function("ask", "openapi", f"{document}#get", auth_ref=AuthRef(invocation="shop"), metadata=metadata)
    auth = Auth("shop", "apiKey", {"name": "key", "key": "k-9"})
    given: JSON = {"id": 7} if arguments is None else arguments
    return Call(function, given, auth=(auth,), headers={"X-Inherited": "1"})


PNG = b"\x89PNG\xff"
PNG_TEXT = base64.b64encode(PNG).decode()


@pytest.mark.parametrize(("output", "content", "kind", "expected"), [
    (None, b'{"n": 1}', "application/json", {"n": 1}),
    (None, PNG, "image/png", {"mediaType": "image/png", "base64": PNG_TEXT}),
    ("content", b'{"n": 1}', "application/json", {"n": 1}),
    ("content", PNG, "image/png", PNG_TEXT),
    ("content", b"", "application/json", None),
    ("raw", b'{"n": 1}', "application/json", "eyJuIjogMX0="),
    ("raw", b"", "application/json", None),
])  # fmt: skip
async def test_outputs(
    service: Service, functions: Functions, document: str, output: str | None, content: bytes, kind: str, expected: JSON
) -> None:
    service.answers_with("GET", "/orders/7", content, content_type=kind)
    assert await functions.call(call_of(document, output=output)) == expected


async def test_the_whole_response_shows_no_credentials(service: Service, functions: Functions, document: str) -> None:
    service.answers_with("GET", "/orders/7", {"n": 1})
    result: Any = await functions.call(call_of(document, {"id": 7, "X-Trace": "t"}, output="response"))
    assert (service.last.query, service.last.headers["x-inherited"]) == ([("key", "k-9")], "1")
    assert (result["statusCode"], result["content"]) == (200, {"n": 1})
    assert result["headers"]["Content-Type"] == "application/json"
    assert result["request"]["method"] == "GET"
    assert result["request"]["uri"] == f"{service.url}/orders/7"
    assert result["request"]["headers"].items() >= {"X-Trace": "t"}.items()
    assert "k-9" not in str(result)


async def test_redirects(service: Service, functions: Functions, document: str) -> None:
    """Without a word of it, a GET follows them; `redirect` decides for any method."""
    service.answers_with("GET", "/orders/7", None, status=302, headers={"Location": "/there"})
    service.answers_with("GET", "/there", {"n": 1})
    for redirect in (None, True):
        assert await functions.call(call_of(document, redirect=redirect)) == {"n": 1}
    assert (await fault_of(functions.call(call_of(document, redirect=False)), "302")).status == 302
    service.answers_with("GET", "/orders/7", None, status=304)
    assert await functions.call(call_of(document, redirect=True)) is None
    for redirect in (None, False):
        await fault_of(functions.call(call_of(document, redirect=redirect)), "304")
    service.answers_with("GET", "/orders/7", None, status=400)
    await fault_of(functions.call(call_of(document, redirect=True)), "400")


@pytest.mark.parametrize("output", ["raw", "content"])
async def test_checked_answers(service: Service, functions: Functions, document: str, output: str) -> None:
    """They are checked as they are, and not as they are shown."""
    service.answers_with("GET", "/orders/7", {"n": 1})
    call = call_of(document, output=output, checkResponse=True)
    assert await functions.call(call) == ({"n": 1} if output == "content" else "eyJuIjogMX0=")
    service.answers_with("GET", "/orders/7", [1])
    await fault_of(functions.call(call), "SchemaMismatch")


@pytest.mark.parametrize(("metadata", "told"), [
    ({"output": "header"}, "'output' of function 'ask' is 'header'; it must be one of content, raw, response"),
    ({"redirect": "yes"}, "'redirect' of function 'ask' is 'yes'; it must be true or false"),
])  # fmt: skip
async def test_what_is_written_wrongly(
    service: Service, functions: Functions, document: str, metadata: dict[str, JSON], told: str
) -> None:
    await fault_of(functions.call(call_of(document, **metadata)), "BadOperation", told, retryable=False)
    assert {request.path for request in service.requests} <= {"/api.json"}


@pytest.fixture
def guarded() -> Iterator[DigestServer]:
    with serving(DigestServer) as server:
        yield server


async def test_digest_authentication_of_a_document(
    calling: Calling, guarded: DigestServer, service: Service, document: str
) -> None:
    paths = {"/orders": {"post": DOCUMENT["paths"]["/orders/{id}"]["post"]}}
    service.answers_with("GET", "/api.json", {**DOCUMENT, "paths": paths, "servers": [{"url": guarded.url}]})
    function = Function("pay", "openapi", f"{document}#pay", auth_ref=AuthRef(invocation="a"))
    call = Call(function, {"n": 1}, auth=(Auth("a", "digest", LOGIN),))
    assert await calling().call(call) == {"nc": 1}
    assert [request.body for request in guarded.requests] == [{"n": 1}, {"n": 1}]
    # A document on the server that is called is fetched without it.
    service.answers_with("POST", "/orders", {})
    assert await calling(at=service.url).call(call) == {}
    fetched = [request for request in service.requests if request.path == "/api.json"]
    assert "authorization" not in fetched[-1].headers
