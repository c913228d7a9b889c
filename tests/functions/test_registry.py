"""How custom functions get their names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, UsageError
from swf_temporal.functions.call import Call, current_resource
from swf_temporal.functions.calling import Functions
from swf_temporal.functions.registry import Registry


def test_a_decorated_function_is_found_and_stays_itself() -> None:
    registry = Registry()

    @registry.custom("greet")
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    assert dict(registry) == {"greet": greet}
    assert greet("Ada") == "Hello, Ada!"


def test_a_name_is_given_once() -> None:
    registry = Registry()
    registry.custom("greet")(print)
    with pytest.raises(UsageError, match="greet"):
        registry.custom("greet")(repr)


class Soap:
    async def perform(self, call: Call) -> JSON:
        return call.arguments


def test_types_are_kept_apart_from_functions() -> None:
    """A class is made an object, an object is taken as it is, and both can have a function's name."""
    registry, soap = Registry(), Soap()
    assert registry.type("soap")(Soap) is Soap
    assert registry.type("suds")(soap) is soap
    registry.custom("soap")(print)
    assert registry.types["soap"] is Soap
    assert registry.types["suds"] is soap
    assert dict(registry) == {"soap": print}


class Blocking:
    def perform(self, call: Call) -> JSON:
        return call.arguments


@pytest.mark.parametrize(("name", "kind", "told"), [
    *((name, Soap, f"'{name}' is reserved") for name in ("rest", "custom", "asyncapi")),
    ("suds", Soap, "'suds' is already registered"),  # which of two is meant would depend on the order of imports
    ("soap", Blocking, "async def perform"), ("soap", object(), "async def perform"),
])  # fmt: skip
def test_what_cannot_be_a_type(name: str, kind: Any, told: str) -> None:
    registry = Registry()
    registry.type("suds")(Soap)
    with pytest.raises(UsageError, match=told):
        registry.type(name)(kind)


def test_registries_join() -> None:
    first, second = Registry(), Registry()
    first.custom("a")(print)
    second.custom("a")(repr)
    second.type("soap")(Soap)
    first.include(second)
    assert (dict(first), list(first.types)) == ({"a": repr}, ["soap"])


def test_a_function_has_its_own_name() -> None:
    registry = Registry()

    class Shop:
        def price(self, item: str) -> int:
            return len(item)

    @registry.custom
    def greet(name: str) -> str:
        return name

    @registry.custom()
    def part(name: str) -> str:
        return name

    registry.custom(Shop().price)

    assert list(registry) == ["greet", "part", "price"]
    assert greet("Ada") == "Ada"
    with pytest.raises(UsageError, match="has no name"):
        registry.custom(partial(greet, "Ada"))


async def test_resources_are_open_as_long_as_functions_are_called() -> None:
    registry, told = Registry(), list[str]()

    @registry.resource
    @asynccontextmanager
    async def pool() -> AsyncIterator[list[str]]:
        told.append("opened")
        yield told
        told.append("closed")

    @registry.custom
    def note(text: str) -> None:
        current_resource(pool).append(text)

    for text in ("first", "second"):
        functions = Functions(registry)
        await functions.open()
        await functions.call(Call(Function(name="note", type="custom"), {"text": text}))
        await functions.aclose()
    assert told == ["opened", "first", "closed", "opened", "second", "closed"]
    with pytest.raises(UsageError, match="the resource 'pool' is not open here"):
        current_resource(pool)
    with pytest.raises(CallFailed, match="'pool' is not open here"):
        await Functions(registry).call(Call(Function(name="note", type="custom"), {"text": "third"}))
