"""Functions of the type `request`: their arguments are the whole request."""

import base64
from datetime import timedelta
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import operation_type
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings, read_settings
from swf_temporal.settings.network import read_pattern
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, serving, showing

PNG = b"\x89PNG\xff"


def call_of(service: Service, method: str = "get", path: str = "/a", **arguments: JSON) -> Call:
    return Call(Function("ask", "request"), {"method": method, "uri": f"{service.url}{path}", **arguments})


@pytest.mark.parametrize("method", ["get", "Post", "PUT", "delete", "patch", "OPTIONS"])
async def test_the_arguments_are_the_request(service: Service, functions: Functions, method: str) -> None:
    service.answers_with(method.upper(), "/a", {"n": 1})
    query: JSON = {"q": "a b", "tag": ["x", "y"], "not": None}
    headers: JSON = {"X-Who": "me", "X-Many": 5, "X-Not": None}
    call = call_of(service, method, "/a?v=2#part", headers=headers, query=query, body={"text": "hi"})
    assert await functions.call(call) == {"n": 1}
    sent = service.last
    assert (sent.method, sent.body) == (method.upper(), {"text": "hi"})
    assert sent.query == [("v", "2"), ("q", "a b"), ("tag", "x"), ("tag", "y")]
    assert (sent.headers["x-who"], sent.headers["x-many"], sent.headers.get("x-not")) == ("me", "5", None)
    assert sent.headers["content-type"] == "application/json"


@pytest.mark.parametrize(("headers", "body", "sent", "media_type"), [
    ({}, None, b"", None),
    ({}, "5 < 6", b"5 < 6", "text/plain; charset=utf-8"),
    ({}, False, b"false", "application/json"),
    ({}, {"mediaType": "image/png", "base64": "iVA="}, b"\x89P", "image/png"),
    ({"content-type": "application/x-www-form-urlencoded"}, {"a": 1, "b": "x y"}, b"a=1&b=x+y",
     "application/x-www-form-urlencoded"),
    ({"Content-Type": "application/xml"}, "<a/>", b"<a/>", "application/xml"),
])  # fmt: skip
async def test_bodies(
    service: Service, functions: Functions, headers: JSON, body: JSON, sent: bytes, media_type: str | None
) -> None:
    service.answers_with("POST", "/a", {})
    await functions.call(call_of(service, "POST", headers=headers, body=body))
    assert (service.last.content, service.last.headers.get("content-type")) == (sent, media_type)


ITSELF: JSON = {"mediaType": "image/png", "base64": "e30="}


@pytest.mark.parametrize(("content", "kind", "expected"), [
    (b'{"n": 1}', "application/json", {"n": 1}),
    (b'{"n": 1}', "application/problem+json", {"n": 1}),
    (b'{"n": 1}', "", {"n": 1}),
    (b"hi", "text/plain", "hi"),
    (b"<a/>", "application/xml", "<a/>"),
    (b"", "application/json", None),
    (PNG, "image/png", base64.b64encode(PNG).decode()),
    (PNG, "", base64.b64encode(PNG).decode()),
    # What only looks like bytes is JSON.
    (b'{"mediaType": "image/png", "base64": "e30="}', "application/json", ITSELF),
    (b'{"mediaType": "image/png", "base64": "e30="}', "", ITSELF),
])  # fmt: skip
async def test_the_content_of_an_answer(
    service: Service, functions: Functions, content: bytes, kind: str, expected: JSON
) -> None:
    service.answers_with("GET", "/a", content, content_type=kind, headers={"X-A": "1"})
    assert await functions.call(call_of(service)) == expected
    assert await functions.call(call_of(service, output="content")) == expected
    whole: Any = await functions.call(call_of(service, output="response"))
    assert whole["content"] == expected
    raw = base64.b64encode(content).decode() if content else None
    assert await functions.call(call_of(service, output="raw")) == raw


async def test_raw_bytes_need_not_be_what_they_are_said_to_be(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/a", b'{"n": ')
    assert await functions.call(call_of(service, output="raw")) == base64.b64encode(b'{"n": ').decode()
    await fault_of(functions.call(call_of(service, output="content")), "MalformedAnswer")


async def test_the_whole_response(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/a", {"n": 1}, status=201, headers={"x-request-id": "7", "ETAG": '"e"'})
    call = call_of(service, "post", query={"q": 1}, headers={"X-Who": "me"}, body={}, output="response")
    result: Any = await functions.call(call)
    assert result.keys() == {"request", "statusCode", "headers", "content"}
    assert result["request"] == {
        "method": "POST",
        "uri": f"{service.url}/a?q=1",
        "headers": {"X-Who": "me", "Content-Type": "application/json"},
    }
    assert (result["statusCode"], result["content"]) == (201, {"n": 1})
    # As they are usually written, whatever the service does.
    assert result["headers"].items() >= {"Content-Type": "application/json", "X-Request-Id": "7", "Etag": '"e"'}.items()


async def test_a_response_shows_no_credentials(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/a", {})
    headers: JSON = {"Authorization": "Bearer t-1", "Cookie": "s=1", "X-API-Key": "k", "X-Who": "me"}
    result: Any = await functions.call(call_of(service, headers=headers, output="response"))
    assert service.last.headers["authorization"] == "Bearer t-1"
    assert result["request"] == {"method": "GET", "uri": f"{service.url}/a", "headers": {"X-Who": "me"}}
    uri = f"{service.url.replace('//', '//ada:hush@')}/a"
    result = await functions.call(Call(Function("ask", "request"), {"method": "get", "uri": uri, "output": "response"}))
    assert service.last.headers["authorization"] == f"Basic {base64.b64encode(b'ada:hush').decode()}"
    assert result["request"] == {"method": "GET", "uri": f"{service.url}/a", "headers": {}}
    for scheme, properties in {
        "basic": {"username": "ada", "password": "pw"},
        "bearer": {"token": "t-2"},
        "apiKey": {"name": "key", "in": "query", "key": "k-9"},
    }.items():
        result = await functions.call(showing(call_of(service, output="response"), scheme, properties))
        assert result["request"] == {"method": "GET", "uri": f"{service.url}/a", "headers": {}}


LOCATION = {"Location": "/b"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304, 300, 399])
async def test_redirects_are_errors(service: Service, functions: Functions, status: int) -> None:
    service.answers_with("GET", "/a", None, status=status, headers=LOCATION)
    service.answers_with("GET", "/b", "there")
    for call in (call_of(service), call_of(service, redirect=False)):
        fault = await fault_of(functions.call(call), str(status))
        assert fault.status == status
    assert {request.path for request in service.requests} == {"/a"}


@pytest.mark.parametrize(("method", "status", "then"), [
    *(("GET", status, "GET") for status in (301, 302, 303, 307, 308)),
    *(("POST", status, "GET") for status in (302, 303)),
    *(("POST", status, "POST") for status in (307, 308)),
])  # fmt: skip
async def test_redirects_that_are_followed(
    service: Service, functions: Functions, method: str, status: int, then: str
) -> None:
    service.answers_with(method, "/a", None, status=status, headers=LOCATION)
    service.answers_with(then, "/b", "there")
    body: JSON = {"n": 1} if method == "POST" else None
    assert await functions.call(call_of(service, method, body=body, redirect=True)) == "there"
    assert (service.last.path, bool(service.last.content)) == ("/b", then == "POST")


@pytest.mark.parametrize(("status", "headers"), [(304, {}), (300, LOCATION), (302, {}), (399, {}), (204, {})])
async def test_what_remains_below_400_is_a_success(
    service: Service, functions: Functions, status: int, headers: dict[str, str]
) -> None:
    service.answers_with("GET", "/a", None, status=status, headers=headers)
    result: Any = await functions.call(call_of(service, redirect=True, output="response"))
    assert (result["statusCode"], result["content"]) == (status, None)


@pytest.mark.parametrize("redirect", [True, False])
@pytest.mark.parametrize("status", [400, 401, 404, 500, 503, 600])
async def test_statuses_that_are_errors(service: Service, functions: Functions, status: int, *, redirect: bool) -> None:
    service.answers_with("GET", "/a", {"why": "no"}, status=status)
    fault = await fault_of(functions.call(call_of(service, redirect=redirect, output="response")), str(status))
    assert (fault.status, fault.body) == (status, {"why": "no"})


async def test_a_body_and_credentials_stay_with_their_service(service: Service, functions: Functions) -> None:
    """A redirect to another origin is followed without what may be secret, and a POST that would be repeated is not."""
    with serving(Service) as other:
        to_other = {"Location": f"{other.url.replace('127.0.0.1', 'localhost')}/b"}
        for method in ("GET", "POST"):
            service.answers_with(method, "/a", None, status=307, headers=to_other)
            other.answers_with(method, "/b", "there")
        call = call_of(service, headers={"X-Own": "1"}, redirect=True)
        assert await functions.call(showing(call, "bearer", {"token": "t"})) == "there"
        assert {"authorization", "x-own"}.isdisjoint(other.last.headers)
        bodies: list[JSON] = [{"n": 1}, None]
        for body in bodies:
            result: Any = await functions.call(call_of(service, "POST", body=body, redirect=True, output="response"))
            assert (result["statusCode"], len(other.requests)) == (307, 1)


BAD: dict[str, tuple[JSON, str]] = {
    "nothing": (None, "an object with 'method' and 'uri'"),
    "a text": ("http://x.example", "an object with 'method' and 'uri'"),
    "no method": ({"uri": "/a"}, "have the method null"),
    "an unknown method": ({"method": "fetch", "uri": "/a"}, '"fetch", which is not one of GET, HEAD'),
    "no uri": ({"method": "get"}, "have the uri null"),
    "an empty uri": ({"method": "get", "uri": " "}, 'have the uri " "'),
    "headers": ({"method": "get", "uri": "/a", "headers": ["a"]}, "have [\"a\"] as 'headers'"),
    "query": ({"method": "get", "uri": "/a", "query": "a=1"}, "have \"a=1\" as 'query'"),
    "an object in the query": ({"method": "get", "uri": "/a", "query": {"a": {"b": 1}}}, "'a' is an object"),
    "output": ({"method": "get", "uri": "/a", "output": "json"}, '"json", which is not one of content, raw, response'),
    "redirect": ({"method": "get", "uri": "/a", "redirect": "yes"}, '"yes"; it must be true or false'),
    "unknown": ({"method": "get", "uri": "/a", "header": {}}, "did you mean 'headers'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
async def test_bad_arguments(service: Service, functions: Functions, kind: str) -> None:
    arguments, told = BAD[kind]
    await fault_of(functions.call(Call(Function("ask", "request"), arguments)), "BadArguments", told, retryable=False)
    assert service.requests == []


async def test_the_settings_of_the_operator_apply(calling: Calling, service: Service) -> None:
    """As to other functions: by the name of the function, and by the host."""
    service.answers_with("POST", "/a", {})
    service.hangs("GET", "/slow")
    host = read_pattern(service.url.removeprefix("http://"))
    settings = Settings(
        functions={"ASK": Options(base_url=service.url, headers={"X-Function": "1"})},
        hosts={host: Options(headers={"X-Host": "2"}, timeout=timedelta(seconds=0.2))},
    )
    functions = calling(settings=settings)
    arguments: JSON = {"method": "post", "uri": "/a"}
    await functions.call(Call(Function("ask", "request"), arguments, idempotency_key="k"))
    sent = service.last.headers
    assert (sent["x-function"], sent["x-host"], sent["idempotency-key"]) == ("1", "2", "k")
    await fault_of(functions.call(call_of(service, path="/slow")), "Timeout")


async def test_hosts_may_be_denied(calling: Calling, service: Service) -> None:
    functions = calling(settings=read_settings({"SWF_ALLOW_HOSTS": "shop.example"}))
    await fault_of(functions.call(call_of(service)), "HostDenied")
    assert service.requests == []


def test_an_operation_is_a_problem() -> None:
    kind = operation_type("request")
    assert kind is not None
    assert not kind.needs_operation
    [problem] = kind.problems(Function("ask", "request", "rest:GET:/a"))
    assert "takes no operation" in problem.message


@pytest.mark.parametrize(("output", "expected"), [("raw", "eyJuIjogMX0="), ("content", {"n": 1})])
async def test_functions_of_other_types_of_plain_http(
    service: Service, functions: Functions, output: str, expected: JSON
) -> None:
    service.answers_with("GET", "/a", b'{"n": 1}')
    call = Call(Function("ask", "http", "rest:GET:/a", metadata={"output": output}))
    assert await functions.call(call) == expected
