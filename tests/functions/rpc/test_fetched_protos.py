"""Proto files at URLs."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.rpc.protos import FetchedProtos
from swf_temporal.settings.calls import Settings
from tests.functions.conftest import Service

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
    """After its time a file is fetched again; only one that has changed is compiled again."""
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
