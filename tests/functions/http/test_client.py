"""What goes over the wire, and what comes of it."""

import asyncio
import gzip
import json
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import httpx
import pytest

from swf_temporal.base.calls import Function
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, http_call


async def test_an_answer_is_the_result(service: Service, functions: Functions) -> None:
    """What a service gives to one workflow does not come back with the call of another."""
    service.answers_with("GET", "/a", {"n": [1, None]}, status=206, headers={"Set-Cookie": "session=mine; Path=/"})
    for _ in range(2):
        assert await functions.call(http_call("GET", "/a")) == {"n": [1, None]}
    assert service.last.headers["user-agent"].startswith("swf-temporal/")
    assert service.last.headers["accept"].startswith("application/json")
    assert "cookie" not in service.last.headers


async def test_a_long_error_is_shortened_in_the_message_only(service: Service, functions: Functions) -> None:
    service.answers_with("GET", "/a", b"x" * 5000, status=500, content_type="text/html")
    fault = await fault_of(functions.call(http_call("GET", "/a", {"secret-ish": "query"})))
    assert (len(fault.message) < 300, "query" in fault.message, fault.body) == (True, False, "x" * 5000)


@pytest.mark.parametrize("status", [204, 205])
async def test_nothing_is_null(service: Service, functions: Functions, status: int) -> None:
    service.answers_with("DELETE", "/a", status=status)
    assert await functions.call(http_call("DELETE", "/a")) is None


@pytest.mark.parametrize("text", [
    "304 Not Modified", "400 Bad Request", "404 Not Found", "429 Too Many Requests", "500 Internal Server Error",
    "503 Service Unavailable", "599",
])  # fmt: skip
async def test_every_other_status_is_a_fault(service: Service, functions: Functions, text: str) -> None:
    status = int(text[:3])
    service.answers_with("POST", "/a", None if status == 304 else {"why": "so"}, status=status)
    fault = await fault_of(functions.call(http_call("POST", "/a", {"token": "x"}, attempt=3)), str(status))
    assert (fault.name, fault.status, fault.retryable) == ("CallFailed", status, True)
    assert (fault.function, fault.attempt) == ("ask", 3)
    assert fault.message.startswith(f"POST {service.url}/a answered {text}")
    assert status == 304 or (fault.body == {"why": "so"} and fault.message.endswith(': {"why": "so"}'))


async def test_a_bug_is_a_fault_too(calling: Calling) -> None:
    def explode(_: httpx.Request) -> httpx.Response:
        raise ZeroDivisionError("oh")

    doing = calling(transport=httpx.MockTransport(explode)).call(http_call("GET", "http://x/a"))
    assert (await fault_of(doing, "InternalError")).cause == "ZeroDivisionError"


@pytest.mark.parametrize("compressed", [False, True])
async def test_an_answer_may_be_too_large(calling: Calling, service: Service, *, compressed: bool) -> None:
    """What counts is the size that a workflow would have to carry, not the size on the wire."""
    content = json.dumps("x" * 99).encode()
    headers = {"Content-Encoding": "gzip"} if compressed else {}
    service.answers_with("GET", "/a", gzip.compress(content) if compressed else content, headers=headers)
    less, enough = (calling(at=service.url, max_response_bytes=size) for size in (100, 101))
    await fault_of(less.call(http_call("GET", "/a")), "AnswerTooLarge", retryable=False)
    assert await enough.call(http_call("GET", "/a")) == "x" * 99


@pytest.mark.parametrize(("raw", "code"), [
    (b"", "ProtocolError"),
    (b"SSH-2.0-OpenSSH\r\n\r\n", "ProtocolError"),
    (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n<html>", "MalformedAnswer"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", "ProtocolError"),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nno gzip", "MalformedAnswer"),
    (b"HTTP/1.1 302 Found\r\nLocation: http://xn--/\r\nContent-Length: 0\r\n\r\n", "BadUrl"),
])  # fmt: skip
async def test_an_answer_that_is_none(service: Service, functions: Functions, raw: bytes, code: str) -> None:
    service.sends_raw("GET", "/a", raw)
    await fault_of(functions.call(http_call("GET", "/a")), code)


@pytest.mark.parametrize("cancels", [True, False])
async def test_who_waits_no_longer_hangs_up(calling: Calling, service: Service, *, cancels: bool) -> None:
    service.hangs("POST", "/a")
    functions = calling(at=service.url, **({} if cancels else {"timeout": timedelta(milliseconds=50)}))
    task = asyncio.create_task(functions.call(http_call("POST", "/a")))
    await asyncio.to_thread(service.asked.wait, 10)
    if cancels:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        await fault_of(task, "Timeout", retryable=True)
    assert await asyncio.to_thread(service.hung_up.wait, 10)


@pytest.mark.parametrize(("method", "sent"), [("POST", True), ("PUT", True), ("DELETE", True), ("GET", False)])
async def test_the_idempotency_key(service: Service, functions: Functions, method: str, *, sent: bool) -> None:
    """Requests that change something carry the key, so that a service can recognise a repetition."""
    service.answers_with(method, "/a", {})
    await functions.call(http_call(method, "/a", idempotency_key="run/step#1"))
    assert service.last.headers.get("idempotency-key") == ("run/step#1" if sent else None)


async def test_only_questions_are_redirected(service: Service, functions: Functions) -> None:
    """A GET follows the service to where it points; a POST is sent nowhere else than it was meant for."""
    for method in ("GET", "POST"):
        service.answers_with(method, "/old", status=307, headers={"Location": "/new"})
        service.answers_with(method, "/new", "arrived")
    service.answers_with("GET", "/round", status=302, headers={"Location": "/round"})
    assert await functions.call(http_call("GET", "/old")) == "arrived"
    assert (await fault_of(functions.call(http_call("POST", "/old")))).code == "307"
    assert (await fault_of(functions.call(http_call("GET", "/round")))).code == "TooManyRedirects"


async def test_a_body_goes_to_no_other_origin(service: Service, functions: Functions) -> None:
    """A GET may have a body, which was meant for the service that it was sent to."""
    elsewhere = service.url.replace("127.0.0.1", "localhost")
    for path, there in (("/beside", service.url), ("/away", elsewhere)):
        service.answers_with("GET", path, status=307, headers={"Location": f"{there}/new"})
    service.answers_with("GET", "/new", "arrived")

    def asking(path: str) -> Call:
        return Call(Function(name="ask", type="http", operation={"uri": path}), {"body": {"password": "pw"}})

    assert await functions.call(asking("/beside")) == "arrived"
    assert service.last.body == {"password": "pw"}
    assert (await fault_of(functions.call(asking("/away")))).code == "307"
    assert service.last.path == "/away"


def test_each_event_loop_has_its_own_connections(service: Service) -> None:
    service.answers_with("GET", "/a", "fine")
    functions = Functions(settings=Settings(calls=Options(base_url=service.url)))

    async def use() -> object:
        async with aclosing(functions):
            return await functions.call(http_call("GET", "/a"))

    assert [asyncio.run(use()), asyncio.run(use())] == ["fine", "fine"]


@pytest.mark.parametrize(("url", "arguments", "code"), [
    *((url, None, "BadUrl") for url in ("http://host:port/", "http://xn--/", "http://example.com:99999/",
                                        "http://127.0.0.1:99999/", "/\ud800")),
    *(("/a", {"HEADER_X": text}, "BadArguments") for text in ("a\r\nY: b", "\ud800", "a\x00b")),
    ("/a", {"HEADER_\u00fc": "x"}, "BadRequestHead"),
])  # fmt: skip
async def test_what_cannot_be_sent(functions: Functions, url: str, arguments: Any, code: str) -> None:
    await fault_of(functions.call(http_call("GET", url, arguments)), code, retryable=False)


@pytest.mark.parametrize("password", ["hunter2", "hunt@er2"])
async def test_a_password_in_a_url_is_not_shown(service: Service, functions: Functions, password: str) -> None:
    """Of several signs that may end it the last one does, so nothing of it is left."""
    url = service.url.replace("//", f"//ada:{password}@")
    fault = await fault_of(functions.call(http_call("GET", f"{url}/none")))
    assert fault.message.startswith(f"GET {service.url}/none answered 404 Not Found")


async def test_arguments_do_not_say_how_long_a_body_is(service: Service, functions: Functions) -> None:
    """Where the next request begins must not be for data to say."""
    service.answers_with("POST", "/a", {})
    await functions.call(http_call("POST", "/a", {"x": 1, "HEADER_Content-Length": 2, "HEADER_Transfer-Encoding": "x"}))
    assert service.last.body == {"x": 1}
    assert service.last.headers["content-length"] == str(len(service.last.content))
    assert "transfer-encoding" not in service.last.headers


@pytest.mark.parametrize("coding", ["gzip, gzip", "br"])
async def test_an_answer_compressed_as_nobody_asked(service: Service, functions: Functions, coding: str) -> None:
    """What is compressed twice can grow from kilobytes to gigabytes before its size is known."""
    service.answers_with("GET", "/a", gzip.compress(gzip.compress(b"1")), headers={"Content-Encoding": coding})
    await fault_of(functions.call(http_call("GET", "/a")), "MalformedAnswer", "only gzip or deflate")
    assert service.last.headers["accept-encoding"] == "gzip, deflate"
