"""Methods of a real gRPC server on a free port of this machine."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.rpc.protos import Protos
from swf_temporal.functions.rpc.rpc import requests_of
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, showing, showing_token
from tests.functions.rpc.users_service import PROTOS, Users, serving


@pytest.fixture
async def users() -> AsyncIterator[Users]:
    async with serving() as users:
        yield users


@pytest.fixture
def functions(calling: Calling, users: Users) -> Functions:
    return calling(settings=Settings(services={"users.proto": Options(base_url=users.url)}))


def _call(method: str, arguments: Any = None, source: str = "users.proto", **facts: Any) -> Call:
    operation = f"{source}#UserService#{method}"
    return Call(Function(name="ask", type="rpc", operation=operation), arguments, base=str(PROTOS), **facts)


async def test_one_message_for_one(functions: Functions, users: Users) -> None:
    result = await functions.call(_call("AddUser", {"fullName": "Ada", "since": "2024-02-29T12:00:00Z"}))
    assert result == {"id": "7", "full_name": "Ada"}
    assert await functions.call(_call("AddUser", {"full_name": ""})) == {"id": "7", "full_name": ""}
    assert await functions.call(_call("RemoveUser")) == {}
    assert users.received == [{"fullName": "Ada", "since": "2024-02-29T12:00:00Z"}, {}, {}]


async def test_one_message_for_a_stream(functions: Functions) -> None:
    people: Any = [{"full_name": "Ada"}, {"full_name": "Grace"}]
    assert await functions.call(_call("ImportUsers", people)) == {"count": 2, "names": ["Ada", "Grace"]}
    assert await functions.call(_call("ImportUsers", [])) == {"count": 0, "names": []}
    assert await functions.call(_call("ImportUsers", {"requests": people})) == {"count": 2, "names": ["Ada", "Grace"]}


@pytest.mark.parametrize(("arguments", "name"), [({"fullName": "Ada"}, "Ada"), ({"HEADER_a": "b"}, ""), ({}, "")])
async def test_an_object_is_a_stream_of_one_message(functions: Functions, arguments: Any, name: str) -> None:
    assert await functions.call(_call("ImportUsers", arguments)) == {"count": 1, "names": [name]}
    assert await functions.call(_call("Rename", arguments)) == [{"id": "0", "full_name": name.upper()}]


@pytest.mark.parametrize(("field", "arguments", "sent"), [
    ("repeated Line requests", {"requests": [{}, {}]}, [{}, {}]),
    ("repeated Line requests", {"requests": [{"requests": [{}]}]}, [{"requests": [{}]}]),
    ("Line requests", {"requests": {}}, [{"requests": {}}]),
    ("map<string, string> requests", {"requests": {"a": "b"}}, [{"requests": {"a": "b"}}]),
])  # fmt: skip
async def test_messages_with_a_field_that_is_called_like_the_array(
    tmp_path: Path, field: str, arguments: Any, sent: list[Any]
) -> None:
    """An array is the messages; anything else is the value of the field."""
    messages = f"message Line {{ {field} = 1; }} message Order {{ {field} = 1; }}"
    service = "service Shop { rpc Buy(stream Order) returns (Line); }"
    (tmp_path / "shop.proto").write_text(f'syntax = "proto3"; {messages} {service}', encoding="utf-8")
    services = await Protos().load("shop.proto", str(tmp_path / "shop.proto"), None)
    requests = requests_of(services.method("Shop", "Buy"), arguments, services.pool)
    assert [MessageToDict(one) for one in requests] == sent


@pytest.mark.parametrize(("method", "arguments", "names"), [
    ("ListUsersByRole", {"role": "ADMIN"}, ["Ada", "Grace"]),
    ("Rename", [{"fullName": "Ada"}, {"fullName": "Grace"}], ["ADA", "GRACE"]),
])  # fmt: skip
async def test_what_is_streamed_is_an_array(
    functions: Functions, users: Users, method: str, arguments: Any, names: list[str]
) -> None:
    result: Any = await functions.call(_call(method, arguments))
    assert [person["full_name"] for person in result] == names
    assert users.received == (arguments if isinstance(arguments, list) else [arguments])


@pytest.mark.parametrize("source", ["file://users.proto", "file:users.proto", (PROTOS / "users.proto").as_uri(), None])
async def test_proto_files_by_uri(calling: Calling, users: Users, source: str | None) -> None:
    """The server is known by the service's name; or the operation names it, and the server describes itself."""
    functions = calling(settings=Settings(services={"USERSERVICE": Options(base_url=users.url)} if source else {}))
    assert await functions.call(_call("RemoveUser", source=source or users.url)) == {}


async def test_a_proto_file_at_a_url(functions: Functions, service: Service) -> None:
    for path in ("users.proto", "shared/people.proto"):
        service.answers_with("GET", f"/protos/{path}", (PROTOS / path).read_bytes(), content_type="text/plain")
    auth = Auth(name="reader", scheme="bearer", properties={"token": "t-9"})
    operation = f"{service.url}/protos/users.proto#UserService#RemoveUser"
    function = Function(name="ask", type="rpc", operation=operation, auth_ref=AuthRef(resource="reader"))
    for _ in range(2):
        assert await functions.call(Call(function, auth=(auth,))) == {}
    asked = [(request.path, request.headers["authorization"]) for request in service.requests]
    assert asked == [("/protos/users.proto", "Bearer t-9"), ("/protos/shared/people.proto", "Bearer t-9")]


async def test_a_proto_file_at_the_server_itself_and_one_call_at_once(calling: Calling, service: Service) -> None:
    """What is called and what is fetched have the same host and port: the call does not wait for itself."""
    service.answers_with("GET", "/users.proto", (PROTOS / "users.proto").read_bytes(), content_type="text/plain")
    people = (PROTOS / "shared" / "people.proto").read_bytes()
    service.answers_with("GET", "/shared/people.proto", people, content_type="text/plain")
    server = Options(base_url=service.url.replace("http", "grpc"))
    functions = calling(settings=Settings(hosts={"127.0.0.1": Options(concurrency=1)}, calls=server))
    operation = f"{service.url}/users.proto#UserService#RemoveUser"
    doing = functions.call(Call(Function(name="ask", type="rpc", operation=operation)))
    await asyncio.wait_for(fault_of(doing, "UNAVAILABLE"), 10)  # it is a server of HTTP
    assert service.requests[0].path == "/users.proto"


@pytest.mark.parametrize(("service", "version"), [
    ("UserService", "v1alpha"), ("shop.users.UserService", "v1alpha"), ("UserService", "v1"), ("UserService", None),
])  # fmt: skip
async def test_a_server_that_describes_itself(calling: Calling, service: str, version: str | None) -> None:
    """Without a proto file the server is asked what its messages are, in either version of the question."""
    function = Function(name="ask", type="rpc", operation=f"reflection:#{service}#ImportUsers")
    people: Any = [{"full_name": "Ada"}]
    async with serving(reflection=version) as users:
        functions = calling(settings=Settings(functions={"ask": Options(base_url=users.url)}))
        if version is None:
            told = "has no server reflection; name a proto file"
            await fault_of(functions.call(Call(function, people)), "NoDocument", told, retryable=False)
            return
        for _ in range(2):
            assert await functions.call(Call(function, people)) == {"count": 1, "names": ["Ada"]}


@pytest.mark.parametrize(("key", "sent"), [
    ("order 100%/run/Check/ask#1", "order 100%/run/Check/ask#1"),
    ("Bestellung/run/Pr\u00fcfen/\u5c0b\u306d\u308b#1", "Bestellung/run/Pr%C3%BCfen/%E5%B0%8B%E3%81%AD%E3%82%8B#1"),
    ("order/run/Check\nit/ask#1", "order/run/Check%0Ait/ask#1"),
])  # fmt: skip
async def test_credentials_and_the_idempotency_key_are_metadata(
    functions: Functions, users: Users, key: str, sent: str
) -> None:
    """With the names of the headers that other services get, in small letters. Metadata can hold ASCII only."""
    await functions.call(showing(_call("RemoveUser", idempotency_key=key), "bearer", {"token": "sesame"}))
    assert (users.metadata["authorization"], users.metadata["idempotency-key"]) == ("Bearer sesame", sent)


async def test_metadata_of_the_definition_and_of_the_operator(calling: Calling, users: Users) -> None:
    """Arguments that begin with HEADER_ are metadata, also beside a stream; what is configured is sent along."""
    options = Options(headers={"X-Tenant": "nobody", "X-Zone": "north"})
    functions = calling(settings=Settings(calls=options.replace(base_url=users.url)))
    headers: Any = {"HEADER_x-tenant": "acme", "HEADER_trace-bin": "AP8=", "HEADER_absent": None}
    await functions.call(_call("AddUser", {**headers, "full_name": "Ada"}))
    sent = users.metadata
    people: Any = {"requests": [{"full_name": "Ada"}], "HEADER_x-tenant": "acme"}
    assert await functions.call(_call("ImportUsers", people)) == {"count": 1, "names": ["Ada"]}
    assert (sent["x-tenant"], sent["x-zone"], sent["trace-bin"]) == ("acme", "north", b"\x00\xff")
    assert "absent" not in sent
    assert users.metadata["x-tenant"] == "acme"
    assert users.received == [{"fullName": "Ada"}, {"fullName": "Ada"}]


@pytest.mark.parametrize("source", ["users.proto", "reflection:"])
async def test_a_token_that_is_refused_is_renewed_once(
    calling: Calling, users: Users, service: Service, source: str
) -> None:
    """A token that the service refuses is replaced by a new one; a service that refuses that too is believed."""
    users.tokens = set()
    service.answers_with("POST", "/token", {"access_token": "sesame", "token_type": "Bearer"})
    call, functions = showing_token(_call("RemoveUser", source=source), service), calling(at=users.url)
    fault = await fault_of(functions.call(call), "UNAUTHENTICATED")
    assert (fault.status, fault.body["message"]) == (16, "who are you?")
    assert len(users.received) == 2
    assert [request.path for request in service.requests if request.method == "POST"] == ["/token", "/token"]
    users.tokens = {"Bearer sesame"}
    assert await functions.call(call) == {}


async def test_an_error_of_the_service(functions: Functions) -> None:
    fault = await fault_of(functions.call(_call("AddUser", {"full_name": "nobody"})))
    assert (fault.name, fault.code, fault.status, fault.retryable) == ("CallFailed", "NOT_FOUND", 5, True)
    assert fault.message.endswith("/UserService/AddUser answered NOT_FOUND: no such person")
    metadata = {"hint": "ask for somebody", "hint-bin": "AP8="}
    assert fault.body == {"code": 5, "message": "no such person", "metadata": metadata}


@pytest.mark.parametrize("is_given_up", [True, False])
async def test_a_service_that_does_not_answer(calling: Calling, users: Users, *, is_given_up: bool) -> None:
    functions = calling(at=users.url, **({} if is_given_up else {"timeout": Options().timeout / 100}))
    call = _call("AddUser", {"full_name": "sloth"})
    await functions.prepare(call.function, call.base)  # to compile the proto file may take longer than the call may
    waiting = asyncio.create_task(functions.call(call))
    if is_given_up:
        while not users.received:
            await asyncio.sleep(0.01)
        waiting.cancel()
    else:
        await fault_of(waiting, "DEADLINE_EXCEEDED", "/AddUser did not answer in time")
    await users.hung_up.wait()
    assert waiting.cancelled() or waiting.cancelling() or not is_given_up


PORTRAIT = "type.googleapis.com/shop.users.Portrait"


@pytest.mark.parametrize(("arguments", "field"), [
    ({"picture": "###"}, "picture"),
    ({"picture": "AAA=A"}, "picture"),
    ({"smallOnes": ["AA==", "A A="]}, "smallOnes[1]"),
    ({"by_size": {"s": "AA==", "l": "é"}}, "by_size[l]"),
    ({"frame": "#"}, "frame"),
    ({"other": {"@type": PORTRAIT, "picture": "###"}}, "other.picture"),
    ({"other": {"@type": "type.googleapis.com/google.protobuf.BytesValue", "value": "#"}}, "other"),
    ({"older": {"older": {"picture": "###"}}}, "older.older.picture"),
])  # fmt: skip
async def test_bytes_that_are_no_base64(arguments: Any, field: str, functions: Functions, users: Users) -> None:
    """The library would send what it can make of them, which may be nothing."""
    told = f"the field '{field}' must be bytes, written in base64"
    await fault_of(functions.call(_call("Paint", arguments)), "BadArguments", told)
    assert users.received == []


async def test_bytes_and_numbers(functions: Functions) -> None:
    """Bytes are in either base64. A number that is whole is written as one: it may be an id in a URL."""
    sent = {"picture": "-_8", "small_ones": ["AA==", "AA", ""], "by_size": {"s": "AAA="}, "frame": "AAAA"}
    numbers = {"about": {"id": 7, "scale": 0.5}, "sizes": [3, 2.5, 1e30]}
    found: Any = await functions.call(_call("Paint", {**sent, **numbers, "older": {"picture": None}}))
    assert (found["picture"], found["small_ones"], found["by_size"]) == ("+/8=", ["AA==", "AA==", ""], {"s": "AAA="})
    told = json.dumps([found["about"], found["sizes"]], sort_keys=True)  # a Struct has no order
    assert told == '[{"id": 7, "scale": 0.5}, [3, 2.5, 1e+30]]'


async def test_a_required_field_that_is_missing(calling: Calling, tmp_path: Path) -> None:
    """What proto2 requires is asked for before anything is sent: no server could be told of it."""
    inner = "message Line { required string item = 1; }"
    order = "message Order { repeated Line lines = 1; }"
    text = f'syntax = "proto2"; {inner} {order} service Shop {{ rpc Buy(Order) returns (Order); }}'
    (tmp_path / "shop.proto").write_text(text, encoding="utf-8")
    function = Function(name="buy", type="rpc", operation="shop.proto#Shop#Buy")
    functions = calling(at="grpc://127.0.0.1:1")
    doing = functions.call(Call(function, {"lines": [{"item": "tea"}, {}]}, base=str(tmp_path)))
    await fault_of(doing, "BadArguments", "the field 'lines[1].item' is required, and is missing", retryable=False)


async def test_a_server_that_is_not_there(calling: Calling) -> None:
    functions = calling(at="grpc://127.0.0.1:1")
    for source in ("users.proto", "reflection:"):
        await fault_of(functions.call(_call("AddUser", source=source)), "UNAVAILABLE", "/AddUser cannot be reached: ")


@pytest.mark.parametrize("method", ["ImportUsers", "Rename"])
async def test_a_stream_of_nothing_to_a_server_that_is_not_there(calling: Calling, method: str) -> None:
    """The library calls that cancelled; but nobody has cancelled the call, and it may be tried again."""
    fault = await fault_of(calling(at="grpc://127.0.0.1:1").call(_call(method, [])), retryable=True)
    # The library says either, as it happens to notice first that there is nobody or that there is nothing to send.
    assert fault.code in {"ConnectionLost", "UNAVAILABLE"}


async def test_a_server_that_comes_back(calling: Calling) -> None:
    async with serving() as users:
        functions = calling(at=users.url)
        assert await functions.call(_call("RemoveUser")) == {}
    assert (await fault_of(functions.call(_call("RemoveUser")))).code == "UNAVAILABLE"
    async with serving(port=users.port) as again, asyncio.timeout(30):
        while not again.received:
            with suppress(CallFailed):
                await functions.call(_call("RemoveUser"))
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(("method", "arguments", "most"), [
    ("AddUser", {"full_name": "loud"}, 9), ("ListUsersByRole", None, 9),
    # What counts is how large messages are in the data of the workflow: each may be nothing on the wire.
    ("ListUsersByRole", {}, 100_000),
])  # fmt: skip
async def test_answers_that_are_too_large(
    calling: Calling, users: Users, method: str, arguments: Any, most: int
) -> None:
    functions = calling(at=users.url, max_response_bytes=most)
    await fault_of(functions.call(_call(method, arguments)), "AnswerTooLarge", retryable=False)


@pytest.mark.parametrize(("method", "arguments", "message"), [
    ("AddUser", {"fullname": "Ada"}, 'no field named "fullname"'),
    ("AddUser", {"id": "seven"}, "id"),
    *((method, given, f"takes a 'shop.people.Person': an object with its fields, and this is {told}")
      for method, given, told in (("AddUser", "", "a string"), ("AddUser", [], "an array"), ("AddUser", 5, "a number"),
                                  ("Rename", [5], "a number"))),
    *(("ImportUsers", given, """takes a stream: its arguments are an object, one 'Person', or {"requests": [...]}""")
      for given in (None, "Ada", {"requests": None}, {"requests": {"full_name": "Ada"}})),
    ("ImportUsers", {"fullname": "Ada"}, 'no field named "fullname"'),
    ("ImportUsers", {"requests": [], "full_name": "Ada"}, 'no field named "requests"'),
    ("AddUser", {"HEADER_a b": 1}, "'a b' cannot be the name of metadata"),
    ("AddUser", {"HEADER_grpc-timeout": "1S"}, "'grpc-timeout' cannot be the name of metadata"),
    ("AddUser", {"HEADER_a": "ä"}, "the metadata 'a' would contain a character"),
    ("AddUser", {"HEADER_a-bin": "!"}, "must be bytes, written in base64"),
])  # fmt: skip
async def test_arguments_that_are_no_message(
    functions: Functions, users: Users, method: str, arguments: Any, message: str
) -> None:
    await fault_of(functions.call(_call(method, arguments)), "BadArguments", message, retryable=False)
    assert users.received == []


@pytest.mark.parametrize(("operation", "code", "message"), [
    ("users.proto#UserService#AddUsr", "UnknownOperation", "has no method 'AddUsr'; did you mean 'AddUser'?"),
    ("users.proto#UserServices#AddUser", "UnknownOperation", "the proto file 'users.proto' has no service"),
    ("reflection:#UserServices#AddUser", "UnknownOperation", "did you mean 'UserService'?"),
    ("users.proto#AddUser", "BadOperation", "'service.proto#Service#Method'"),
    ("absent.proto#UserService#AddUser", "NoDocument", "there is no such file"),
    ("broken.proto#UserService#AddUser", "BadDocument", '"Unknown" is not defined'),
    ("users.proto#UserService#AddUser", "NoServer", "SWF_BASE_URL_ASK"),
])  # fmt: skip
async def test_operations_that_are_not_there(
    calling: Calling, users: Users, operation: str, code: str, message: str
) -> None:
    functions = calling() if code == "NoServer" else calling(at=users.url)
    doing = functions.call(Call(Function(name="ask", type="rpc", operation=operation), base=str(PROTOS)))
    await fault_of(doing, code, message, retryable=False)


BASIC = {"username": "ada", "password": "lovelace"}


@pytest.mark.parametrize(("auth", "sent"), [
    (None, None),
    (Auth("a", "bearer", {"token": "t-9"}), "Bearer t-9"),
    (Auth("a", "basic", BASIC), "Basic YWRhOmxvdmVsYWNl"),
    (Auth("a", "basic", "login"), "Basic YWRhOmxvdmVsYWNl"),
])  # fmt: skip
async def test_the_metadata_of_the_function_may_name_the_server(
    calling: Calling, users: Users, auth: Auth | None, sent: str | None
) -> None:
    metadata = {"host": "127.0.0.1", "port": users.port}
    source = (PROTOS / "users.proto").as_uri()
    reference = AuthRef(invocation="a") if auth else None
    function = Function("ask", "rpc", f"{source}#UserService#RemoveUser", auth_ref=reference, metadata=metadata)
    credentials: Any = {"auth": (auth,), "secrets": {"login": BASIC}} if auth else {}
    assert await calling().call(Call(function, **credentials)) == {}
    assert users.metadata.get("authorization") == sent


async def test_the_operator_s_settings_come_before_the_server_of_the_metadata(functions: Functions) -> None:
    metadata = {"host": "elsewhere.invalid", "port": 1}
    function = Function("ask", "rpc", "users.proto#UserService#RemoveUser", metadata=metadata)
    assert await functions.call(Call(function, base=str(PROTOS))) == {}


@pytest.mark.parametrize(("metadata", "code", "told"), [
    ({"host": "127.0.0.9"}, "UNAVAILABLE", "grpcs://127.0.0.9:443/UserService/RemoveUser cannot be reached"),
    ({"host": "127.0.0.9", "port": 1}, "UNAVAILABLE", "grpc://127.0.0.9:1/UserService/RemoveUser cannot be reached"),
    ({"host": "127.0.0.9", "port": "1"}, "BadOperation", "must be a name and a whole number"),
    ({"host": 5}, "BadOperation", "must be a name and a whole number"),
    ({"host": "a b"}, "BadUrl", "is written grpc://host:port"),
])  # fmt: skip
async def test_a_server_of_the_metadata_that_is_not_one(calling: Calling, metadata: Any, code: str, told: str) -> None:
    """Port 443, the default, is the one with TLS."""
    function = Function("ask", "rpc", "users.proto#UserService#RemoveUser", metadata=metadata)
    await fault_of(calling().call(Call(function, base=str(PROTOS))), code, told)
