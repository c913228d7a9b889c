"""What a call reaches, by the names under which the configuration and secrets speak of it."""

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.function_types import Callee, callee_of, secrets_for


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
