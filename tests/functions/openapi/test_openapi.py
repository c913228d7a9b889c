"""Operations of real documents, called over real connections."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service

FOLDER = str(Path(__file__).parents[1] / "data")


def shop(version: str, operation_id: str, arguments: JSON = None, kind: str = "rest") -> Call:
    file = "shop-2.0.json" if version == "2.0" else f"shop-{version}.yaml"
    function = Function(name="shop", type=kind, operation=f"{file}#{operation_id}")
    return Call(function, arguments, base=FOLDER, idempotency_key="k")


def with_metadata(call: Call, **metadata: JSON) -> Call:
    return replace(call, function=replace(call.function, metadata=metadata))


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("kind", ["rest", "openapi"])
async def test_an_order_is_read(service: Service, functions: Functions, version: str, kind: str) -> None:
    service.answers_with("GET", "/orders/7", {"id": 7})
    result = await functions.call(shop(version, "getOrder", {"id": 7, "X-Trace": "t"}, kind))
    assert result == {"id": 7}
    assert service.last.headers["x-trace"] == "t"
    assert service.last.query == [("page", "1")]


@pytest.mark.parametrize("version", ["2.0", "3.0"])
async def test_an_order_is_written(service: Service, functions: Functions, version: str) -> None:
    service.answers_with("PUT", "/orders/7", {}, status=201)
    await functions.call(shop(version, "putOrder", {"id": 7, "total": "5 \u20ac"}))
    assert service.last.body == {"id": 7, "total": "5 \u20ac"}
    assert service.last.headers["content-type"] == "application/json"
    assert service.last.headers["idempotency-key"] == "k"


async def test_every_kind_of_parameter_arrives(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/orders/7", {})
    arguments: JSON = {
        "id": 7, "X-Trace": "gr\u00fcn", "fields": ["a", "b"], "sort": ["x", "y"], "filter": {"min": 1},
        "query": {"q": [1]}, "session": "s 1", "page": 2,
    }  # fmt: skip
    await functions.call(shop("3.0", "getOrder", arguments))
    expected = [("fields", "a"), ("fields", "b"), ("sort", "x,y"), ("filter[min]", "1"), ("query", '{"q":[1]}')]
    assert service.last.query == [*expected, ("page", "2")]
    assert service.last.headers["cookie"] == "session=s%201"
    assert service.last.headers["x-trace"].encode("latin-1").decode() == "gr\u00fcn"


async def test_a_service_says_where_it_is(calling: Calling, service: Service) -> None:
    """A document that was fetched needs no configuration: its servers are relative to it."""
    document = (Path(FOLDER) / "shop-3.1.yaml").read_bytes()
    service.answers_with("GET", "/docs/shop.yaml", document, content_type="application/yaml")
    service.answers_with("GET", "/api/stock/;item=mouse", {"quantity": 3})
    function = Function(name="checkStock", operation="shop.yaml#checkStock")
    result = await calling().call(Call(function, {"item": "mouse"}, base=f"{service.url}/docs/orders.sw.json"))
    assert result == {"quantity": 3}


@pytest.mark.parametrize("version", ["2.0", "3.0", "3.1"])
@pytest.mark.parametrize("asked", ["metadata", "settings"])
async def test_answers_are_checked(calling: Calling, service: Service, version: str, asked: str) -> None:
    call = shop(version, "readOrder", {"id": 7})
    if asked == "metadata":
        call = with_metadata(call, checkResponse=True)
    functions = calling(at=service.url, check_responses=asked == "settings")
    for good in ({"id": 7, "note": None}, {"id": 7, "parent": {"id": 6}}):
        service.answers_with("GET", "/orders/7/details", good)
        assert await functions.call(call) == good
    service.answers_with("GET", "/orders/7/details", {"id": 7, "parent": {"id": 0}})
    told = "$.parent.id: 0 is less than or equal to the minimum of 0"
    fault = await fault_of(functions.call(call), "SchemaMismatch", told, retryable=False)
    assert (fault.status, fault.body) == (200, {"id": 7, "parent": {"id": 0}})
    assert fault.message.startswith(f"GET {service.url}/orders/7/details: the answer is not what the document says")
    assert service.last.headers["accept"] == "application/json, application/xml;q=0.9, */*;q=0.1"


async def test_the_functions_own_word_counts(calling: Calling, service: Service) -> None:
    """A definition may do without what the operator asks for in general; errors are errors, and are not checked."""
    call, functions = shop("3.0", "readOrder", {"id": 7}), calling(at=service.url, check_responses=True)
    service.answers_with("GET", "/orders/7/details", "nothing of the kind")
    assert await functions.call(with_metadata(call, checkResponse=False)) == "nothing of the kind"
    service.answers_with("GET", "/orders/7/details", "gone", status=410)
    await fault_of(functions.call(call), "410")


async def test_a_document_is_read_before_anything_is_sent(service: Service, functions: Functions) -> None:
    """A schema that leads nowhere is told while nothing has happened yet, and so are bad arguments."""
    await fault_of(functions.call(with_metadata(shop("3.0", "writeNothing"), checkResponse=True)), "BadDocument")
    fault = await fault_of(functions.call(shop("3.0", "getOrder", {"X-Trace": "t"})), "BadArguments")
    assert (fault.function, service.requests) == ("shop", [])


async def test_a_server_has_variables(calling: Calling, service: Service) -> None:
    """A definition says which of the servers is meant that a document describes."""
    port = int(service.url.rpartition(":")[2])
    server = {"url": "http://127.0.0.1:{port}/{v}", "variables": {"port": {}, "v": {"default": "v1"}}}
    document = {
        "openapi": "3.1.0",
        "servers": [{"url": "http://{host}:1", "variables": {"host": {"default": "nowhere"}}}],
        "paths": {"/a": {"servers": [server], "get": {"operationId": "op"}}},
    }
    service.answers_with("GET", "/api.json", document)
    service.answers_with("GET", "/v1/a", "found")
    function = Function(name="f", operation=f"{service.url}/api.json#op", metadata={"serverVariables": {"port": port}})
    assert await calling().call(Call(function)) == "found"


async def test_a_document_that_is_refused(service: Service, functions: Functions) -> None:
    """Its status is not that of the operation: an error named 404 does not catch it."""
    function = Function(name="f", operation=f"{service.url}/api.json#op", metadata={"failOnStatusCode": False})
    fault = await fault_of(functions.call(Call(function)), "NoDocument", "404 Not Found", retryable=True)
    assert fault.status is None


@pytest.mark.parametrize(("operation", "metadata", "told"), [
    *((operation, {}, "document.json#operationId") for operation in ("shop.yaml", "#op", "shop.yaml#", None, 5)),
    ("shop-3.0.yaml#readOrder", {"serverVariables": ["eu"]}, "serverVariables"),
    ("shop-3.0.yaml#readOrder", {"checkResponse": "yes"}, "checkResponse"),
])  # fmt: skip
async def test_an_operation_has_two_parts(functions: Functions, operation: Any, metadata: Any, told: str) -> None:
    function = Function(name="shop", operation=operation, metadata=metadata)
    await fault_of(functions.call(Call(function, {"id": 7}, base=FOLDER)), "BadOperation", told, retryable=False)


@pytest.mark.parametrize("fragment", ["orders#list", "orders%23list", "orders%23li%73t"])
async def test_the_id_of_an_operation_is_a_fragment(
    service: Service, functions: Functions, tmp_path: Path, fragment: str
) -> None:
    """It may have a number sign, and be percent-encoded as in any URI."""
    (tmp_path / "api.yaml").write_text("openapi: 3.0.3\npaths: {/orders: {get: {operationId: 'orders#list'}}}\n")
    service.answers_with("GET", "/orders", [7])
    function = Function(name="shop", operation=f"api.yaml#{fragment}")
    assert await functions.call(Call(function, None, base=str(tmp_path))) == [7]
