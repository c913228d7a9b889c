"""A real gRPC service on a free port of this machine."""

import importlib
from asyncio import Event
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass

from swf_temporal.functions.rpc.protos import Protos

PROTOS = Path(__file__).parents[1] / "protos"
GRPC: Any = importlib.import_module("grpc")
AIO: Any = importlib.import_module("grpc.aio")
_REFLECTION: Any = importlib.import_module("grpc_reflection.v1alpha.reflection")
_MESSAGES: Any = importlib.import_module("grpc_reflection.v1alpha.reflection_pb2")


@dataclass
class Users:
    methods: dict[str, Any]
    metadata: dict[str, str | bytes] = field(default_factory=dict)
    received: list[dict[str, Any]] = field(default_factory=list)
    hung_up: Event = field(default_factory=Event)
    port: int = 0
    tokens: set[str] | None = None
    """Those that are let in; None lets everybody in."""

    @property
    def url(self) -> str:
        return f"grpc://127.0.0.1:{self.port}"

    def answer(self, method: str, **fields: Any) -> Any:
        return GetMessageClass(self.methods[method].output_type)(**fields)

    async def emit(self, request: Any, context: Any) -> None:
        self.received.append(MessageToDict(request))
        self.metadata = dict(context.invocation_metadata())
        if self.tokens is not None and self.metadata.get("authorization") not in self.tokens:
            await context.abort(GRPC.StatusCode.UNAUTHENTICATED, "who are you?")

    async def add(self, request: Any, context: Any) -> Any:
        await self.emit(request, context)
        if request.full_name == "nobody":
            context.set_trailing_metadata((("hint", "ask for somebody"), ("hint-bin", b"\x00\xff")))
            await context.abort(GRPC.StatusCode.NOT_FOUND, "no such person")
        if request.full_name == "sloth":
            try:
                await Event().wait()
            finally:
                self.hung_up.set()
        return self.answer("AddUser", id=7, full_name=request.full_name * (2000 if request.full_name == "loud" else 1))

    async def remove(self, request: Any, context: Any) -> Any:
        await self.emit(request, context)
        return self.answer("RemoveUser")

    async def paint(self, request: Any, context: Any) -> Any:
        await self.emit(request, context)
        return request

    async def list_by_role(self, request: Any, context: Any) -> AsyncIterator[Any]:
        await self.emit(request, context)
        for name in ("Ada", "Grace") if request.role else ("",) * 100_000:
            yield self.answer("ListUsersByRole", full_name=name)

    async def take_in(self, requests: AsyncIterator[Any], context: Any) -> Any:
        names = []
        async for request in requests:
            await self.emit(request, context)
            names.append(request.full_name)
        return self.answer("ImportUsers", count=len(names), names=names)

    async def rename(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for request in requests:
            await self.emit(request, context)
            yield self.answer("Rename", full_name=request.full_name.upper())


def _handlers(users: Users) -> dict[str, Any]:
    behaviours = {
        "AddUser": (GRPC.unary_unary_rpc_method_handler, users.add),
        "Paint": (GRPC.unary_unary_rpc_method_handler, users.paint),
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


@asynccontextmanager
async def serving(
    *, credentials: Any = None, reflection: str | None = "v1alpha", port: int = 0
) -> AsyncIterator[Users]:
    services = await Protos().load("users.proto", str(PROTOS / "users.proto"), None)
    described = services.known["shop.users.UserService"]
    users = Users(dict(described.methods_by_name))
    server = AIO.server()
    server.add_generic_rpc_handlers((GRPC.method_handlers_generic_handler(described.full_name, _handlers(users)),))
    if reflection is not None:
        server.add_generic_rpc_handlers((_reflecting(reflection, described.full_name, services.pool),))
    users.port = (
        server.add_insecure_port(f"127.0.0.1:{port}")
        if credentials is None
        else server.add_secure_port(f"127.0.0.1:{port}", credentials)
    )
    await server.start()
    try:
        yield users
    finally:
        await server.stop(None)


def _reflecting(version: str, service: str, pool: Any) -> Any:
    answer = _REFLECTION.aio.ReflectionServicer((service,), pool=pool).ServerReflectionInfo
    method = GRPC.stream_stream_rpc_method_handler(
        answer,
        request_deserializer=_MESSAGES.ServerReflectionRequest.FromString,
        response_serializer=_MESSAGES.ServerReflectionResponse.SerializeToString,
    )
    name = f"grpc.reflection.{version}.ServerReflection"
    return GRPC.method_handlers_generic_handler(name, {"ServerReflectionInfo": method})
