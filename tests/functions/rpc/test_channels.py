"""Where gRPC servers are, and the libraries that reach them."""

import pytest

from swf_temporal.base.function_types import Callee
from swf_temporal.functions.rpc.channels import Target, endpoint_of, library, target_of
from swf_temporal.settings.calls import read_settings
from tests.failing import failing


@pytest.mark.parametrize(("url", "target"), [
    ("grpc://users:50051", Target("users", 50051)),
    ("grpcs://users", Target("users", 443, is_secure=True)),
    ("http://users/", Target("users", 80)),
    ("[::1]:50051", Target("[::1]", 50051)),
])  # fmt: skip
def test_where_servers_are(url: str, target: Target) -> None:
    assert target_of(url) == target


@pytest.mark.parametrize(("addresses", "read"), [
    (["10.0.0.2", "10.0.0.1"], "ipv4:10.0.0.1:99,10.0.0.2:99"),
    (["::1", "10.0.0.1"], "ipv6:[::1]:99,[::ffff:10.0.0.1]:99"),
])  # fmt: skip
def test_addresses_as_the_library_takes_them(addresses: list[str], read: str) -> None:
    """All addresses of a server are tried; those of both families can be written as one."""
    assert endpoint_of(addresses, 99) == read


def test_servers_of_the_environment() -> None:
    settings = read_settings({"SWF_BASE_URL_USERS_PROTO": "grpcs://users:50051"})
    assert settings.base_url_for(Callee("ask", ("users.proto",))) == "grpcs://users:50051"


def test_a_url_that_is_no_server() -> None:
    with failing("BadUrl", "grpc://host:port"):
        target_of("http://users/api")


def test_libraries_that_are_not_installed() -> None:
    with failing("NotInstalled", r"pip install 'swf-temporal\[grpc\]'", retryable=False):
        library("grpc_that_nobody_has")
