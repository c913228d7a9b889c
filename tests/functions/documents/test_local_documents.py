"""What files on this machine say of functions, before anything is called."""

import json
import socket
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.documents.documents import locate
from swf_temporal.functions.documents.local_documents import file_named
from swf_temporal.functions.rpc import protos
from swf_temporal.settings.calls import Settings
from swf_temporal.text.fetching.resources import Resources
from tests.failing import failing, fault_of
from tests.functions.conftest import Calling, Service

HERE = Path(__file__).parents[1]
DOCUMENTS, PROTOS = HERE / "data", HERE / "protos"


@pytest.fixture
def functions(calling: Calling) -> Functions:
    return calling()


def named(operation: Any, kind: str = "rest") -> Function:
    return Function(name="f", type=kind, operation=operation)


@pytest.mark.parametrize("base", ["/defs", "defs", None, "file:///defs"])
@pytest.mark.parametrize(
    "name", ["api.json", "specs/api.json", "/abs/a%20b.json", "file:///abs/a%20b.json", "file://a"]
)
def test_a_file_is_where_a_call_would_look_for_it(name: str, base: str | None) -> None:
    assert file_named(named(f"{name}#check"), base) == Path(locate(name, base))


@pytest.mark.parametrize(("kind", "operation"), [
    ("rest", "https://example.com/api.json#check"),
    ("rest", "rest:GET:/a#b"),
    ("rest", {"uri": "/a"}),
    ("rest", "check"),
    ("rest", "#check"),
    ("rpc", "users.proto#List"),
    ("rpc", "reflection:#Users#List"),
    ("rpc", "grpc://example.com:1#Users#List"),
    ("graphql", "api.json#query#pet"),
    ("soap", "api.json#check"),
    ("custom", None),
])  # fmt: skip
async def test_functions_that_no_file_describes(functions: Functions, kind: str, operation: Any) -> None:
    assert file_named(named(operation, kind), "/defs") is None
    assert await functions.prepare(named(operation, kind), "/defs") is None


@pytest.mark.parametrize(("operation", "kind", "folder", "described"), [
    ("shop-3.0.yaml#getOrder", "rest", DOCUMENTS, {"method": "GET", "path": "/orders/{id}"}),
    ("streetlightsapi.yaml#onLightMeasured", "asyncapi", DOCUMENTS, {"sendsTo": "light/measured"}),
    ("users.proto#UserService#AddUser", "rpc", PROTOS, {"procedure": "shop.users.UserService/AddUser"}),
])  # fmt: skip
async def test_what_documents_say(
    functions: Functions, operation: str, kind: str, folder: Path, described: dict[str, str]
) -> None:
    found = await functions.prepare(named(operation, kind), str(folder))
    assert found is not None
    assert found.address.items() >= described.items()


@pytest.mark.parametrize(("kind", "operation", "code", "told"), [
    ("rest", "data/shop.yaml#getOrder", "NoDocument", "cannot be read from .*data/shop.yaml: No such"),
    ("rest", "data/shop-3.0.yaml#getOder", "UnknownOperation", "no operation 'getOder'; did you mean 'getOrder'"),
    ("rest", "protos/users.proto#getOrder", "BadDocument", "'protos/users.proto'"),
    ("rest", "data/streetlightsapi.yaml#onLightMeasured", "BadDocument", "is not an OpenAPI document"),
    ("asyncapi", "data/shop-3.0.yaml#getOrder", "BadDocument", "is not an AsyncAPI document"),
    ("asyncapi", "data/streetlightsapi.yaml#onLight", "UnknownOperation", "did you mean 'onLightMeasured'"),
    ("rpc", "protos/user.proto#UserService#AddUser", "NoDocument", "there is no such file"),
    ("rpc", "protos/broken.proto#UserService#AddUser", "BadDocument", "cannot be compiled: .*broken.proto:4"),
    ("rpc", "protos/users.proto#UserServce#AddUser", "UnknownOperation", "did you mean 'UserService'"),
    ("rpc", "protos/users.proto#UserService#AdUser", "UnknownOperation", "did you mean 'AddUser'"),
])  # fmt: skip
async def test_what_is_not_there(functions: Functions, kind: str, operation: str, code: str, told: str) -> None:
    with failing(code, told):
        await functions.prepare(named(operation, kind), str(HERE))


async def test_without_the_libraries_of_grpc(functions: Functions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proto file that cannot be compiled here is told by another code than one that is wrong."""
    monkeypatch.setitem(sys.modules, "grpc_tools", None)  # as if it were not installed
    with failing("NotInstalled"):
        await functions.prepare(named("users.proto#UserService#AddUser", "rpc"), str(PROTOS))


async def test_nothing_is_fetched(calling: Calling, service: Service, tmp_path: Path) -> None:
    paths = {"/a": {"$ref": f"{service.url}/paths.json#/a"}}
    (tmp_path / "api.json").write_text(json.dumps({"openapi": "3.0.0", "paths": paths}))
    functions = calling(settings=Settings(resources=Resources(hosts=(service.url.removeprefix("http://"),))))
    assert await functions.prepare(named("api.json#check"), str(tmp_path)) is None
    assert file_named(named("api.json#check"), f"{service.url}/defs/a.yaml") is None
    assert service.requests == []


async def test_a_proto_file_is_compiled_once(calling: Calling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compiled before the first call is used by it, until a text changes."""
    listens_no_more = socket.create_server(("127.0.0.1", 0))
    server = f"grpc://127.0.0.1:{listens_no_more.getsockname()[1]}"
    listens_no_more.close()
    compiled: list[str] = []
    compile_really = protos.compiled

    async def counted(name: str, *rest: Any) -> Any:
        compiled.append(name)
        return await compile_really(name, *rest)

    monkeypatch.setattr(protos, "compiled", counted)
    folder = Path(copytree(PROTOS, tmp_path / "protos"))
    functions, add_user = calling(at=server), named("users.proto#UserService#AddUser", "rpc")
    await functions.prepare(add_user, str(folder))
    await functions.prepare(named("users.proto#UserService#Rename", "rpc"), str(folder))
    await fault_of(functions.call(Call(add_user, {}, base=str(folder))), "UNAVAILABLE")
    once = list(compiled)
    shared = folder / "shared" / "people.proto"
    shared.write_text(shared.read_text() + "\n// changed\n")
    await functions.prepare(add_user, str(folder))
    assert once == ["users.proto"]
    assert compiled == ["users.proto", "users.proto"]
