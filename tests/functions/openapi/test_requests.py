"""Which request an operation and its arguments make, and where it goes."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.documents.parts import Document
from swf_temporal.functions.http.client import Request
from swf_temporal.functions.http.media_types import FORM
from swf_temporal.functions.http.parameters import Parameter
from swf_temporal.functions.openapi.openapi import build_request
from swf_temporal.functions.openapi.operations import Content, OpenApiOperation, RequestBody, find_operation, server_url
from swf_temporal.settings.calls import Options, Settings
from tests.failing import failing

ID = Parameter("id", "path", required=True, style="simple")
GET = OpenApiOperation(
    "getOrder",
    "GET",
    "/orders/{id}",
    (
        ID,
        Parameter("page", "query", default=1, explode=True),
        Parameter("tags", "query", explode=True),
        Parameter("X-Trace", "header", style="simple"),
        Parameter("session", "cookie", explode=True),
        Parameter("lang", "cookie", explode=True),
    ),
)


@pytest.mark.parametrize(("openapi", "schema", "value", "path"), [
    ("3.0.3", {"type": "integer"}, 7.0, "7"),
    ("3.1.0", {"type": ["integer", "null"]}, 7.0, "7"),
    ("3.0.3", {"type": "array", "items": {"type": "integer"}}, [7.0, 8], "7,8"),
    ("2.0", {"type": "integer"}, 7.0, "7"),
    ("3.0.3", {"type": "integer"}, 7.5, "7.5"),
    ("3.0.3", {"type": "number"}, 7.0, "7.0"),
    ("3.0.3", {}, 7.0, "7.0"),
])  # fmt: skip
def test_an_integer_is_written_as_one(openapi: str, schema: dict[str, JSON], value: JSON, path: str) -> None:
    """JSON has one type of numbers: an id that some service wrote as 7.0 is the integer 7."""
    version = "swagger" if openapi == "2.0" else "openapi"
    declared: dict[str, JSON] = {"name": "id", "in": "path", "required": True}
    declared |= schema if version == "swagger" else {"schema": schema}
    get: dict[str, JSON] = {"operationId": "get", "parameters": [declared]}
    document = Document("d", "d", {version: openapi, "paths": {"/orders/{id}": {"get": get}}})
    made = build_request(find_operation(document, "get"), "http://shop", {"id": value})
    assert made.url == f"http://shop/orders/{path}"


def put(arguments: JSON, body: RequestBody | None = None) -> Request:
    body = body or RequestBody(properties=frozenset({"id"}))
    return build_request(OpenApiOperation("put", "PUT", "/orders/{id}", (ID,), body), "http://shop/api/", arguments)


def post(arguments: JSON, body: RequestBody | None = None) -> bytes | None:
    operation = OpenApiOperation("post", "POST", "/orders", (), body or RequestBody())
    return build_request(operation, "http://shop", arguments).content


def test_each_argument_goes_where_it_is_declared() -> None:
    arguments: JSON = {"id": 7, "tags": ["a", "b"], "X-Trace": "t", "session": "s", "lang": "de"}
    request = build_request(GET, "http://shop/api/", arguments)
    url = urlsplit(request.url)
    assert (request.method, url.path) == ("GET", "/api/orders/7")
    assert parse_qsl(url.query) == [("page", "1"), ("tags", "a"), ("tags", "b")]
    assert request.headers == (("X-Trace", "t"), ("Cookie", "session=s; lang=de"))
    assert request.content is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"id": 7, "session": []}, ()), ({"id": 7, "session": [], "lang": "de"}, (("Cookie", "lang=de"),))],
)
def test_an_empty_array_is_no_cookie(arguments: JSON, expected: tuple[tuple[str, str], ...]) -> None:
    assert build_request(GET, "http://shop", arguments).headers == expected


WITH_XML = OpenApiOperation("post", "POST", "/a", (), RequestBody((Content("application/xml"),), required=True))
TAKING = RequestBody((Content("application/xml"), Content(), Content("image/*")))


@pytest.mark.parametrize(("operation", "arguments", "code", "told"), [
    (GET, {}, "BadArguments", r"^operation 'getOrder': the argument 'id' \(path\) is missing$"),
    (GET, None, "BadArguments", r"^operation 'getOrder': the argument 'id' \(path\) is missing$"),
    (GET, {"id": None}, "BadArguments", r"^operation 'getOrder': the argument 'id' \(path\) is null$"),
    (GET, {"id": 1, "pge": 2}, "BadArguments", "takes no argument 'pge'; did you mean 'page'"),
    (GET, [1], "BadArguments", "by name"),
    (GET, {"id": 1, "Content-Type": "image/png"}, "BadArguments", "takes no argument 'Content-Type'"),
    (WITH_XML, {}, "BadArguments", "operation 'post' needs a body, as application/xml"),
    (OpenApiOperation("post", "POST", "/a", (), TAKING), {"body": "a", "Content-Type": "text/plain"}, "BadArguments",
     "takes its body as application/xml or application/json or image/"),
    (OpenApiOperation("x", "GET", "/orders/{id}"), None, "BadDocument", "undeclared 'id'"),
])  # fmt: skip
def test_what_no_request_can_be_made_of(operation: OpenApiOperation, arguments: JSON, code: str, told: str) -> None:
    with failing(code, told, retryable=False):
        build_request(operation, "http://shop", arguments)


@pytest.mark.parametrize(("arguments", "expected"), [
    ({"a": 1}, b'{"a":1}'), ({"body": {"a": 1}}, b'{"a":1}'), ({"body": [1]}, b"[1]"),
    ({"body": 1, "a": 2}, b'{"body":1,"a":2}'), ([1, 2], b"[1,2]"), ("text", b'"text"'), ({}, None), (None, None),
])  # fmt: skip
def test_what_is_no_parameter_is_the_body(arguments: JSON, expected: bytes | None) -> None:
    assert post(arguments) == expected


@pytest.mark.parametrize(("arguments", "body", "expected"), [
    ({"body": "text"}, RequestBody(properties=frozenset({"body"})), b'{"body":"text"}'),
    # The name of the body parameter of version 2.0 stands for the whole body, and `body` does not.
    ({"order": {"a": 1}}, RequestBody(name="order"), b'{"a":1}'),
    ({"body": {"a": 1}}, RequestBody(name="order"), b'{"body":{"a":1}}'),
    # The service, not the workflow, knows whether an empty object will do.
    (None, RequestBody(required=True), b"{}"),
    (None, RequestBody((Content(FORM, defaults={"a": 1}),), required=True), b"a=1"),
    ({"a": 1}, RequestBody((Content(FORM, defaults={"b": 2}),)), b"a=1&b=2"),
    ({"Accept": "a"}, RequestBody(properties=frozenset({"Accept"})), b'{"Accept":"a"}'),
])  # fmt: skip
def test_the_document_says_what_the_body_is(arguments: JSON, body: RequestBody, expected: bytes) -> None:
    assert post(arguments, body) == expected


def test_an_argument_may_be_parameter_and_field() -> None:
    """`PUT /orders/{id}` with an order that has an id sends it twice; another parameter only once."""
    assert put({"id": 7, "total": 5}).content == b'{"id":7,"total":5}'
    assert put({"id": 7, "total": 5}, RequestBody()).content == b'{"total":5}'
    assert put({"id": 7, "total": 5}).url == "http://shop/api/orders/7"


SEVERAL = RequestBody(
    (Content("application/xml"), Content(defaults={"kind": "new", "note": "none"}), Content("image/*"))
)


def sent(arguments: JSON) -> tuple[str, bytes | None]:
    request = build_request(OpenApiOperation("post", "POST", "/orders", (), SEVERAL), "http://shop", arguments)
    return dict(request.headers)["Content-Type"], request.content


@pytest.mark.parametrize(("arguments", "expected"), [
    ({"a": 1, "note": None}, ("application/json", b'{"a":1,"note":null,"kind":"new"}')),
    ({"body": "<a/>"}, ("application/xml", b"<a/>")),
    ({"body": "text"}, ("application/json", b'"text"')),
    ({"body": "<a/>", "Content-Type": "application/json"}, ("application/json", b'"<a/>"')),
    ({"body": "x", "content-type": "image/svg+xml"}, ("image/svg+xml", b"x")),
    ({"body": {"mediaType": "image/png", "base64": "AAE="}}, ("image/png", b"\x00\x01")),
])  # fmt: skip
def test_the_argument_chooses_the_media_type(arguments: JSON, expected: tuple[str, bytes]) -> None:
    assert sent(arguments) == expected


def test_what_is_asked_for_may_be_said() -> None:
    assert ("Accept", "image/png") in build_request(GET, "http://shop", {"id": 1, "Accept": "image/png"}).headers


@pytest.mark.parametrize(("path", "parameter", "arguments", "query"), [
    ("/orders", Parameter("tags", "query", default=["a", "b"], explode=True), None, "?tags=a&tags=b"),
    ("/orders?v=2", Parameter("page", "query", explode=True), {"page": 1}, "?v=2&page=1"),
])  # fmt: skip
def test_the_query(path: str, parameter: Parameter, arguments: JSON, query: str) -> None:
    operation = OpenApiOperation("x", "GET", path, (parameter,))
    assert build_request(operation, "http://shop", arguments).url == f"http://shop/orders{query}"


ORDERS = "specs/orders.json"


def url(
    content: dict[str, Any], location: str = "/defs/orders.json", settings: Settings | None = None, **server: Any
) -> str:
    operation = OpenApiOperation(
        "op", "GET", "/", servers=(server,) if server else (), schemes=tuple(content.get("schemes", ()))
    )
    callee = Callee("check-stock", (ORDERS, "orders.json"))
    return server_url(settings or Settings(), callee, Document(ORDERS, location, content), operation)


@pytest.mark.parametrize(("functions", "services", "expected"), [
    ({"check-stock": "http://f"}, {ORDERS: "http://d"}, "http://f"),
    ({"CHECK_STOCK": "http://f"}, {}, "http://f"),
    ({}, {ORDERS: "http://d", "orders.json": "http://e"}, "http://d"),
    ({}, {"orders.json": "http://d"}, "http://d"),
    ({"orders.json": "http://f"}, {"check-stock": "http://d"}, "http://all"),
])  # fmt: skip
def test_what_is_configured_wins(functions: dict[str, str], services: dict[str, str], expected: str) -> None:
    settings = Settings(
        calls=Options(base_url="http://all"),
        functions={name: Options(base_url=url) for name, url in functions.items()},
        services={name: Options(base_url=url) for name, url in services.items()},
    )
    assert url({}, settings=settings, url="http://declared") == expected


@pytest.mark.parametrize(("location", "server", "expected"), [
    ("/defs/orders.json", {"url": "https://a/v1"}, "https://a/v1"),
    ("/defs/orders.json", {"url": "https://{r}.a", "variables": {"r": {"default": "eu"}}}, "https://eu.a"),
    ("https://h:1/x/orders.json", {"url": "/v1"}, "https://h:1/v1"),
    ("https://h:1/x/orders.json", {"url": "v1"}, "https://h:1/x/v1"),
    ("https://h:1/x/orders.json", {}, "https://h:1/"),
])  # fmt: skip
def test_the_documents_server(location: str, server: dict[str, Any], expected: str) -> None:
    assert url({}, location, **server) == expected


REGIONS: dict[str, Any] = {
    "url": "https://{r}.{d}/{v}",
    "variables": {"r": {"default": "eu", "enum": ["eu", "us"]}, "d": {"default": "a"}, "v": {"default": 1}},
}


def given(*servers: dict[str, Any], **variables: JSON) -> str:
    document = Document(ORDERS, "/defs/orders.json", {"openapi": "3.0.0"})
    return server_url(Settings(), Callee("f"), document, OpenApiOperation("op", "GET", "/", servers=servers), variables)


def test_variables_are_given() -> None:
    assert given(REGIONS, r="us", v=2) == "https://us.a/2"
    assert given({"url": "https://b"}, REGIONS, r="us") == "https://us.a/1"
    assert given({"url": "https://b"}, REGIONS) == "https://b"


@pytest.mark.parametrize(("server", "variables", "code", "told"), [
    (REGIONS, {"r": "mars"}, "BadOperation", "no 'mars' for its variable 'r': it can be eu, us"),
    (REGIONS, {"region": "us"}, "BadOperation", "no variable 'region'"),
    ({"url": "https://{x}"}, {}, "BadDocument", "undeclared variable 'x'"),
])  # fmt: skip
def test_variables_that_cannot_be(server: dict[str, Any], variables: dict[str, JSON], code: str, told: str) -> None:
    with failing(code, told, retryable=False):
        given(server, **variables)


@pytest.mark.parametrize(("location", "content", "expected"), [
    ("d.json", {"host": "h", "basePath": "/v1", "schemes": ["http"]}, "http://h/v1"),
    ("d.json", {"host": "h", "schemes": ["http", "https"]}, "https://h/"),
    ("d.json", {"host": "h"}, "http://h/"),
    ("https://x/d.json", {"host": "h"}, "https://h/"),
    ("https://x/d/d.json", {"basePath": "/v1"}, "https://x/v1"),
])  # fmt: skip
def test_the_server_of_version_2(location: str, content: dict[str, Any], expected: str) -> None:
    assert url({"swagger": "2.0", **content}, location) == expected


@pytest.mark.parametrize("content", [{"openapi": "3.0.0"}, {"swagger": "2.0", "basePath": "/v1"}])
def test_no_server_at_all(content: dict[str, Any]) -> None:
    with failing("NoServer", "SWF_BASE_URL_CHECK_STOCK", retryable=False):
        url(content)
