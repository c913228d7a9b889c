"""Are hosts allowed as the operator writes them, and credentials read as meant?"""

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.text.fetching.resources import credentials_in, hosts_in, is_allowed, variable_name


@pytest.mark.parametrize(("pattern", "host", "port", "expected"), [
    ("example.com", "example.com", 443, True),
    ("example.com", "Example.COM", 80, True),
    ("example.com", "example.com", 8080, False),
    ("example.com:8080", "example.com", 8080, True),
    ("example.com:8080", "example.com", 443, False),
    ("example.com", "www.example.com", 443, False),
    ("example.com", "badexample.com", 443, False),
    ("*.example.com", "www.example.com", 443, True),
    ("*.example.com", "a.b.example.com", 443, True),
    ("*.example.com", "example.com", 443, False),
    ("*.example.com", "badexample.com", 443, False),
    ("*.example.com", "example.com.evil.org", 443, False),
    ("*.example.com:8443", "www.example.com", 8443, True),
    ("127.0.0.1:80", "127.0.0.1", 80, True),
    ("[::1]:8080", "::1", 8080, True),
    ("[::1]", "::1", 443, True),
])  # fmt: skip
def test_patterns(pattern: str, host: str, port: int, *, expected: bool) -> None:
    """A pattern allows one host or all below it, on the ordinary ports or on the one that it names."""
    assert is_allowed(host, port, hosts_in({"SWF_RESOURCE_HOSTS": pattern})) is expected


def test_lists_of_hosts() -> None:
    """Hosts stand in a list with commas; without it there are none."""
    assert hosts_in({"SWF_RESOURCE_HOSTS": " Example.com, ,*.example.org:81,"}) == ("example.com", "*.example.org:81")
    assert hosts_in({}) == ()


@pytest.mark.parametrize("text", ["*", "*.", "https://example.com", "example.com/defs", "ex*mple.com", "a b"])
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        hosts_in({"SWF_RESOURCE_HOSTS": text})
    assert refused.value.message == f"SWF_RESOURCE_HOSTS has {text!r}, which is not a host"


def test_names_in_variables() -> None:
    """A host has the name that a variable can have, with its port unless that is 443."""
    assert variable_name("docs.example.com", 443) == "DOCS_EXAMPLE_COM"
    assert variable_name("docs.example.com", 80) == "DOCS_EXAMPLE_COM_80"
    assert variable_name("127.0.0.1", 8080) == "127_0_0_1_8080"


def test_credentials() -> None:
    """Credentials are a user with a password, or a token."""
    found = credentials_in({"SWF_RESOURCE_AUTH_A_COM": "me:secret", "SWF_RESOURCE_AUTH_B_COM": "bearer abc", "X": "y"})
    assert found == {"A_COM": "Basic bWU6c2VjcmV0", "B_COM": "Bearer abc"}


def test_credentials_that_are_none() -> None:
    with pytest.raises(UsageError) as refused:
        credentials_in({"SWF_RESOURCE_AUTH_A_COM": "hunter2"})
    assert str(refused.value) == "SWF_RESOURCE_AUTH_A_COM is neither user:password nor 'Bearer' and a token"
