"""Services as proto files or servers describe them, and the metadata of their calls.

The compiler runs in a separate process: only that way its errors can be captured instead of printed.
"""

import asyncio
import base64
import binascii
import hashlib
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urljoin

from cachetools import LRUCache, TTLCache
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.auth.auth import headers_for
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import Headers, is_web
from swf_temporal.functions.http.client import Http, Request
from swf_temporal.functions.http.parameters import as_text
from swf_temporal.functions.rpc.channels import Target, library
from swf_temporal.text.suggestions import suggestion

_Digests = dict[Path, str]


@dataclass(frozen=True, slots=True)
class ProtoServices:
    """The services that a proto file, or a server, describes."""

    name: str
    """The name of the description in messages: `the proto file 'users.proto'`."""
    known: dict[str, ServiceDescriptor] = field(repr=False)
    """The services by their full names."""
    pool: DescriptorPool = field(repr=False)
    """All types that their messages may contain."""

    def method(self, service: str, method: str) -> MethodDescriptor:
        """Return the method of a service, which may be named without its package.

        Raises CallFailed, suggesting a similar one, if it does not exist.
        """
        full_name = full_name_of(service, self.known, self.name)
        methods: dict[str, MethodDescriptor] = dict(self.known[full_name].methods_by_name)
        if method not in methods:
            message = f"the service '{full_name}' has no method '{method}'{suggestion(method, methods)}"
            raise permanent_failure("UnknownOperation", message)
        return methods[method]


def full_name_of(service: str, known: Iterable[str], where: str) -> str:
    """Return the one of *known* that *service* refers to: itself, or the only one that ends in it."""
    names = list(known)
    found = [name for name in names if name == service] or [name for name in names if name.endswith(f".{service}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise permanent_failure(
            "UnknownOperation", f"{where} has more than one service '{service}': {', '.join(sorted(found))}"
        )
    short = [name.rpartition(".")[2] for name in names]
    message = f"{where} has no service '{service}'{suggestion(service, [*names, *short])}"
    raise permanent_failure("UnknownOperation", message)


def services_of(name: str, files: Iterable[FileDescriptorProto]) -> ProtoServices:
    """Return the services in *files*, each of which comes after those that it imports."""
    pool, known = DescriptorPool(), {}
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
        found = pool.FindFileByName(file.name)
        known.update({service.full_name: service for service in found.services_by_name.values()})
    return ProtoServices(name, known, pool)


class Protos:
    """Compiles proto files, and caches the results by their texts."""

    def __init__(self) -> None:
        self._compiled: dict[Path, tuple[_Digests, ProtoServices]] = {}

    async def load(self, name: str, location: str, base: str | None) -> ProtoServices:
        """Return the services in the proto file *name* at *location*, and in its imports.

        Imports are looked for beside the file, and then from *base*, the definition's folder. Raises CallFailed if the
        file does not exist or is not a proto file.
        """
        path, *others = _folders_of(location, base)
        digests, services = self._compiled.get(path, ({}, None))
        if services is not None and await asyncio.to_thread(_digests_of, digests) == digests:
            return services
        if not await asyncio.to_thread(path.is_file):
            message = f"the proto file '{name}' cannot be read from {location}: there is no such file"
            raise permanent_failure("NoDocument", message)
        folders = [path.parent, *others]
        files = await compiled(name, path, folders)
        services = services_of(f"the proto file '{name}'", files)
        sources = [folder / file.name for file in files for folder in folders]
        self._compiled[path] = (await asyncio.to_thread(_digests_of, sources), services)
        return services


def _folders_of(location: str, base: str | None) -> list[Path]:
    """Return the path of a proto file, and the other folder that it may import from, if there is one."""
    path = Path(location).absolute()
    folder = Path(base).absolute() if base and not is_web(base) else path.parent
    folder = folder.parent if folder.is_file() else folder
    return [path, folder] if folder != path.parent and folder.is_dir() else [path]


def _digests_of(paths: Iterable[Path]) -> _Digests:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}


def included() -> Iterator[Path]:
    """Yield the folders with the proto files that are always available: protobuf's own, and those of Google's APIs."""
    yield Path(library("grpc_tools").__file__).parent / "_proto"
    # Only the files are needed: their generated Python modules may not suit this version of protobuf.
    apis = find_spec("google.api")
    if apis is not None:
        yield from (Path(folder).parents[1] for folder in apis.submodule_search_locations or ())


async def compiled(name: str, path: Path, folders: Iterable[Path]) -> list[FileDescriptorProto]:
    """Return the descriptor of the proto file at *path*, after those of its imports.

    Imports are looked for in *folders*, one of which contains it. Raises CallFailed if it is not a proto file.
    """
    with TemporaryDirectory() as scratch:
        output = Path(scratch, "descriptors")
        compiler = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "grpc_tools.protoc", "--include_imports", f"--descriptor_set_out={output}"),
            *(f"--proto_path={folder}" for folder in (*folders, *included())),
            path.name,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, complaints = await compiler.communicate()
        finally:
            if compiler.returncode is None:
                compiler.kill()
                await compiler.wait()
        if compiler.returncode:
            reason = complaints.decode(errors="replace").strip()
            raise permanent_failure("BadDocument", f"the proto file '{name}' cannot be compiled: {reason}")
        return list(FileDescriptorSet.FromString(await asyncio.to_thread(output.read_bytes)).file)


_MAX_BYTES = 4 * 1024 * 1024
_MAX_FILES = 256
_MAX_CACHED = 64
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_IMPORT = re.compile(r"""^\s*import\s+(?:public\s+|weak\s+)?["']([^"']+)["']\s*;""", re.MULTILINE)
_NAME = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*")

_Sources: TypeAlias = dict[str, bytes]


class FetchedProtos:
    """Fetches proto files with their imports, and caches the compiled results by their texts."""

    def __init__(self, http: Http, lifetime: timedelta) -> None:
        self._http = http
        self._lifetime = lifetime.total_seconds()
        # Expired entries are kept: a text that was fetched again is only compiled if it has changed.
        self._known = LRUCache[tuple[str, Headers], tuple[float, _Sources, ProtoServices]](_MAX_CACHED)

    async def load(self, name: str, url: str, headers: Headers = ()) -> ProtoServices:
        """Return the services in the proto file *name* at *url*, and in its imports.

        Imports are looked for beside the file, on the same server. Raises CallFailed if the file cannot be fetched, or
        is not a proto file.
        """
        key = (url, headers)  # a caller without credentials must not see what others fetched
        expiry, sources, services = self._known.get(key, (0.0, {}, None))
        if services is None or time.monotonic() >= expiry:
            fetched = await self._fetched(name, url, headers)
            if services is None or fetched != sources:
                services = await _compiled(name, url, fetched)
            self._known[key] = time.monotonic() + self._lifetime, fetched, services
        return services

    async def _fetched(self, name: str, url: str, headers: Headers) -> _Sources:
        """Return the texts of the file and of its imports, by their import names."""
        first = _file_name(url)
        text, url = await self._http.download(Request("GET", url, headers), _MAX_BYTES)
        sources = {first: text}
        waiting = _imports(sources[first])
        while waiting:
            wanted = waiting.pop()
            if wanted in sources or any((folder / wanted).is_file() for folder in included()):
                continue
            if len(sources) == _MAX_FILES:
                raise permanent_failure("BadDocument", f"the proto file '{name}' imports more than {_MAX_FILES} others")
            sources[wanted] = await self._imported(name, url, wanted, headers)
            waiting += _imports(sources[wanted])
        return sources

    async def _imported(self, name: str, url: str, wanted: str, headers: Headers) -> bytes:
        if not _NAME.fullmatch(wanted):
            raise permanent_failure(
                "BadDocument", f"the proto file '{name}' imports '{wanted}', which is not the name of a file"
            )
        try:
            text, _ = await self._http.download(Request("GET", urljoin(url, quote(wanted)), headers), _MAX_BYTES)
        except CallFailed as fault:
            message = f"the proto file '{name}' imports '{wanted}', which cannot be fetched: {fault.message}"
            raise CallFailed(message, code=fault.code, status=fault.status, retryable=fault.retryable) from fault
        return text


def _file_name(url: str) -> str:
    name = url.partition("?")[0].rpartition("/")[2]
    return name if _NAME.fullmatch(name) else "service.proto"


def _imports(source: bytes) -> list[str]:
    return _IMPORT.findall(_COMMENT.sub("", source.decode(errors="replace")))


async def _compiled(name: str, url: str, sources: _Sources) -> ProtoServices:
    with TemporaryDirectory() as folder:
        await asyncio.to_thread(_write, Path(folder), sources)
        files = await compiled(name, Path(folder, _file_name(url)), [Path(folder)])
    return services_of(f"the proto file '{name}'", files)


def _write(folder: Path, sources: _Sources) -> None:
    for name, source in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source)


Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]

STREAM: Final = "requests"
"""The key of an array of requests beside metadata in the arguments."""
_PREFIX: Final = "HEADER_"
_METADATA_NAME = re.compile(r"(?!grpc-)[0-9a-z_.-]+")
_BINARY = "-bin"


def taken_out(arguments: JSON) -> tuple[Sequence[tuple[str, JSON]], JSON]:
    """Return the metadata in *arguments*, whose names begin with `HEADER_`, and the other arguments: the request."""
    if not isinstance(arguments, dict):
        return (), arguments
    headers = [(name.removeprefix(_PREFIX), value) for name, value in arguments.items() if name.startswith(_PREFIX)]
    return headers, {name: value for name, value in arguments.items() if not name.startswith(_PREFIX)}


def metadata_of(call: Call, headers: Iterable[tuple[str, JSON]], configured: Mapping[str, str]) -> Metadata:
    """Return the metadata of a call: the definition's *headers* first, then credentials, then those *configured*.

    Raises CallFailed for metadata that cannot be sent.
    """
    references = call.function.auth_ref
    found: dict[str, str | bytes] = {}
    for name, value in headers:
        if value is not None:
            _add(found, name, as_text(value))
    for name, text in headers_for(references.invocation if references else None, call):
        _add(found, name, text)
    if call.key_in_headers is not None:
        _add(found, "idempotency-key", call.key_in_headers)
    for name, text in configured.items():
        _add(found, name, text)
    return list(found.items())


def metadata_for_asking(call: Call, configured: Mapping[str, str]) -> Metadata:
    """Return the metadata for server reflection, which goes to the same server as the call."""
    references = call.function.auth_ref
    named = (references.resource or references.invocation) if references else None
    found: dict[str, str | bytes] = {}
    for name, text in (*headers_for(named, call), *configured.items()):
        _add(found, name, text)
    return list(found.items())


def _add(found: dict[str, str | bytes], name: str, text: str) -> None:
    key = name.lower()
    if key in found:
        return
    if not _METADATA_NAME.fullmatch(key):
        raise permanent_failure("BadArguments", f"'{name}' cannot be the name of metadata in gRPC")
    if key.endswith(_BINARY):
        found[key] = _bytes(name, text)
    elif text.isascii() and text.isprintable():
        found[key] = text
    else:
        raise permanent_failure(
            "BadArguments", f"the metadata '{name}' would contain a character that gRPC cannot send"
        )


def _bytes(name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise permanent_failure(
            "BadArguments", f"the metadata '{name}' must be bytes, written in base64: {error}"
        ) from error


_MAX_SERVICES = 1024
_PATHS = tuple(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo" for version in ("v1", "v1alpha"))
"""The paths of both versions, with the same messages. New servers may only have the first, old ones the second."""


class Reflection:
    """Fetches descriptions of services from servers, and caches them."""

    def __init__(self, lifetime: float) -> None:
        self._cached: TTLCache[tuple[Target, str, tuple[tuple[str, str | bytes], ...]], ProtoServices]
        self._cached = TTLCache(_MAX_SERVICES, lifetime)

    async def load(
        self, channel: Any, target: Target, service: str, metadata: Metadata, timeout: float
    ) -> ProtoServices:
        """Return the service that the server behind *channel* describes, with all types of its messages."""
        key = (target, service, tuple(metadata))  # a caller without credentials must not see what others fetched
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
                # The client reports INTERNAL if a server refused the stream before the request was written.
                if error.code() is not grpc.StatusCode.INTERNAL or is_last:
                    raise
    message = (
        f"the server {target} does not describe its services: it has no server reflection; "
        "name a proto file instead, as in 'service.proto#Service#Method'"
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
