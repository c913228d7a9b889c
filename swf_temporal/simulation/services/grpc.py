"""A scenario's gRPC service: a real server on this machine, for the services in a proto file."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.rpc.channels import library
from swf_temporal.functions.rpc.protos import Protos, ProtoServices
from swf_temporal.simulation.model.services import Reply
from swf_temporal.simulation.services.answering import StubService
from swf_temporal.simulation.services.http import THIS_MACHINE

_GOODBYE = 1.0
"""Seconds that calls have to end."""


class GrpcService:
    """A server on a free port."""

    def __init__(self, answering: StubService, described: ProtoServices) -> None:
        self._answering = answering
        self._described = described
        self._library = library("grpc")
        self._server = library("grpc.aio").server()
        self._server.add_generic_rpc_handlers((_Handlers(self),))
        self.port: int = self._server.add_insecure_port(f"{THIS_MACHINE}:0")

    @classmethod
    async def started(cls, answering: StubService, proto: Path) -> "GrpcService":
        """Return a server that listens. Raises CallFailed if the proto file cannot be compiled."""
        made = cls(answering, await Protos().load(proto.name, str(proto), None))
        await made._server.start()
        return made

    async def stop(self) -> None:
        """Stop listening, and let the clients go first: a connection that is cut off is logged by the library."""
        await self._server.stop(_GOODBYE)

    def handler(self, path: str) -> Any:
        """Return what answers calls of `/Service/Method`; on the wire all kinds of streams are alike."""
        service, _, name = path.strip("/").partition("/")
        try:
            method = self._described.method(service, name)
        except CallFailed:
            return None  # then the library answers that it is not implemented
        return self._library.stream_stream_rpc_method_handler(partial(self._answers, method))

    async def _answers(
        self, method: MethodDescriptor, requests: AsyncIterator[bytes], context: Any
    ) -> AsyncIterator[bytes]:
        full = f"{method.containing_service.full_name}/{method.name}"
        short = f"{method.containing_service.name}/{method.name}"
        message = GetMessageClass(method.input_type)
        sent: list[JSON] = [_as_json(message.FromString(one)) async for one in requests]
        metadata = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
        self._answering.record_request(short, metadata, sent if method.client_streaming else sent[0])
        reply = self._answering.reply_to(short, full)
        if reply is None:
            known = ", ".join(self._answering.service.requests) or "nothing"
            reply = Reply(status="UNIMPLEMENTED", body=f"the scenario answers {known}, and not {short}")
        if isinstance(reply.status, str):
            await context.abort(self._library.StatusCode[reply.status], str(reply.body or ""))
        answers = reply.body if method.server_streaming and isinstance(reply.body, list) else [reply.body]
        for answer in answers:
            try:
                made = self._as_message({} if answer is None else answer, method)
            except json_format.ParseError as error:
                wrong = f"the answer to {short} is not a {method.output_type.full_name}: {error}"
                self._answering.record_problem(wrong)
                await context.abort(self._library.StatusCode.INTERNAL, wrong)
            yield made

    def _as_message(self, answer: JSON, method: MethodDescriptor) -> bytes:
        if not isinstance(answer, dict) and method.output_type.file.package != "google.protobuf":
            raise json_format.ParseError("it is not an object")
        message = GetMessageClass(method.output_type)()
        content: bytes = json_format.Parse(
            write_json(answer), message, descriptor_pool=self._described.pool
        ).SerializeToString()
        return content


class _Handlers:
    """The handlers of calls, as the gRPC library looks them up."""

    def __init__(self, service: GrpcService) -> None:
        self._service = service

    def service(self, details: Any) -> Any:
        return self._service.handler(details.method)


def _as_json(message: Any) -> JSON:
    value: JSON = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return value
