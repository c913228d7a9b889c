"""Proto files, here and at URLs: what they import, and when they are read again; and where gRPC servers are."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from shutil import copytree

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.rpc.channels import Target, endpoint_of, library, target_of
from swf_temporal.functions.rpc.protos import FetchedProtos, Protos, full_name_of
from swf_temporal.settings.calls import Settings, read_settings
from tests.failing import failing
from tests.functions.conftest import Service

PROTOS = Path(__file__).parents[1] / "protos"


ANNOTATED = """
    syntax = "proto3";
    import "google/api/annotations.proto";
    import "google/protobuf/empty.proto";
    message User { string name = 1; }
    service UserService {
      rpc AddUser(User) returns (google.protobuf.Empty) {
        option (google.api.http) = { post: "/api/v1/users" body: "*" };
      }
    }
"""


async def test_imports(tmp_path: Path) -> None:
    """From the definition's folder; the options by which a method is offered over HTTP need no files of one's own."""
    folder = Path(copytree(PROTOS, tmp_path / "protos"))
    (folder / "services").mkdir()
    moved = (folder / "users.proto").rename(folder / "services" / "users.proto")
    (tmp_path / "annotated.proto").write_text(ANNOTATED)
    for name, file, found in (
        ("services/users.proto", moved, "shop.people.Person"),
        ("annotated.proto", tmp_path / "annotated.proto", "User"),
    ):
        services = await Protos().load(name, str(file), str(folder))
        assert services.method("UserService", "AddUser").input_type.full_name == found


async def test_a_changed_import_is_read_again(tmp_path: Path) -> None:
    folder = Path(copytree(PROTOS, tmp_path / "protos"))
    protos, location = Protos(), str(folder / "users.proto")
    first = await protos.load("users.proto", location, None)
    again = await protos.load("users.proto", location, None)
    people = folder / "shared" / "people.proto"
    people.write_text(people.read_text().replace("full_name", "called"))
    changed = await protos.load("users.proto", location, None)
    assert again is first
    assert "called" in changed.method("UserService", "AddUser").input_type.fields_by_name


def test_services_of_one_name_in_two_packages() -> None:
    with failing("UnknownOperation", r"more than one service 'Users': a\.Users, b\.Users"):
        full_name_of("Users", ["a.Users", "b.Users"], "the file")
    assert full_name_of("b.Users", ["a.Users", "b.Users"], "the file") == "b.Users"


SERVICE = """
syntax = "proto3";
import "google/protobuf/empty.proto";
%s
service Users { rpc Add(google.protobuf.Empty) returns (google.protobuf.Empty); }
"""


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http(Settings())
    yield http
    await http.aclose()


def offers(service: Service, path: str, text: str) -> None:
    service.answers_with("GET", path, text.encode(), content_type="text/plain")


async def test_the_same_texts_are_compiled_once(service: Service, http: Http) -> None:
    protos = FetchedProtos(http, timedelta(0))
    offers(service, "/users.proto", SERVICE % "")
    first = await protos.load("users.proto", f"{service.url}/users.proto")
    again = await protos.load("users.proto", f"{service.url}/users.proto")
    offers(service, "/users.proto", SERVICE.replace("Add", "Remove") % "")
    changed = await protos.load("users.proto", f"{service.url}/users.proto")
    assert again is first
    assert len(service.requests) == 3
    assert set(changed.known["Users"].methods_by_name) == {"Remove"}


async def test_files_that_import_each_other(service: Service, http: Http) -> None:
    offers(
        service, "/a/users", SERVICE % '// import "x.proto";\n/* \nimport "y.proto";\n*/\nimport public "b/one.proto";'
    )
    offers(
        service,
        "/a/b/one.proto",
        'syntax = "proto3"; package one;\n import "b/two.proto"; message One { two.Two two = 1; }',
    )
    offers(service, "/a/b/two.proto", 'syntax = "proto3"; package two; message Two {}')
    services = await FetchedProtos(http, timedelta(hours=1)).load("users", f"{service.url}/a/users?v=1")
    assert list(services.known) == ["Users"]
    assert [request.path for request in service.requests] == ["/a/users", "/a/b/one.proto", "/a/b/two.proto"]


@pytest.mark.parametrize(("imports", "code", "status", "told"), [
    ('import "absent.proto";', "NoDocument", 404, "imports 'absent.proto', which cannot be fetched: GET "),
    ('import "../other.proto";', "BadDocument", None, "imports '../other.proto', which is not the name of a file"),
    ('import "//elsewhere.example/x.proto";', "BadDocument", None, "which is not the name of a file"),
    ("message A { Unknown b = 1; }", "BadDocument", None, '"Unknown" is not defined'),
])  # fmt: skip
async def test_what_cannot_be_had(
    service: Service, http: Http, imports: str, code: str, status: int | None, told: str
) -> None:
    offers(service, "/a/users.proto", SERVICE % imports)
    with pytest.raises(CallFailed) as caught:
        await FetchedProtos(http, timedelta(hours=1)).load("users.proto", f"{service.url}/a/users.proto")
    assert (caught.value.code, caught.value.status) == (code, status)
    assert caught.value.message.startswith("the proto file 'users.proto'")
    assert told in caught.value.message


@pytest.mark.parametrize(("url", "target"), [
    ("grpc://users:50051", Target("users", 50051)), ("grpcs://users", Target("users", 443, is_secure=True)),
    ("http://users/", Target("users", 80)), ("[::1]:50051", Target("[::1]", 50051)),
])  # fmt: skip
def test_where_servers_are(url: str, target: Target) -> None:
    assert target_of(url) == target


def test_servers_of_the_environment() -> None:
    settings = read_settings({"SWF_BASE_URL_USERS_PROTO": "grpcs://users:50051"})
    assert settings.base_url_for(Callee("ask", ("users.proto",))) == "grpcs://users:50051"


def test_what_cannot_be_reached() -> None:
    with failing("BadUrl", "grpc://host:port"):
        target_of("http://users/api")
    with failing("NotInstalled", r"pip install 'swf-temporal\[grpc\]'", retryable=False):
        library("grpc_that_nobody_has")


@pytest.mark.parametrize(("addresses", "read"), [
    (["10.0.0.2", "10.0.0.1"], "ipv4:10.0.0.1:99,10.0.0.2:99"),
    (["::1", "10.0.0.1"], "ipv6:[::1]:99,[::ffff:10.0.0.1]:99"),
])  # fmt: skip
def test_addresses_as_the_library_takes_them(addresses: list[str], read: str) -> None:
    assert endpoint_of(addresses, 99) == read
