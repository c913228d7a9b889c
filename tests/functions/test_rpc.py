"""Methods of a real gRPC server on a free port of this machine."""

from __future__ import annotations

import importlib
from asyncio import Event
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass

from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.protos import Protos
from swf_temporal.functions.settings import Settings
from swf_temporal.model.definitions import Auth, AuthRef, Function

if TYPE_CHECKING:
    from tests.functions.conftest import Failed

PROTOS = Path(__file__).parent / "protos"
GRPC: Any = importlib.import_module("grpc")
AIO: Any = importlib.import_module("grpc.aio")
REFLECTION: Any = importlib.import_module("grpc_reflection.v1alpha.reflection")


@dataclass
class Users:
    """A service that does what `users.proto` says, and remembers what it was sent."""

    methods: dict[str, Any]
    metadata: dict[str, str] = field(default_factory=dict)
    received: list[dict[str, Any]] = field(default_factory=list)
    hung_up: Event = field(default_factory=Event)
    port: int = 0

    def answer(self, method: str, **fields: Any) -> Any:
        """Return a message of the type that *method* answers with."""
        return GetMessageClass(self.methods[method].output_type)(**fields)

    def note(self, request: Any, context: Any) -> None:
        """Remember a request, and what came with it."""
        self.received.append(MessageToDict(request))
        self.metadata = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}

    async def add(self, request: Any, context: Any) -> Any:
        """Add the person, but refuse one whose name tells to."""
        self.note(request, context)
        if request.full_name == "nobody":
            context.set_trailing_metadata((("hint", "ask for somebody"),))
            await context.abort(GRPC.StatusCode.NOT_FOUND, "no such person")
        if request.full_name == "sloth":
            try:
                await Event().wait()
            finally:
                self.hung_up.set()
        return self.answer("AddUser", id=7, full_name=request.full_name * (2000 if request.full_name == "loud" else 1))

    async def remove(self, request: Any, context: Any) -> Any:
        """Remove the person."""
        self.note(request, context)
        return self.answer("RemoveUser")

    async def list_by_role(self, request: Any, context: Any) -> AsyncIterator[Any]:
        """Tell two people, one after the other."""
        self.note(request, context)
        for name in ("Ada", "Grace"):
            yield self.answer("ListUsersByRole", full_name=name)

    async def take_in(self, requests: AsyncIterator[Any], context: Any) -> Any:
        """Count the people."""
        names = []
        async for request in requests:
            self.note(request, context)
            names.append(request.full_name)
        return self.answer("ImportUsers", count=len(names), names=names)

    async def rename(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        """Tell each person's name in capitals, as soon as it comes."""
        async for request in requests:
            self.note(request, context)
            yield self.answer("Rename", full_name=request.full_name.upper())


def _handlers(users: Users) -> dict[str, Any]:
    behaviours = {
        "AddUser": (GRPC.unary_unary_rpc_method_handler, users.add),
        "RemoveUser": (GRPC.unary_unary_rpc_method_handler, users.remove),
        "ListUsersByRole": (GRPC.unary_stream_rpc_method_handler, users.list_by_role),
        "ImportUsers": (GRPC.stream_unary_rpc_method_handler, users.take_in),
        "Rename": (GRPC.stream_stream_rpc_method_handler, users.rename),
    }
    return {
        name: kind(
            behaviour,
            request_deserializer=GetMessageClass(users.methods[name].input_type).FromString,
            response_serializer=GetMessageClass(users.methods[name].output_type).SerializeToString,
        )
        for name, (kind, behaviour) in behaviours.items()
    }


@pytest.fixture
async def users() -> AsyncIterator[Users]:
    """Return the service, which listens until the test is over."""
    services = await Protos().load("users.proto", str(PROTOS / "users.proto"), None)
    described = services.known["shop.users.UserService"]
    users = Users(dict(described.methods_by_name))
    server = AIO.server()
    server.add_generic_rpc_handlers((GRPC.method_handlers_generic_handler(described.full_name, _handlers(users)),))
    REFLECTION.enable_server_reflection((described.full_name, REFLECTION.SERVICE_NAME), server, pool=services.pool)
    users.port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield users
    await server.stop(None)


@pytest.fixture
async def functions(users: Users) -> AsyncIterator[Functions]:
    """Return functions whose services are the test's one."""
    functions = Functions(settings=Settings(base_urls={"users.proto": f"127.0.0.1:{users.port}"}))
    yield functions
    await functions.aclose()


def _call(method: str, arguments: Any = None, source: str = "users.proto", **facts: Any) -> Call:
    operation = f"{source}#UserService#{method}"
    return Call(Function(name="ask", type="rpc", operation=operation), arguments, base=str(PROTOS), **facts)


async def test_one_message_for_one(functions: Functions, users: Users) -> None:
    """Arguments are the message, by JSON's or by proto's names; its fields come back under proto's, zeros too."""
    result = await functions.call(_call("AddUser", {"fullName": "Ada", "since": "2024-02-29T12:00:00Z"}))

    assert result == {"id": "7", "full_name": "Ada"}
    assert users.received == [{"fullName": "Ada", "since": "2024-02-29T12:00:00Z"}]
    assert await functions.call(_call("AddUser", {"full_name": ""})) == {"id": "7", "full_name": ""}


async def test_no_arguments_are_an_empty_message(functions: Functions, users: Users) -> None:
    """A method may be called without arguments, and may answer with nothing, which is an empty object."""
    assert await functions.call(_call("RemoveUser")) == {}
    assert users.received == [{}]


async def test_a_stream_for_one_message(functions: Functions, users: Users) -> None:
    """What a server streams is an array."""
    result: Any = await functions.call(_call("ListUsersByRole", {"role": "ADMIN"}))

    assert [person["full_name"] for person in result] == ["Ada", "Grace"]
    assert users.received == [{"role": "ADMIN"}]


async def test_one_message_for_a_stream(functions: Functions) -> None:
    """A method that takes a stream takes an array."""
    people: Any = [{"full_name": "Ada"}, {"full_name": "Grace"}]

    assert await functions.call(_call("ImportUsers", people)) == {"count": 2, "names": ["Ada", "Grace"]}
    assert await functions.call(_call("ImportUsers", [])) == {"count": 0, "names": []}


async def test_a_stream_for_a_stream(functions: Functions) -> None:
    """An array goes to a method that takes and gives streams, and another comes back."""
    result: Any = await functions.call(_call("Rename", [{"full_name": "Ada"}, {"full_name": "Grace"}]))

    assert [person["full_name"] for person in result] == ["ADA", "GRACE"]


@pytest.mark.parametrize("source", ["file://users.proto", "file:users.proto", (PROTOS / "users.proto").as_uri()])
async def test_proto_files_by_uri(functions: Functions, source: str) -> None:
    """A proto file may be named by a URI, relative in the way of the specification too."""
    assert await functions.call(_call("RemoveUser", source=source)) == {}


async def test_the_server_by_the_services_name(users: Users) -> None:
    """Where a service is may be set by its own name."""
    functions = Functions(settings=Settings(base_urls={"USERSERVICE": f"grpc://127.0.0.1:{users.port}"}))

    assert await functions.call(_call("RemoveUser")) == {}
    await functions.aclose()


@pytest.mark.parametrize("service", ["UserService", "shop.users.UserService"])
async def test_a_server_that_describes_itself(users: Users, service: str) -> None:
    """Without a proto file the server is asked what its messages are."""
    functions = Functions(settings=Settings(base_urls={"ask": f"grpc://127.0.0.1:{users.port}"}))
    function = Function(name="ask", type="rpc", operation=f"reflection:#{service}#ImportUsers")
    people: Any = [{"full_name": "Ada"}]

    assert await functions.call(Call(function, people)) == {"count": 1, "names": ["Ada"]}
    assert await functions.call(Call(function, people)) == {"count": 1, "names": ["Ada"]}
    await functions.aclose()


async def test_an_operation_that_names_its_server(users: Users) -> None:
    """The URL of a server in place of the proto file says where the service is, too."""
    functions = Functions()

    assert await functions.call(_call("RemoveUser", source=f"grpc://127.0.0.1:{users.port}")) == {}
    await functions.aclose()


async def test_credentials_and_the_idempotency_key_are_metadata(functions: Functions, users: Users) -> None:
    """They have the names of the headers that other services get, in small letters as gRPC has it."""
    function = Function(
        name="ask", type="rpc", operation="users.proto#UserService#RemoveUser", authRef=AuthRef(invocation="token")
    )
    auth = (Auth(name="token", scheme="bearer", properties={"token": "sesame"}),)

    await functions.call(Call(function, base=str(PROTOS), idempotency_key="key-1", auth=auth))

    assert users.metadata["authorization"] == "Bearer sesame"
    assert users.metadata["idempotency-key"] == "key-1"


async def test_an_error_of_the_service(functions: Functions, failed: Failed) -> None:
    """The code is the status' name; its number and what the server added are the body."""
    fault = await failed(functions, _call("AddUser", {"full_name": "nobody"}))

    assert (fault.name, fault.code, fault.status, fault.retryable) == ("CallFailed", "NOT_FOUND", None, True)
    assert fault.message.endswith("/UserService/AddUser answered NOT_FOUND: no such person")
    assert fault.body == {"code": 5, "message": "no such person", "metadata": {"hint": "ask for somebody"}}


async def test_a_service_that_does_not_answer(users: Users, failed: Failed) -> None:
    """After the time that a worker gives a call it is given up, and the server is told."""
    url = f"grpc://127.0.0.1:{users.port}"
    functions = Functions(settings=Settings(base_url=url, timeout=Settings().timeout / 100))

    fault = await failed(functions, _call("AddUser", {"full_name": "sloth"}))

    assert fault.code == "DEADLINE_EXCEEDED"
    await users.hung_up.wait()
    await functions.aclose()


async def test_a_server_that_is_not_there(failed: Failed) -> None:
    """A refused connection is the status that gRPC gives it."""
    functions = Functions(settings=Settings(base_url="grpc://127.0.0.1:1"))

    assert (await failed(functions, _call("AddUser"))).code == "UNAVAILABLE"
    assert (await failed(functions, _call("AddUser", source="reflection:"))).code == "UNAVAILABLE"
    await functions.aclose()


@pytest.mark.parametrize(("method", "arguments"), [("AddUser", {"full_name": "loud"}), ("ListUsersByRole", None)])
async def test_answers_that_are_too_large(users: Users, failed: Failed, method: str, arguments: Any) -> None:
    """A message, and all those of a stream together, are no larger than the worker takes."""
    settings = Settings(base_url=f"grpc://127.0.0.1:{users.port}", max_response_bytes=9)
    functions = Functions(settings=settings)

    fault = await failed(functions, _call(method, arguments))

    assert (fault.code, fault.retryable) == ("AnswerTooLarge", False)
    await functions.aclose()


@pytest.mark.parametrize(
    ("method", "arguments", "said"),
    [
        ("AddUser", {"fullname": "Ada"}, 'no field named "fullname"'),
        ("AddUser", {"id": "seven"}, "id"),
        ("AddUser", [{}], "takes a 'shop.people.Person'"),
        ("AddUser", 7, "takes a 'shop.people.Person'"),
        ("ImportUsers", {"full_name": "Ada"}, "takes a stream: its arguments are an array of 'Person'"),
    ],
)
async def test_arguments_that_are_no_message(
    functions: Functions, failed: Failed, method: str, arguments: Any, said: str
) -> None:
    """What does not fit the message is told before anything is sent."""
    fault = await failed(functions, _call(method, arguments))

    assert (fault.code, fault.retryable) == ("BadArguments", False)
    assert said in fault.message


@pytest.mark.parametrize(
    ("operation", "code", "said"),
    [
        ("users.proto#UserService#AddUsr", "UnknownOperation", "has no method 'AddUsr'; did you mean 'AddUser'?"),
        ("users.proto#UserServices#AddUser", "UnknownOperation", "the proto file 'users.proto' has no service"),
        ("reflection:#UserServices#AddUser", "UnknownOperation", "did you mean 'UserService'?"),
        ("users.proto#AddUser", "BadOperation", "'service.proto#Service#Method'"),
        ("absent.proto#UserService#AddUser", "NoDocument", "there is no such file"),
        ("https://127.0.0.1:1/users.proto#UserService#AddUser", "NoDocument", "must be a file of the worker"),
        ("broken.proto#UserService#AddUser", "BadDocument", '"Unknown" is not defined'),
    ],
)
async def test_operations_that_are_not_there(
    users: Users, failed: Failed, operation: str, code: str, said: str
) -> None:
    """The message says what is wrong with the function, and trying again does not help."""
    functions = Functions(settings=Settings(base_url=f"grpc://127.0.0.1:{users.port}"))

    fault = await failed(functions, Call(Function(name="ask", type="rpc", operation=operation), base=str(PROTOS)))

    assert (fault.code, fault.retryable) == (code, False)
    assert said in fault.message
    await functions.aclose()


async def test_a_server_that_nobody_named(failed: Failed) -> None:
    """A proto file does not say where its service is, so a setting must."""
    fault = await failed(Functions(), _call("AddUser"))

    assert fault.code == "NoServer"
    assert "SWF_BASE_URL_ASK" in fault.message
