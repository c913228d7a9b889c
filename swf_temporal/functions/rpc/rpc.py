"""Calls methods of gRPC services. Section "Using Functions for RPC Service Invocations"."""

import asyncio
import base64
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from swf_temporal.base.accounting import json_size
from swf_temporal.base.data import JSON, kind_of, plain_numbers
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.grammar import with_article
from swf_temporal.functions.auth.auth import headers_for, with_named_tokens
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import is_web, locate
from swf_temporal.functions.documents.servers import no_server
from swf_temporal.functions.local_calls import check_local_host
from swf_temporal.functions.port import Described, Performer, Services
from swf_temporal.functions.rpc.channels import Channels, Target, library, target_of
from swf_temporal.functions.rpc.protos import (
    STREAM,
    FetchedProtos,
    Metadata,
    Protos,
    ProtoServices,
    Reflection,
    metadata_for_asking,
    metadata_of,
    taken_out,
)
from swf_temporal.functions.rpc.type import FORM, HOST, PORT, REFLECTION, SERVER_SCHEMES
from swf_temporal.settings.calls import Settings

_KNOWN: Final = "google.protobuf"
"""The package of the messages with a special representation in JSON."""
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?", re.ASCII)
_SHOWN: Final = 40
_TLS_PORT: Final = 443


def requests_of(method: MethodDescriptor, arguments: JSON, pool: DescriptorPool) -> list[Message]:
    """Return the messages for the arguments: for a stream, those of an array or one object, else one.

    Raises CallFailed.
    """
    if not method.client_streaming:
        return [_message(method, {} if arguments is None else arguments, pool)]
    if isinstance(arguments, dict) and list(arguments) == [STREAM] and _is_of_stream(method, arguments[STREAM]):
        arguments = arguments[STREAM]
    elif isinstance(arguments, dict):
        arguments = [arguments]
    if not isinstance(arguments, list):
        message = (
            f"the method '{method.name}' takes a stream: its arguments are an object, one '{method.input_type.name}', "
            f'or {{"{STREAM}": [...]}}, which has several'
        )
        raise permanent_failure("BadArguments", message)
    return [_message(method, item, pool) for item in arguments]


def _is_of_stream(method: MethodDescriptor, value: JSON) -> bool:
    """Return whether *value*, which stands alone under `requests`, is meant as the messages, and not as a field."""
    fields = {name for field in method.input_type.fields for name in (field.name, field.json_name)}
    return isinstance(value, list) or STREAM not in fields


def _message(method: MethodDescriptor, value: Any, pool: DescriptorPool) -> Message:
    wanted = method.input_type
    if not isinstance(value, dict) and wanted.file.package != _KNOWN:
        raise _bad(method, f"an object with its fields, and this is {with_article(kind_of(value))}")
    try:
        message = json_format.ParseDict(value, GetMessageClass(wanted)(), descriptor_pool=pool)
    except (json_format.Error, TypeError, ValueError, AttributeError) as error:
        # Values of the wrong type, such as an array instead of an object, cause errors within the library.
        raise _bad(method, str(error)) from error
    for path, text in _bytes_in(value, wanted, pool):
        if _BASE64.fullmatch(text) is None:  # the library ignores invalid characters
            raise _bad(method, f"the field '{path}' must be bytes, written in base64, and this is {text[:_SHOWN]!r}")
    lacking = message.FindInitializationErrors()  # type: ignore[attr-defined]  # public, but not in the stubs
    if lacking:
        raise _bad(method, f"the field '{lacking[0]}' is required, and is missing")
    return message


def _bad(method: MethodDescriptor, what: str) -> CallFailed:
    return permanent_failure(
        "BadArguments", f"the method '{method.name}' takes a '{method.input_type.full_name}': {what}"
    )


def _bytes_in(value: Any, kind: Descriptor, pool: DescriptorPool, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the base64 texts in *value*, which was read as a message of *kind*, each with its path."""
    if kind.full_name == f"{_KNOWN}.BytesValue":
        yield path or "value", str(value)
    if not isinstance(value, dict):
        return
    if kind.full_name == f"{_KNOWN}.Any":
        named = str(value.get("@type", "")).rpartition("/")[2]
        if named:
            inner = pool.FindMessageTypeByName(named)
            yield from _bytes_in(value.get("value") if inner.file.package == _KNOWN else value, inner, pool, path)
        return
    fields = {name: field for field in kind.fields for name in (field.name, field.json_name)}
    for name, item in value.items():
        if item is None or name not in fields:
            continue
        yield from _in_field(item, fields[name], pool, f"{path}.{name}".lstrip("."))


def _in_field(item: Any, field: FieldDescriptor, pool: DescriptorPool, path: str) -> Iterator[tuple[str, str]]:
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        value = kind.fields_by_name["value"]
        items, field, kind = list(item.items()), value, value.message_type
    else:
        items = list(enumerate(item)) if isinstance(item, list) else [("", item)]
    for key, each in items:
        place = f"{path}[{key}]" if key != "" else path
        if field.type == FieldDescriptor.TYPE_BYTES:
            yield place, str(each)
        elif kind is not None:
            yield from _bytes_in(each, kind, pool, place)


@dataclass(frozen=True, slots=True)
class _Operation:
    source: str
    """The proto file as the definition writes it, or `reflection:`, or a server's URL."""
    service: str
    method: str

    @property
    def is_reflected(self) -> bool:
        """Whether the server itself describes its messages."""
        return self.source == REFLECTION or self.source.startswith(SERVER_SCHEMES)


class Rpc(Performer):
    """Calls functions whose operation is `<proto file>#<service>#<method>`."""

    def __init__(self, services: Services) -> None:
        settings = self._settings = services.settings
        self._services = services
        self._channels = Channels(settings.network)
        self._protos = Protos()
        self._fetched = FetchedProtos(services.http, settings.document_lifetime)
        self._reflection = Reflection(settings.document_lifetime.total_seconds())

    async def perform(self, call: Call) -> JSON:
        """Return the server's answer: a message as an object, a stream as an array. Raises CallFailed."""
        return await with_named_tokens(call, self._services.tokens, self._call)

    async def look(self, call: Call) -> Described | None:
        """Return the method that the function names, by its proto file. Raises CallFailed."""
        operation = _Operation(*FORM.of(call.function))
        if operation.is_reflected:
            return None
        method = (await self._described(call, operation)).method(operation.service, operation.method)
        return Described({"procedure": f"{method.containing_service.full_name}/{method.name}"})

    async def aclose(self) -> None:
        """Close the connections kept open."""
        await self._channels.aclose()

    async def _call(self, call: Call) -> JSON:
        operation = _Operation(*FORM.of(call.function))
        failed = library("grpc").RpcError
        target = _target(self._settings, call, operation)
        check_local_host(self._settings, call.callee, target.host, target.port)
        what = f"{target}/{operation.service}/{operation.method}"
        # Before waiting for a turn: fetching a proto file from the same host has to wait for a turn itself.
        services = None if operation.is_reflected else await self._described(call, operation)
        async with self._services.limits.of_host(target.host, target.port):
            try:
                return await self._ask(call, operation, services, target, what)
            except failed as error:
                raise rpc_failure(error, what) from error

    async def _ask(
        self, call: Call, operation: _Operation, services: ProtoServices | None, target: Target, what: str
    ) -> JSON:
        """Return the server's answer. Without *services*, the server is asked for them, too."""
        options = self._settings.options_for(call.callee, target.host, target.port)
        clock = asyncio.get_running_loop().time
        end = clock() + options.timeout.total_seconds()
        headers, arguments = taken_out(call.arguments)
        metadata = metadata_of(call, headers, options.headers)
        channel = await self._channels.to(target, options)
        if services is None:
            asking = metadata_for_asking(call, options.headers)
            services = await self._reflection.load(channel, target, operation.service, asking, end - clock())
        method = services.method(operation.service, operation.method)
        requests = requests_of(method, arguments, services.pool)
        results: list[JSON] = []
        size = 0
        async with aclosing(_answers(channel, method, requests, metadata, end - clock())) as answers:
            async for answer in answers:
                result = _as_json(_read(method, answer, what), services.pool)
                size += max(len(answer), json_size(result) + 1)  # small messages are larger as JSON
                if size > options.max_response_bytes:
                    limit = options.max_response_bytes
                    raise permanent_failure(
                        "AnswerTooLarge", f"{what}: the answers are larger than {limit} bytes together"
                    )
                results.append(result)
        return results if method.server_streaming else results[0]

    async def _described(self, call: Call, operation: _Operation) -> ProtoServices:
        """Return the services in the operation's proto file."""
        name = _path(operation.source)
        location = locate(name, call.base)
        if is_web(location):
            references = call.function.auth_ref
            headers = headers_for(references.resource if references else None, call)
            return await self._fetched.load(name, location, headers)
        return await self._protos.load(name, location, call.base)


async def _answers(
    channel: Any, method: MethodDescriptor, requests: Sequence[Message], metadata: Metadata, timeout: float
) -> AsyncGenerator[bytes, None]:
    """Yield the server's answers. Stops the call if the caller does not read them all."""
    kind = "_".join("stream" if many else "unary" for many in (method.client_streaming, method.server_streaming))
    ask = getattr(channel, kind)(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=GetMessageClass(method.input_type).SerializeToString,
    )
    answering = ask(iter(requests) if method.client_streaming else requests[0], timeout=timeout, metadata=metadata)
    try:
        if method.server_streaming:
            async for answer in answering:
                yield answer
        else:
            yield await answering
    finally:
        answering.cancel()


def _read(method: MethodDescriptor, answer: bytes, what: str) -> Message:
    """Return an answer as a message. The library itself would only log an error, and return nothing."""
    try:
        return GetMessageClass(method.output_type).FromString(answer)
    except DecodeError as error:
        message = f"{what}: the answer is not a '{method.output_type.full_name}': {error}"
        raise CallFailed(message, code="MalformedAnswer") from error


def _path(source: str) -> str:
    """Return a proto file's path: the specification also allows `file://` before relative ones."""
    return unquote(source.removeprefix("file://")) if source.startswith("file://") else source


def _target(settings: Settings, call: Call, operation: _Operation) -> Target:
    """Return the server of the service: a configured one for the function, its file or its service takes precedence."""
    configured = settings.base_url_for(call.callee)
    if configured:
        return target_of(configured)
    if operation.source.startswith(SERVER_SCHEMES):
        return target_of(operation.source)
    host = call.function.metadata.get(HOST)
    if host is not None:
        return _target_at(call, host, call.function.metadata.get(PORT))
    raise no_server(call.callee.function, "a proto file does not name one")


def _target_at(call: Call, host: JSON, port: JSON) -> Target:
    """Return the server that the function's metadata name. Port 443, the default, is the one with TLS."""
    if not isinstance(host, str) or not isinstance(port, int | None) or isinstance(port, bool):
        message = f"function '{call.function.name}' has {host!r} as '{HOST}' and {port!r} as '{PORT}' in its metadata"
        raise permanent_failure("BadOperation", f"{message}; they must be a name and a whole number")
    return target_of(f"{'grpcs' if port in (None, _TLS_PORT) else 'grpc'}://{host}:{port or _TLS_PORT}")


def _as_json(message: Message, pool: DescriptorPool) -> JSON:
    result: JSON = json_format.MessageToDict(
        message,
        always_print_fields_with_no_presence=True,
        preserving_proto_field_name=True,
        descriptor_pool=pool,
    )
    return plain_numbers(result)  # all numbers of a Struct are doubles, so an id in a URL would be 7.0


_UNREACHED = ("failed to connect to all addresses", "DNS resolution failed", "empty address list")
_TOO_LATE = "Deadline Exceeded"
_TOO_LARGE = "CLIENT: Received message larger than max"


def rpc_failure(error: Any, what: str) -> CallFailed:
    """Return the fault for a `grpc.aio.AioRpcError`: its code is the status' name, or its number."""
    status, details = error.code(), error.details() or ""
    if _TOO_LARGE in details:
        return permanent_failure("AnswerTooLarge", f"{what}: the answer is too large: {details}")
    number, _ = status.value
    body: JSON = {"code": number, "message": details, "metadata": _readable(error.trailing_metadata() or ())}
    text = f"{what}{_said(status.name, details)}" + (f": {details}" if details else "")
    return CallFailed(text, code=status.name, status=number, body=body, cause=type(error).__name__)


def _said(status: str, details: str) -> str:
    """Return what happened: the library uses the same statuses for errors that it detects itself."""
    if status == "UNAVAILABLE" and details.startswith(_UNREACHED):
        return " cannot be reached"
    if status == "DEADLINE_EXCEEDED" and details == _TOO_LATE:
        return " did not answer in time"
    return f" answered {status}"


def _readable(metadata: Iterable[tuple[str, str | bytes]]) -> dict[str, JSON]:
    """Return metadata as JSON; binary values, whose names end in `-bin`, are written in base64."""
    return {key: base64.b64encode(value).decode() if isinstance(value, bytes) else value for key, value in metadata}
