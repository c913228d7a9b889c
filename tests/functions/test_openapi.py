"""Operations of real documents, called over real connections."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swf_temporal.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.model.definitions import Function

if TYPE_CHECKING:
    from tests.functions.conftest import Failed, Service

FOLDER = str(Path(__file__).parent / "documents")


def shop(version: str, operation_id: str, arguments: JSON = None, kind: str = "rest") -> Call:
    """Return a call of an operation of the shop."""
    file = "shop-2.0.json" if version == "2.0" else f"shop-{version}.yaml"
    function = Function(name="shop", type=kind, operation=f"{file}#{operation_id}")
    return Call(function, arguments, base=FOLDER, idempotency_key="k")


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("kind", ["rest", "openapi"])
async def test_an_order_is_read(service: Service, functions: Functions, version: str, kind: str) -> None:
    """Path, header and default arrive as the document says, whatever its version."""
    service.answers_with("GET", "/orders/7", {"id": 7})

    result = await functions.call(shop(version, "getOrder", {"id": 7, "X-Trace": "t"}, kind))

    assert result == {"id": 7}
    assert service.last.headers["x-trace"] == "t"
    assert service.last.query == [("page", "1")]


@pytest.mark.parametrize("version", ["2.0", "3.0"])
async def test_an_order_is_written(service: Service, functions: Functions, version: str) -> None:
    """The body is JSON, and the request can be told from its repetition."""
    service.answers_with("PUT", "/orders/7", {}, status=201)

    await functions.call(shop(version, "putOrder", {"id": 7, "total": "5 \u20ac"}))

    assert service.last.body == {"id": 7, "total": "5 \u20ac"}
    assert service.last.headers["content-type"] == "application/json"
    assert service.last.headers["idempotency-key"] == "k"


async def test_every_kind_of_parameter_arrives(service: Service, functions: Functions) -> None:
    """Lists, objects, JSON and cookies arrive in their styles."""
    service.answers_with("GET", "/orders/7", {})
    arguments: JSON = {
        "id": 7,
        "X-Trace": "gr\u00fcn",
        "fields": ["a", "b"],
        "sort": ["x", "y"],
        "filter": {"min": 1},
        "query": {"q": [1]},
        "session": "s 1",
        "page": 2,
    }

    await functions.call(shop("3.0", "getOrder", arguments))

    expected = [
        ("fields", "a"),
        ("fields", "b"),
        ("sort", "x,y"),
        ("filter[min]", "1"),
        ("query", '{"q":[1]}'),
    ]
    assert service.last.query == [*expected, ("page", "2")]
    assert service.last.headers["cookie"] == "session=s%201"
    assert service.last.headers["x-trace"].encode("latin-1").decode() == "gr\u00fcn"


@pytest.mark.parametrize("version", ["2.0", "3.0"])
async def test_a_form_is_sent(service: Service, functions: Functions, version: str) -> None:
    """Forms are written as forms."""
    service.answers_with("POST", "/login", {})

    await functions.call(shop(version, "login", {"user": "ada", "roles": ["a", "b"]}))

    assert service.last.content == b"user=ada&roles=a&roles=b"
    assert service.last.headers["content-type"] == "application/x-www-form-urlencoded"


async def test_a_service_says_where_it_is(service: Service) -> None:
    """A document that was fetched needs no configuration: its servers are relative to it."""
    document = (Path(FOLDER) / "shop-3.1.yaml").read_bytes()
    service.answers_with("GET", "/docs/shop.yaml", document, content_type="application/yaml")
    service.answers_with("GET", "/api/stock/;item=mouse", {"quantity": 3})
    function = Function(name="checkStock", operation="shop.yaml#checkStock")

    async with aclosing(Functions()) as functions:
        result = await functions.call(Call(function, {"item": "mouse"}, base=f"{service.url}/docs/orders.sw.json"))

    assert result == {"quantity": 3}


@pytest.mark.parametrize("operation", ["shop.yaml", "#op", "shop.yaml#", None, 5])
async def test_an_operation_has_two_parts(functions: Functions, failed: Failed, operation: Any) -> None:
    """The fault shows the operation and how one is written."""
    fault = await failed(functions, Call(Function(name="shop", operation=operation)))

    assert (fault.code, fault.retryable) == ("BadOperation", False)
    assert "document.json#operationId" in fault.message


async def test_nothing_is_sent_for_bad_arguments(service: Service, functions: Functions, failed: Failed) -> None:
    """A call that cannot be right does not reach the service."""
    fault = await failed(functions, shop("3.0", "getOrder", {"X-Trace": "t"}))

    assert (fault.code, fault.function) == ("BadArguments", "shop")
    assert service.requests == []
