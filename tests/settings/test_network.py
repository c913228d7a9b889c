"""Which hosts calls may reach."""

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.settings.network import Network, read_pattern


def network(allow: str = "", deny: str = "", named: str = "", *, local: bool = False) -> Network:
    allowed, denied, servers = (tuple(map(read_pattern, texts.split())) for texts in (allow, deny, named))
    return Network(allow=allowed, deny=denied, named=servers, local=local)


async def verdict(one: Network, host: str, port: int = 443) -> str:
    try:
        return "ok" if await one.allowed_addresses(host, port) else "nothing"
    except CallFailed as fault:
        return fault.code


@pytest.mark.parametrize("host", [
    "127.0.0.1", "127.9.9.9", "127.1", "0x7f000001", "2130706433", "localhost", "LOCALHOST.", "::1", "[::1]", "0.0.0.0",  # noqa: S104
    "::", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "169.254.169.254", "::ffff:169.254.169.254",
    "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "100.100.100.200", "metadata.google.internal", "::127.0.0.1",
    "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "192.0.0.192", "fd20:ce::254", "metadata.goog",
])  # fmt: skip
async def test_this_machine_and_metadata_are_denied(host: str) -> None:
    """A worker does not call what only it may call, however that is spelled."""
    assert await verdict(network(), host) == "HostDenied"


async def test_who_tries_things_out_may_call_this_machine() -> None:
    assert await verdict(network(local=True), "localhost") == "ok"
    assert await verdict(network(local=True), "127.1") == "ok"
    assert await verdict(network(local=True), "169.254.169.254") == "HostDenied"


async def test_other_addresses_are_allowed_where_nothing_is_said() -> None:
    assert [await verdict(network(), host) for host in ("10.0.0.7", "192.168.1.1", "93.184.216.34", "fd00::7")] == [
        "ok"
    ] * 4


@pytest.mark.parametrize(("allow", "host", "port", "expected"), [
    ("localhost", "localhost", 8080, "ok"),
    ("localhost:8080", "localhost", 8080, "ok"),
    ("localhost:8080", "localhost", 8081, "HostDenied"),
    ("127.0.0.0/8", "127.0.0.1", 80, "ok"),
    ("127.0.0.0/8 ::1", "localhost", 80, "ok"),
    ("*", "localhost", 80, "HostDenied"),
    ("*", "10.0.0.1", 80, "ok"),
    ("[::1]:80", "::1", 80, "ok"),
    ("[::1]:80", "::1", 81, "HostDenied"),
    ("10.0.0.0/8", "10.1.2.3", 80, "ok"),
    ("10.0.0.0/8", "11.1.2.3", 80, "HostDenied"),
    ("api.example.com", "other.example.com", 80, "HostDenied"),
    ("169.254.169.254", "169.254.169.254", 80, "ok"),
])  # fmt: skip
async def test_a_list_of_what_is_allowed(allow: str, host: str, port: int, expected: str) -> None:
    """Nothing else is allowed then; this machine must be named by its address, or by its name without a wildcard."""
    assert await verdict(network(allow), host, port) == expected


@pytest.mark.parametrize(("name", "allow", "denied"), [
    ("api.example.com", "*.example.com", False), ("API.example.com.", "*.example.com", False),
    ("example.com", "*.example.com", True), ("badexample.com", "*.example.com", True),
    ("api.example.com", "10.0.0.0/8", False),
])  # fmt: skip
def test_names_alone(name: str, allow: str, denied: bool) -> None:  # noqa: FBT001 - an expected value
    """A name that no entry has is denied before it is looked up, unless it may stand for an address that one has."""
    if denied:
        with pytest.raises(CallFailed, match=r"SWF_ALLOW_HOSTS"):
            network(allow).check(name, 443)
    else:
        network(allow).check(name, 443)


async def test_what_is_denied_is_denied() -> None:
    assert await verdict(network("localhost", deny="127.0.0.0/8 ::1", named="localhost"), "localhost") == "HostDenied"
    assert await verdict(network(deny="localhost", local=True), "localhost") == "HostDenied"
    assert await verdict(network("10.0.0.0/8", deny="10.0.0.1"), "10.0.0.1") == "HostDenied"


async def test_what_the_operator_names_is_allowed() -> None:
    assert await verdict(network(named="localhost:9000"), "localhost", 9000) == "ok"
    assert await verdict(network(named="localhost:9000"), "localhost", 9001) == "HostDenied"
    assert await verdict(network(named="localhost:9000"), "10.0.0.1") == "ok"


async def test_a_name_that_nobody_has() -> None:
    assert await verdict(network(), "no.such.host.invalid") == "UnknownHost"


@pytest.mark.parametrize("text", ["", "http://example.com", "a b", "*.", "ex*mple.com", "10.0.0.0/33"])
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        read_pattern(text)


def test_a_proxy_that_may_stand_here() -> None:
    """Of a name that a proxy looks up the address is not seen; some names mean this machine wherever they are."""
    for name in ("localhost", "a.LOCALHOST."):
        with pytest.raises(CallFailed, match="are not allowed"):
            network().check(name, 80)
    network(allow="localhost").check("localhost", 80)
    network(allow="127.0.0.1").check("localhost", 80)
    network(local=True).check("localhost", 80)
    with pytest.raises(CallFailed, match="are not allowed"):
        network(deny="localhost", local=True).check("localhost", 80)


async def test_a_port_beyond_the_last() -> None:
    assert await verdict(network(), "nobody.invalid", 65536) == "BadUrl"
