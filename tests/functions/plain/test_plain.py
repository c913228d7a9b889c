"""How services without a document are called."""

from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from tests.failing import fault_of
from tests.functions.conftest import Service, http_call


def call_of(operation: Any, arguments: JSON = None, kind: str = "http") -> Call:
    return Call(Function(name="ask", type=kind, operation=operation), arguments)


async def test_arguments_fill_the_url_and_the_body(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/numbers/4/multiply", 20)
    result = await functions.call(http_call("post", "/numbers/{n}/multiply", {"n": 4, "by": 5}))
    assert result == 20
    assert service.last.body == {"by": 5}
    assert service.last.headers["content-type"] == "application/json"


async def test_without_a_body_the_rest_is_the_query(service: Service, functions: Functions) -> None:
    """A GET has no body; null says nothing; the URL's own query stays."""
    service.answers_with("GET", "/find", [])
    await functions.call(http_call("GET", "/find?v=2", {"q": "a b", "tag": ["x", "y"], "not": None}))
    assert service.last.query == [("v", "2"), ("q", "a b"), ("tag", "x"), ("tag", "y")]
    assert service.last.content == b""


async def test_prefixes_say_where_an_argument_goes(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/a", {})
    await functions.call(http_call("POST", "/a", {"HEADER_X-Who": "me", "QUERY_page": 2, "text": "hi"}))
    assert service.last.headers["x-who"] == "me"
    assert service.last.query == [("page", "2")]
    assert service.last.body == {"text": "hi"}


@pytest.mark.parametrize("arguments", [["a"], 5, False])
async def test_arguments_without_names_are_the_body(service: Service, functions: Functions, arguments: JSON) -> None:
    service.answers_with("POST", "/a", {})
    await functions.call(http_call("POST", "/a", arguments))
    assert service.last.body == arguments


@pytest.mark.parametrize(("body", "sent", "media_type"), [
    ("5 < 6", b"5 < 6", "text/plain; charset=utf-8"),
    ({"mediaType": "image/png", "base64": "iVA="}, b"\x89P", "image/png"),
    ({"mediaType": "image/png"}, b'{"mediaType":"image/png"}', "application/json"),
])  # fmt: skip
async def test_a_body_without_a_declared_type_has_its_own(
    service: Service, functions: Functions, body: JSON, sent: bytes, media_type: str
) -> None:
    service.answers_with("POST", "/a", {})
    await functions.call(call_of({"method": "POST", "uri": "/a"}, {"body": body}))
    assert (service.last.content, service.last.headers["content-type"]) == (sent, media_type)


async def test_null_is_no_cookie(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/a", {})
    await functions.call(call_of({"uri": "/a", "cookies": {"a": 1}}, {"cookies": {"b": None}}))
    assert service.last.headers["cookie"] == "a=1"
    await functions.call(call_of({"uri": "/a"}, {"cookies": {"b": None}}))
    assert "cookie" not in service.last.headers


async def test_a_header_of_the_call_replaces_that_of_the_function(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/a", {})
    operation = {"method": "POST", "uri": "/a", "headers": {"Content-Type": "text/plain", "X-A": "1", "X-B": "2"}}
    arguments: JSON = {"headers": {"content-type": "application/json", "x-a": "3"}, "body": {"n": 1}}
    await functions.call(call_of(operation, arguments))
    assert service.last.headers["content-type"] == "application/json"
    assert (service.last.headers["x-a"], service.last.headers["x-b"]) == ("3", "2")


@pytest.mark.parametrize("kind", ["http", "rest"])
async def test_the_object_form(service: Service, functions: Functions, kind: str) -> None:
    service.answers_with("PUT", "/orders/7", "done")
    operation = {
        "method": "put",
        "uri": "/orders/{id}",
        "headers": {"X-A": "1", "Content-Type": "text/plain"},
        "cookies": {"c": "2"},
    }
    arguments: JSON = {"id": 7, "body": "paid", "headers": {"X-B": 3}, "cookies": {"d": "x y"}, "notify": True}
    assert await functions.call(call_of(operation, arguments, kind)) == "done"
    headers = service.last.headers
    assert (headers["x-a"], headers["x-b"], headers["cookie"]) == ("1", "3", "c=2; d=x%20y")
    assert (headers["content-type"], service.last.content) == ("text/plain", b"paid")
    assert service.last.query == [("notify", "true")]


@pytest.mark.parametrize("operation", ["rest:/a/{x}?q={q}", "rest:get: /a/{x}?q={q}", {"uri": "/a/{x}?q={q}"}])
@pytest.mark.parametrize("kind", ["custom", "http"])
async def test_the_method_may_be_left_out(service: Service, functions: Functions, kind: str, operation: Any) -> None:
    service.answers_with("GET", "/a/b", "found")
    if kind == "custom" and isinstance(operation, dict):
        kind = "rest"
    assert await functions.call(call_of(operation, {"x": "b", "q": ""}, kind)) == "found"
    assert service.last.query == [("q", "")]


@pytest.mark.parametrize(("url", "arguments", "path", "query"), [
    ("{}/a", None, "/a", []),
    ("GET:{}/a", None, "/a", []),
    ("GET:/a/{{x}}", {"x": "b/c?d"}, "/a/b%2Fc%3Fd", []),  # values cannot leave their place
    ("GET:/a#part", {"page": 2}, "/a", [("page", "2")]),  # a fragment takes nothing with it
])  # fmt: skip
async def test_urls(
    service: Service, functions: Functions, url: str, arguments: JSON, path: str, query: list[tuple[str, str]]
) -> None:
    service.answers_with("GET", path, "found")
    assert await functions.call(call_of(f"rest:{url.format(service.url)}", arguments)) == "found"
    assert service.last.query == query


@pytest.mark.parametrize("status", [200, 304, 404, 503])
@pytest.mark.parametrize("place", ["operation", "metadata"])
async def test_errors_may_be_answers(service: Service, functions: Functions, place: str, status: int) -> None:
    service.answers_with("GET", "/a", None if status == 304 else {"n": 1}, status=status, headers={"X-A": "b"})
    switch = {"failOnStatusCode": False}
    operation = {"method": "GET", "uri": "/a", **(switch if place == "operation" else {})}
    function = Function(name="ask", type="http", operation=operation, metadata=switch if place == "metadata" else {})
    result: Any = await functions.call(Call(function))
    assert (result["status"], result["body"]) == (status, None if status == 304 else {"n": 1})
    assert result["headers"]["x-a"] == "b"


async def test_no_answer_is_an_error_in_any_case(functions: Functions) -> None:
    fault = await fault_of(functions.call(call_of({"uri": "http://host.invalid:1/a", "failOnStatusCode": False})))
    assert fault.status is None


NO_OPERATIONS: list[Any] = ["rest:FETCH:/a", "rest:GET", "/a", {"method": "GET"}, None, 5]
# Objects would lose the name under which they were given.
IN_QUERIES: dict[str, JSON] = {"a": {"x": 1}, "b": [{"x": 2}], "c": [[1]]}


@pytest.mark.parametrize(("operation", "arguments", "code", "told"), [
    *((operation, None, "BadOperation", "rest:METHOD:URL") for operation in NO_OPERATIONS),
    *(("rest:GET:/a", {name: value, "d": [1, 2]}, "BadArguments", f"the argument '{name}'")
      for name, value in IN_QUERIES.items()),
    ("rest:GET:/orders/{id}", {"ID": 7}, "BadArguments", "'id'"),
    ({"uri": "/a", "failOnStatusCode": "no"}, None, "BadOperation", "'failOnStatusCode' of function 'ask' is 'no'"),
])  # fmt: skip
async def test_what_cannot_be_called(
    service: Service, functions: Functions, operation: Any, arguments: JSON, code: str, told: str
) -> None:
    await fault_of(functions.call(call_of(operation, arguments)), code, told, retryable=False)
    assert service.requests == []


async def test_a_relative_url_needs_a_server() -> None:
    await fault_of(Functions().call(http_call("GET", "/a")), "NoServer", "SWF_BASE_URL_ASK")


async def test_an_idempotency_key_of_several_lines(functions: Functions, service: Service) -> None:
    service.answers_with("POST", "/orders", {})
    await functions.call(http_call("POST", "/orders", {}, idempotency_key="order/run/Check it\n/ask#1"))
    assert service.last.headers["idempotency-key"] == "order/run/Check it%0A/ask#1"
