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


@pytest.mark.parametrize(("operation", "arguments", "path", "query", "body"), [
    ("rest:post:/numbers/{n}/multiply", {"n": 4, "by": 5}, "/numbers/4/multiply", [], {"by": 5}),
    # A GET has no body; null says nothing; the URL's own query stays.
    ("rest:GET:/find?v=2", {"q": "a b", "tag": ["x", "y"], "not": None}, "/find",
     [("v", "2"), ("q", "a b"), ("tag", "x"), ("tag", "y")], None),
    ("rest:POST:/a", {"HEADER_X-Who": "me", "QUERY_page": 2, "text": "hi"}, "/a", [("page", "2")], {"text": "hi"}),
    *(("rest:POST:/a", arguments, "/a", [], arguments) for arguments in (["a"], 5, False)),
])  # fmt: skip
async def test_arguments_fill_the_url_and_the_body(
    service: Service, functions: Functions, operation: str, arguments: JSON, path: str, query: list[Any], *, body: JSON
) -> None:
    method = operation.split(":")[1].upper()
    service.answers_with(method, path, 20)
    assert await functions.call(call_of(operation, arguments)) == 20
    assert service.last.query == query
    assert service.last.content == b"" if body is None else service.last.body == body
    assert service.last.headers.get("content-type") == (None if body is None else "application/json")
    assert service.last.headers.get("x-who") == ("me" if "HEADER_X-Who" in str(arguments) else None)


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


@pytest.mark.parametrize(("own", "given", "expected"), [
    ({"cookies": {"a": 1}}, {"cookies": {"b": None}}, {"cookie": "a=1"}),
    ({}, {"cookies": {"b": None}}, {"cookie": None}),
    ({"headers": {"Content-Type": "text/plain", "X-A": "1", "X-B": "2"}},
     {"headers": {"content-type": "application/json", "x-a": "3"}},
     {"content-type": "application/json", "x-a": "3", "x-b": "2"}),
])  # fmt: skip
async def test_what_the_call_says_wins(
    service: Service, functions: Functions, own: Any, given: Any, expected: dict[str, str | None]
) -> None:
    """Of headers and cookies; null is none."""
    service.answers_with("POST", "/a", {})
    await functions.call(call_of({"method": "POST", "uri": "/a", **own}, {**given, "body": {"n": 1}}))
    assert {name: service.last.headers.get(name) for name in expected} == expected


@pytest.mark.parametrize("kind", ["http", "rest"])
async def test_the_object_form(service: Service, functions: Functions, kind: str) -> None:
    service.answers_with("PUT", "/orders/7", "done")
    headers = {"X-A": "1", "Content-Type": "text/plain"}
    operation = {"method": "put", "uri": "/orders/{id}", "headers": headers, "cookies": {"c": "2"}}
    arguments: JSON = {"id": 7, "body": "paid", "headers": {"X-B": 3}, "cookies": {"d": "x y"}, "notify": True}
    assert await functions.call(call_of(operation, arguments, kind)) == "done"
    sent = service.last.headers
    assert (sent["x-a"], sent["x-b"], sent["cookie"]) == ("1", "3", "c=2; d=x%20y")
    assert (sent["content-type"], service.last.content) == ("text/plain", b"paid")
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
