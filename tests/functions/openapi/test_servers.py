"""Where a service is found to be."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.documents.documents import Document
from swf_temporal.functions.openapi.operations import OpenApiOperation
from swf_temporal.functions.openapi.servers import server_url
from swf_temporal.settings.calls import Options, Settings
from tests.failing import failing

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
    """A function's URL goes before its document's, and the document's own servers come last."""
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
