"""Settings of calls, and which hosts these may reach."""

import json
import ssl
from base64 import b64encode
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.base.errors import CallFailed, UsageError
from swf_temporal.base.function_types import Callee
from swf_temporal.settings import credentials
from swf_temporal.settings.calls import Options, Settings, read_settings
from swf_temporal.settings.forms import Rate, SharedFolder
from swf_temporal.settings.network import Network, Tls, read_pattern

EVERYTHING = """
calls:
  baseUrl: https://all.example.com
  timeout: PT1M
  headers: {X-Team: orders}
  proxy: http://proxy.example.com:3128
  concurrency: 50
  rate: 100/s
  maxResponseBytes: 1 KB
  checkResponses: true
  retryOnClosedConnection: false
  sharedFolder: /srv/functions
functions:
  check-stock:
    baseUrl: http://stock:8080/api
    timeout: 5
    headers: {x-team: stock, X-Shelf: 7}
    proxy: ""
    rate: 5/10s
    sharedFolder: /srv/stock:/mnt/shared
    operation: shop.stock:check
services:
  orders.yaml: {baseUrl: http://orders:8080, timeout: 6, headers: {X-Shelf: 8, X-Orders: "yes"}, rate: 3/s}
  resize: {sharedFolder: "/srv/stock:/mnt/shared"}
hosts:
  api.example.com: {timeout: 7, concurrency: 2}
  "*.example.com": {timeout: 8, maxResponseBytes: 2000}
  api.example.com:8443: {timeout: 9}
  10.0.0.7: {tls: {verify: false}}
network:
  allow: ["*.example.com", stock, 10.0.0.0/8]
  deny: [bad.example.com]
modules: [shop, bank.cards]
scripts: true
"""


def configured(tmp_path: Path, text: str, **env: str) -> Settings:
    file = tmp_path / "swf.yaml"
    file.write_text(text, encoding="utf-8")
    return read_settings({"SWF_CONFIG": str(file), **env})


def test_an_empty_environment_gives_the_defaults() -> None:
    assert read_settings({"PATH": "/bin"}, local=True) == Settings(scripts=True)
    assert read_settings({}) != read_settings({}, local=True)
    assert not read_settings({}).scripts


def test_a_file_says_everything(tmp_path: Path) -> None:
    settings = configured(tmp_path, EVERYTHING)
    assert settings.base_url_for(Callee("check-stock")) == "http://stock:8080/api"
    assert settings.calls == Options(
        base_url="https://all.example.com", timeout=timedelta(minutes=1), headers={"X-Team": "orders"},
        proxy="http://proxy.example.com:3128", concurrency=50, rate=Rate(100), max_response_bytes=1000,
        check_responses=True, retry_on_closed_connection=False,
        shared_folder=SharedFolder("/srv/functions", "/srv/functions"),
    )  # fmt: skip
    assert settings.for_function("check-stock").rate == Rate(5, 10)
    assert settings.shared_folder_for(Callee("other", ("resize",))) == SharedFolder("/srv/stock", "/mnt/shared")
    assert settings.shared_folder_for(Callee("other")) == settings.calls.shared_folder
    assert settings.for_function("check-stock").operation == "shop.stock:check"
    assert settings.modules == ("shop", "bank.cards")
    assert settings.scripts
    assert [str(pattern.name) for pattern in settings.network.deny] == ["bad.example.com"]


def test_the_nearest_word_counts(tmp_path: Path) -> None:
    settings = configured(tmp_path, EVERYTHING)
    assert settings.options_for(Callee("check-stock"), "api.example.com").timeout == timedelta(seconds=5)
    orders = Callee("other", ("specs/orders.yaml", "orders.yaml", "orders"))
    assert settings.options_for(orders, "api.example.com").timeout == timedelta(seconds=6)
    assert settings.options_for(replace(orders, function="check-stock"), "stock").timeout == timedelta(seconds=5)
    assert settings.options_for(Callee("orders.yaml"), "example.org").timeout == timedelta(minutes=1)
    assert settings.options_for(Callee("other"), "api.example.com").timeout == timedelta(seconds=7)
    assert settings.options_for(Callee("other"), "API.example.com", 8443).timeout == timedelta(seconds=9)
    assert settings.options_for(Callee("other"), "b.example.com").timeout == timedelta(seconds=8)
    assert settings.options_for(Callee("other"), "example.org").timeout == timedelta(minutes=1)
    assert settings.options_for(None, "api.example.com").max_response_bytes == 2000
    assert Settings().options_for(Callee("other"), "example.org").timeout == timedelta(seconds=30)


def test_headers_of_all_places_are_sent(tmp_path: Path) -> None:
    settings = configured(tmp_path, EVERYTHING)
    assert settings.options_for(Callee("check-stock"), "stock").headers == {"x-team": "stock", "X-Shelf": "7"}
    assert settings.options_for(Callee("other"), "stock").headers == {"X-Team": "orders"}


def test_a_host_alone_may_go_unverified(tmp_path: Path) -> None:
    settings = configured(tmp_path, EVERYTHING)
    assert settings.options_for(Callee("other"), "10.0.0.7").tls.context().verify_mode == ssl.CERT_NONE
    assert settings.options_for(Callee("other"), "10.0.0.8").tls.context().verify_mode == ssl.CERT_REQUIRED
    for place in ("calls", "functions: {a", "functions: {b"):
        text = f"{place}: {{tls: {{verify: false}}}}" + "}" * place.count("{")
        with pytest.raises(UsageError, match="for single hosts only"):
            configured(tmp_path, text)


@pytest.mark.parametrize("pattern", ["*", "*.example.com", "127.0.0.0/8", "fd00::/8", "*:8443"])
def test_many_hosts_may_not_go_unverified(tmp_path: Path, pattern: str) -> None:
    """A pattern would turn verification off for all that it matches."""
    with pytest.raises(UsageError, match="leaves more than one host unverified") as refused:
        configured(tmp_path, f"hosts: {{'{pattern}': {{tls: {{verify: false}}}}}}")
    assert pattern in str(refused.value)


def test_no_proxy_is_a_choice(tmp_path: Path) -> None:
    settings = configured(tmp_path, EVERYTHING)
    assert settings.options_for(Callee("check-stock"), "stock").proxy == ""
    assert settings.options_for(Callee("other"), "stock").proxy == "http://proxy.example.com:3128"


def test_variables_say_it_too() -> None:
    settings = read_settings(
        {"SWF_BASE_URL": "https://all.example.com", "SWF_BASE_URL_CHECK_STOCK": "http://stock:8080/api",
         "SWF_TIMEOUT": "PT1M", "SWF_TIMEOUT_CHECK_STOCK": "5", "SWF_TIMEOUT_API_EXAMPLE_COM": "6",
         "SWF_HEADERS": "X-Team: orders\nX-Shelf: 7", "SWF_HEADERS_CHECK_STOCK": '{"X-Team": "stock"}',
         "SWF_PROXY_CHECK_STOCK": "http://proxy:3128", "SWF_RATE_CHECK_STOCK": "30/m", "SWF_CHECK_RESPONSES": "yes",
         "SWF_RETRY_ON_CLOSED_CONNECTION_CHECK_STOCK": "no", "SWF_SHARED_FOLDER_CHECK_STOCK": "/srv/stock:/mnt/shared",
         "SWF_OPERATION_CHECK_STOCK": "rest:POST:/check", "SWF_FUNCTION_MODULES": "shop, bank.cards",
         "SWF_SCRIPTS": "true", "SWF_ALLOW_HOSTS": "localhost, 10.0.0.0/8", "SWF_DENY_HOSTS": "10.0.0.1"}
    )  # fmt: skip

    assert settings.calls.base_url == "https://all.example.com"
    assert settings.base_url_for(Callee("check-stock")) == "http://stock:8080/api"
    stock = settings.options_for(Callee("check-stock"), "stock", 8080)
    assert (stock.timeout, stock.proxy) == (timedelta(seconds=5), "http://proxy:3128")
    assert stock.headers == {"X-Team": "stock", "X-Shelf": "7"}
    assert stock.check_responses
    assert not stock.retry_on_closed_connection
    assert settings.options_for(Callee("other"), "b").retry_on_closed_connection
    assert settings.options_for(Callee("other"), "api.example.com").timeout == timedelta(seconds=6)
    assert settings.for_function("check-stock").rate == Rate(30, 60)
    assert settings.for_function("check-stock").shared_folder == SharedFolder("/srv/stock", "/mnt/shared")
    assert settings.for_function("check-stock").operation == "rest:POST:/check"
    assert (settings.modules, settings.scripts) == (("shop", "bank.cards"), True)
    assert settings.network.allow == (read_pattern("localhost"), read_pattern("10.0.0.0/8"))
    assert settings.network.deny == (read_pattern("10.0.0.1"),)


def test_an_empty_variable_says_nothing() -> None:
    """Compose files hand on variables that nobody set. An empty proxy is none, an empty list of modules has none."""
    empty = {
        "SWF_BASE_URL": "", "SWF_TIMEOUT": " ", "SWF_HEADERS": "", "SWF_SCRIPTS": "", "SWF_CONFIG": "", "SWF_RATE": "",
    }  # fmt: skip
    assert read_settings(empty) == read_settings({})
    assert read_settings({"SWF_PROXY": ""}).calls.proxy == ""
    assert read_settings({"SWF_FUNCTION_MODULES": ""}).modules == ()


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    settings = configured(
        tmp_path, EVERYTHING, SWF_TIMEOUT_CHECK_STOCK="4", SWF_BASE_URL="http://b", SWF_SCRIPTS="no",
        SWF_ALLOW_HOSTS="a",
    )  # fmt: skip
    assert settings.options_for(Callee("check-stock"), "stock").timeout == timedelta(seconds=4)
    assert settings.options_for(Callee("check-stock"), "stock").headers["X-Shelf"] == "7"
    assert (settings.calls.base_url, settings.scripts) == ("http://b", False)
    assert settings.network.allow == (read_pattern("a"),)


async def test_servers_and_proxies_that_are_named_may_be_reached() -> None:
    """A base URL on this machine is a sidecar, and whoever sets it wants it called."""
    settings = read_settings(
        {"SWF_BASE_URL_STOCK": "http://127.0.0.1:9000/api", "SWF_PROXY": "http://u:p@[::1]:3128",
         "SWF_OPERATION_A": "rest:POST:http://127.0.0.1:9001/{a}", "SWF_OPERATION_B": "rest:http://127.0.0.1:9002",
         "SWF_OPERATION_C": "rest:GET:http://127.0.0.{c}:9003/"}
    )  # fmt: skip
    for port in (9000, 9001, 9002):
        assert await settings.network.allowed_addresses("127.0.0.1", port)
    with pytest.raises(CallFailed):
        await settings.network.allowed_addresses("127.0.0.1", 9003)
    assert await settings.network.allowed_addresses("::1", 3128)


def test_files_are_beside_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=str(tmp_path / "ca.pem")):
        configured(tmp_path, "calls: {tls: {ca: ca.pem}}")


def test_json_is_yaml(tmp_path: Path) -> None:
    assert configured(tmp_path, json.dumps({"calls": {"timeout": 3}})).calls.timeout == timedelta(seconds=3)


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert configured(tmp_path, "# nothing yet\n") == read_settings({})


@pytest.mark.parametrize(("name", "value"), [
    ("SWF_TIMEOUT", "soon"), ("SWF_TIMEOUT", "0"), ("SWF_TIMEOUT", "-1"), ("SWF_TIMEOUT", "nan"),
    ("SWF_TIMEOUT", "inf"), ("SWF_TIMEOUT", "PT0S"), ("SWF_MAX_RESPONSE_BYTES", "2 miles"),
    ("SWF_MAX_RESPONSE_BYTES", "0"), ("SWF_CONCURRENCY_STOCK", "many"), ("SWF_RATE", "100"), ("SWF_RATE", "0/s"),
    ("SWF_RATE", "5/0s"), ("SWF_HEADERS", "X-Team"), ("SWF_HEADERS", '{"X Team": "a"}'),
    ("SWF_HEADERS", '{"X-Team": ["a"]}'), ("SWF_HEADERS", '{"X-Team": '), ("SWF_PROXY", "socks5://proxy:1080"),
    ("SWF_CHECK_RESPONSES", "perhaps"), ("SWF_SHARED_FOLDER", "srv/functions"),
    ("SWF_SHARED_FOLDER_STOCK", "/srv/functions:mnt"), ("SWF_SCRIPTS", "perhaps"), ("SWF_ALLOW_HOSTS", "http://a"),
    ("SWF_TLS_CA", "no-such-file.pem"), ("SWF_BASE_URL", "localhost:8080"), ("SWF_BASE_URL", "ftp://files"),
    ("SWF_BASE_URL", "http://[::1"),
])  # fmt: skip
def test_a_variable_that_means_nothing_is_refused(name: str, value: str) -> None:
    """A mistake is told when the worker starts, by the name of the variable or of the file."""
    with pytest.raises(UsageError) as refused:
        read_settings({name: value})
    assert name in str(refused.value) or value in str(refused.value)


def test_what_may_be_secret_is_not_told() -> None:
    for name in ("SWF_HEADERS", "SWF_PROXY_STOCK"):
        with pytest.raises(UsageError) as refused:
            read_settings({name: "hunter2"})
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(("text", "told"), [
    ("calls: {timeot: 3}", "calls › timeot: there is no such option; did you mean 'timeout'?"),
    ("hosts: {a: {baseUrl: http://b}}", "hosts › a › baseUrl: there is no such option"),
    ("function: {}", "function: there is no such option; did you mean 'functions'?"),
    ("network: {allows: []}", "network › allows: there is no such option; did you mean 'allow'?"),
    ("functions: {stock: {timeout: soon}}", "functions › stock › timeout: it must be a number of seconds"),
    ("functions: {a: {operation: 'temporal:charge@shop'}}", "functions › a › operation: it must be a request such as"),
    ("functions: {a: {operation: 'rest:POST:'}}", "functions › a › operation: it must be a request such as"),
    ("functions: {a: {operation: 'knative:a'}}", "functions › a › operation: it must be a request such as"),
    ("calls: {operation: greet}", "calls › operation: an operation cannot apply to all functions"),
    ("calls: {baseUrl: stock}", "calls › baseUrl: it must be a URL"),
    ("hosts: {'http://a': {}}", "'http://a' is not a host"),
    ("network: {deny: ['a b']}", "'a b' is not a host"),
    ("[]", "the file: it must be an object"),
    ("calls: 5", "calls: it must be an object"),
    ("network: {allow: a}", "network › allow: it must be a list"),
    ("modules: [5]", "modules › 0: it must be a text"),
    ("scripts: perhaps", "scripts: it must be true or false"),
    ("calls: [", "is neither YAML nor JSON"),
])  # fmt: skip
def test_a_mistake_in_the_file_is_told_by_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        configured(tmp_path, text)
    assert told in str(refused.value)
    assert "swf.yaml" in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml cannot be read"):
        read_settings({"SWF_CONFIG": str(tmp_path / "none.yaml")})


def test_names_are_matched_as_variables_can_spell_them() -> None:
    settings = Settings(
        calls=Options(base_url="http://c"),
        functions={"CHECK_STOCK": Options(base_url="http://a")},
        services={"orders.json": Options(base_url="http://b")},
    )
    assert settings.base_url_for(Callee("check-stock", ("orders.json",))) == "http://a"
    assert settings.base_url_for(Callee("other", ("orders.json",))) == "http://b"
    assert settings.base_url_for(Callee("other")) == "http://c"
    assert settings.base_url_for(Callee("orders.json", ("check-stock",))) == "http://c", "a function is no service"
    assert Settings().base_url_for(Callee("other")) is None


def test_one_context_for_all_connections() -> None:
    assert Tls().context() is Tls().context()


LOGIN = b64encode(b"ada:s3cr:et").decode()


def test_a_header_of_credentials_is_one_with_and_without_its_scheme() -> None:
    headers = {"authorization": "Bearer t0k", "X-Api-Key": " k3y ", "X-Team": "orders", "Cookie": ""}
    assert list(credentials.in_headers(headers)) == ["Bearer t0k", "t0k", "k3y"]
    assert list(credentials.in_headers({"Authorization": f"Basic {LOGIN}"})) == [
        f"Basic {LOGIN}", LOGIN, "s3cr:et", LOGIN,
    ]  # fmt: skip
    assert list(credentials.in_headers({"Authorization": "Basic ?"})) == ["Basic ?", "?"]


def test_a_url_has_a_login() -> None:
    assert list(credentials.in_url("amqp://ada:s3cr%3Aet@host/queue")) == ["s3cr:et", LOGIN]
    assert list(credentials.in_url("https://host/path@2")) == []
    assert list(credentials.in_url("https://ada@host")) == []


def test_settings_have_credentials_for_all_for_functions_and_in_urls() -> None:
    settings = Settings(
        calls=Options(headers={"X-Api-Key": "all", "X-Team": "a"}, proxy="http://bob:tw0@proxy"),
        functions={"stock": Options(base_url="https://ada:0ne@stock", headers={"X-Api-Key": "all", "Session": "own"})},
    )
    assert settings.credentials[:2] == ["all", "own"]
    assert {"0ne", "tw0"} < set(settings.credentials)
    assert Settings().credentials == []


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
