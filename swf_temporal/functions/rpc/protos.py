"""Services as proto files describe them.

The compiler runs in a process of its own: only so its complaints can be told, and not just printed.
"""

import asyncio
import hashlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.documents.documents import is_web
from swf_temporal.functions.rpc.channels import library
from swf_temporal.text.suggestions import suggestion

_Digests = dict[Path, str]


@dataclass(frozen=True, slots=True)
class ProtoServices:
    """The services that a proto file, or a server, describes."""

    name: str
    """As an error calls the description: `the proto file 'users.proto'`."""
    known: dict[str, ServiceDescriptor] = field(repr=False)
    """The services by their full names."""
    pool: DescriptorPool = field(repr=False)
    """Every type that their messages may hold."""

    def method(self, service: str, method: str) -> MethodDescriptor:
        """Return the method of a service, which may be named without its package.

        Raises CallFailed, naming a near one, if there is none.
        """
        full_name = full_name_of(service, self.known, self.name)
        methods: dict[str, MethodDescriptor] = dict(self.known[full_name].methods_by_name)
        if method not in methods:
            message = f"the service '{full_name}' has no method '{method}'{suggestion(method, methods)}"
            raise permanent_failure("UnknownOperation", message)
        return methods[method]


def full_name_of(service: str, known: Iterable[str], where: str) -> str:
    """Return the one of *known* that *service* means: itself, or the only one that ends in it."""
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
    """Compiles proto files, and compiles the same texts only once."""

    def __init__(self) -> None:
        self._compiled: dict[Path, tuple[_Digests, ProtoServices]] = {}

    async def load(self, name: str, location: str, base: str | None) -> ProtoServices:
        """Return the services in the proto file *name*, which lies at *location*, and in what it imports.

        Imports are looked for beside the file, and then from *base*, the definition's folder, on. Raises
        CallFailed if the file is not there or is not a proto file.
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
    """Return the path of a proto file, and the folder besides its own that it may import from, if there is one."""
    path = Path(location).absolute()
    folder = Path(base).absolute() if base and not is_web(base) else path.parent
    folder = folder.parent if folder.is_file() else folder
    return [path, folder] if folder != path.parent and folder.is_dir() else [path]


def _digests_of(paths: Iterable[Path]) -> _Digests:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}


def included() -> Iterator[Path]:
    """Yield the folders with the proto files that are always there: those of protobuf itself, and of Google's APIs."""
    yield Path(library("grpc_tools").__file__).parent / "_proto"
    # The files alone are needed: what was made of them for Python may not suit this version of protobuf.
    apis = find_spec("google.api")
    if apis is not None:
        yield from (Path(folder).parents[1] for folder in apis.submodule_search_locations or ())


async def compiled(name: str, path: Path, folders: Iterable[Path]) -> list[FileDescriptorProto]:
    """Return what the proto file at *path* says, and before it each file that it imports.

    Imports are looked for in *folders*, one of which it lies in. Raises CallFailed if it is not a proto file.
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
