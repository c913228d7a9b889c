"""Services as a gRPC server itself describes them, by server reflection."""

from collections.abc import Iterator
from typing import Any

from cachetools import TTLCache
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.rpc.channels import Target, library
from swf_temporal.functions.rpc.metadata import Metadata
from swf_temporal.functions.rpc.protos import ProtoServices, full_name_of, services_of

_MAX_SERVICES = 1024
_PATHS = tuple(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo" for version in ("v1", "v1alpha"))
"""The messages of both versions are the same. New servers may have the first alone, and old ones the second."""


class Reflection:
    """Asks servers about services, and takes what they said as true for a while."""

    def __init__(self, lifetime: float) -> None:
        self._cached: TTLCache[tuple[Target, str, tuple[tuple[str, str | bytes], ...]], ProtoServices]
        self._cached = TTLCache(_MAX_SERVICES, lifetime)

    async def load(
        self, channel: Any, target: Target, service: str, metadata: Metadata, timeout: float
    ) -> ProtoServices:
        """Return the service that the server behind *channel* describes, with all that its messages hold."""
        key = (target, service, tuple(metadata))  # a caller without credentials is not shown what others were
        try:
            return self._cached[key]
        except KeyError:
            files = await _asked(channel, target, service, metadata, timeout)
            services = self._cached[key] = services_of(f"the server {target}", _in_order(files))
            return services


async def _asked(
    channel: Any, target: Target, service: str, metadata: Metadata, timeout: float
) -> dict[str, FileDescriptorProto]:
    grpc = library("grpc")
    for path in _PATHS:
        for is_last in (False, True):
            try:
                return await _described(channel, path, target, service, metadata, timeout)
            except grpc.RpcError as error:
                if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                    break
                # The client says INTERNAL where a server refused the stream before the question was written.
                if error.code() is not grpc.StatusCode.INTERNAL or is_last:
                    raise
    message = (
        f"the server {target} does not describe its services: it has no server reflection; "
        "name a proto file in place of it, as in 'service.proto#Service#Method'"
    )
    raise permanent_failure("NoDocument", message)


async def _described(
    channel: Any, path: str, target: Target, service: str, metadata: Metadata, timeout: float
) -> dict[str, FileDescriptorProto]:
    messages = library("grpc_reflection.v1alpha.reflection_pb2")
    request = messages.ServerReflectionRequest
    asking = channel.stream_stream(
        path,
        request_serializer=request.SerializeToString,
        response_deserializer=messages.ServerReflectionResponse.FromString,
    )(metadata=metadata, timeout=timeout)
    try:
        listed = await _answer(asking, request(list_services=""))
        names = [entry.name for entry in listed.list_services_response.service]
        full_name = full_name_of(service, names, f"the server {target}")
        files = _files(await _answer(asking, request(file_containing_symbol=full_name)))
        while missing := {name for file in files.values() for name in file.dependency} - files.keys():
            files |= _files(await _answer(asking, request(file_by_filename=min(missing))))
        return files
    finally:
        asking.cancel()


async def _answer(asking: Any, request: Any) -> Any:
    await asking.write(request)
    answer = await asking.read()
    if not hasattr(answer, "error_response"):
        raise CallFailed("the server ended its description of its services early", code="MalformedAnswer")
    if answer.HasField("error_response"):
        raise CallFailed(f"the server cannot describe it: {answer.error_response.error_message}", code="NoDocument")
    return answer


def _files(answer: Any) -> dict[str, FileDescriptorProto]:
    texts = answer.file_descriptor_response.file_descriptor_proto
    return {file.name: file for file in map(FileDescriptorProto.FromString, texts)}


def _in_order(files: dict[str, FileDescriptorProto]) -> Iterator[FileDescriptorProto]:
    """Yield each file after those that it imports."""
    waiting = dict(files)
    while waiting:
        ready = [name for name, file in waiting.items() if not waiting.keys() & set(file.dependency)]
        if not ready:
            raise CallFailed("the server describes files that import each other in a cycle", code="MalformedAnswer")
        for name in ready:
            yield waiting.pop(name)
