"""What a call reaches, by the names under which the configuration speaks of it, and whether it is local."""

from datetime import timedelta

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import Callee, callee_of, secrets_for
from swf_temporal.functions.local_calls import check_local_function, check_local_host
from swf_temporal.runtime.variables import NotLocal, locally
from swf_temporal.settings.calls import Settings, read_settings


@pytest.mark.parametrize(("kind", "operation", "services"), [
    ("rest", "specs/orders.yaml#place", ("specs/orders.yaml", "orders.yaml")),
    ("openapi", "https://shop.example/v1/orders.json?full#place",
     ("https://shop.example/v1/orders.json?full", "orders.json")),
    ("rest", "classpath:orders.yaml#place", ("classpath:orders.yaml", "orders.yaml")),
    ("rest", "https://[broken#place", ("https://[broken",)),
    ("rest", "rest:GET:https://shop.example", ()),
    ("asyncapi", "file://lights.yaml#dim", ("file://lights.yaml", "lights.yaml")),
    ("rpc", "protos/a.proto#org.acme.Greeter#Hello", ("protos/a.proto", "a.proto", "org.acme.Greeter", "Greeter")),
    ("rpc", "reflection:#Greeter#Hello", ("Greeter",)),
    ("graphql", "https://pets.example/graphql#query#pet", ("https://pets.example/graphql",)),
    ("odata", "Service.svc#People", ("Service.svc",)),
    ("direktiv", {"image": "hub:5000/resize:v1", "service": "resizing"},
     ("hub:5000/resize:v1", "hub:5000/resize", "resizing")),
    ("custom", "greet", ()),
    ("expression", ".a", ()),
    ("request", None, ()),
    ("of-my-own", "orders.yaml#place", ()),
])  # fmt: skip
def test_the_operation_names_the_service(kind: str, operation: JSON, services: tuple[str, ...]) -> None:
    assert callee_of(Function("f", kind, operation)) == Callee("f", services)


@pytest.mark.parametrize(("metadata", "services"), [
    ({"configuredAs": "eu"}, ("eu",)),
    ({"configKey": "blue"}, ("specs/a.yaml.blue", "a.yaml.blue")),
    ({"configuredAs": "eu", "configKey": "blue"}, ("eu.blue",)),
    ({"configuredAs": None}, ("specs/a.yaml", "a.yaml")),
])  # fmt: skip
def test_the_function_may_have_another_name_for_it(metadata: dict[str, JSON], services: tuple[str, ...]) -> None:
    """Then it has no other: what is said of the document is said of those who call it as that."""
    callee = callee_of(Function("f", "rest", "specs/a.yaml#send", metadata=metadata))
    assert callee.services == services
    assert secrets_for("login", callee) == (*(f"{one}.login" for one in services), "login")


HOST = "api.example.com"


def is_local(
    settings: Settings, *, asked: bool, kind: str = "rest", host: str | None = HOST, method: str | None = "POST"
) -> bool:
    """Tell whether a call of `price` at *host* is made locally, or without a host if it is None."""
    with locally(asked=asked):
        try:
            check_local_function(settings, Callee("price"), kind)
            if host is not None:
                check_local_host(settings, Callee("price"), host, 443, method=method)
        except NotLocal:
            return False
    return True


@pytest.mark.parametrize(("env", "wanted"), [
    ({}, (False, True)),
    ({"SWF_LOCAL_CALLS": "true"}, (True, True)),
    ({"SWF_LOCAL_CALLS": "false"}, (False, False)),
    ({"SWF_LOCAL_CALLS": "false", "SWF_TYPES_OF_LOCAL_CALLS": "openapi, rest"}, (True, True)),
    ({"SWF_TYPES_OF_LOCAL_CALLS": "openapi"}, (False, True)),
    ({"SWF_TYPES_OF_LOCAL_CALLS": "rest", "SWF_LOCAL_CALLS_API_EXAMPLE_COM": "false"}, (False, False)),
    ({"SWF_LOCAL_CALLS": "false", "SWF_LOCAL_CALLS_API_EXAMPLE_COM": "true"}, (True, True)),
    ({"SWF_LOCAL_CALLS_API_EXAMPLE_COM": "true", "SWF_LOCAL_CALLS_PRICE": "false"}, (False, False)),
    ({"SWF_LOCAL_CALLS_API_EXAMPLE_COM": "false", "SWF_LOCAL_CALLS_PRICE": "true"}, (True, True)),
    ({"SWF_LOCAL_CALLS": "true", "SWF_TIMEOUT_PRICE": "31"}, (False, False)),
])  # fmt: skip
def test_the_narrowest_setting_decides(env: dict[str, str], wanted: tuple[bool, bool]) -> None:
    settings = read_settings(env)
    assert (is_local(settings, asked=False), is_local(settings, asked=True)) == wanted


@pytest.mark.parametrize(("env", "methods"), [
    ({"SWF_LOCAL_CALLS": "safe"}, {"GET", "HEAD", "OPTIONS"}),
    ({"SWF_LOCAL_CALLS_PRICE": "safe"}, {"GET", "HEAD", "OPTIONS"}),
    ({"SWF_LOCAL_CALLS": "false", "SWF_LOCAL_CALLS_API_EXAMPLE_COM": "safe"}, {"GET", "HEAD", "OPTIONS"}),
    ({"SWF_LOCAL_CALLS": "safe", "SWF_LOCAL_CALLS_API_EXAMPLE_COM": "false"}, set()),
    ({"SWF_LOCAL_CALLS": "safe", "SWF_LOCAL_CALLS_PRICE": "true"},
     {"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", None}),
    ({"SWF_LOCAL_CALLS": "safe", "SWF_TIMEOUT_PRICE": "31"}, set()),
])  # fmt: skip
def test_calls_may_be_local_only_where_their_requests_change_nothing(env: dict[str, str], methods: set[str]) -> None:
    """A call over gRPC has no method that says so."""
    settings = read_settings(env)
    tried = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", None)
    assert {method for method in tried if is_local(settings, asked=False, method=method)} == methods
    assert settings.chooses_local_calls


def test_a_function_that_sends_no_request_is_not_known_to_change_nothing() -> None:
    settings = read_settings({"SWF_LOCAL_CALLS": "safe"})
    assert not is_local(settings, asked=True, kind="custom", host=None)


def test_a_function_without_a_host_needs_no_host_to_decide() -> None:
    """It is not local because some host's calls are."""
    settings = read_settings({"SWF_LOCAL_CALLS_API_EXAMPLE_COM": "true"})
    assert not is_local(settings, asked=False, kind="custom", host=None)
    assert is_local(settings, asked=True, kind="custom", host=None)


@pytest.mark.parametrize("env", [{"SWF_LOCAL_CALLS_PRICE": "true"}, {"SWF_TYPES_OF_LOCAL_CALLS": "rest"}])
def test_workflows_know_that_calls_may_be_local(env: dict[str, str]) -> None:
    """Only then do they ask for calls for which the definition does not ask."""
    assert read_settings(env).chooses_local_calls
    assert not read_settings({"SWF_LOCAL_CALLS": "false"}).chooses_local_calls


def test_ordinary_calls_are_not_asked_about() -> None:
    """Whatever is said of local calls does not keep an activity from making its call."""
    settings = Settings().replace(calls=Settings().calls.replace(local_calls=False, timeout=timedelta(hours=1)))
    check_local_function(settings, Callee("price"), "rest")
    check_local_host(settings, Callee("price"), HOST, 443)
