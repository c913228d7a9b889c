"""How custom functions get their names."""

import pytest

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call
from swf_temporal.functions.registry import Registry


def test_a_decorated_function_is_found_and_stays_itself() -> None:
    """Registering gives a name and changes nothing."""
    registry = Registry()

    @registry.custom("greet")
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    assert dict(registry) == {"greet": greet}
    assert greet("Ada") == "Hello, Ada!"


def test_a_name_is_given_once() -> None:
    """Two functions of one name are a mistake that would be hard to find later."""
    registry = Registry()
    registry.custom("greet")(print)

    with pytest.raises(ValueError, match="greet"):
        registry.custom("greet")(repr)


class Soap:
    """A type of functions."""

    async def perform(self, call: Call) -> JSON:
        """Return the arguments."""
        return call.arguments


def test_types_are_kept_apart_from_functions() -> None:
    """A class is made an object, an object is taken as it is, and both can have a function's name."""
    registry, soap = Registry(), Soap()

    assert registry.type("soap")(Soap) is Soap
    assert registry.type("suds")(soap) is soap
    registry.custom("soap")(print)

    assert isinstance(registry.types["soap"], Soap)
    assert registry.types["suds"] is soap
    assert dict(registry) == {"soap": print}


@pytest.mark.parametrize("name", ["rest", "custom", "asyncapi"])
def test_a_type_with_a_meaning_is_not_taken(name: str) -> None:
    """Nobody changes what the specification's own types mean."""
    with pytest.raises(ValueError, match=f"'{name}' has a meaning already"):
        Registry().type(name)(Soap)


def test_a_type_is_registered_once() -> None:
    """Which of two is meant would depend on the order of imports."""
    registry = Registry()
    registry.type("soap")(Soap)

    with pytest.raises(ValueError, match="'soap' already"):
        registry.type("soap")(Soap)


def test_what_cannot_perform_is_no_type() -> None:
    """It is told where it is registered, and not when it is called."""

    class Blocking:
        def perform(self, call: Call) -> JSON:
            return call.arguments

    for kind in (Blocking, object()):
        with pytest.raises(TypeError, match="async def perform"):
            Registry().type("soap")(kind)  # type: ignore[type-var]  # that is what is wrong


def test_registries_join() -> None:
    """What is included later wins."""
    first, second = Registry(), Registry()
    first.custom("a")(print)
    second.custom("a")(repr)
    second.type("soap")(Soap)

    first.include(second)

    assert (dict(first), list(first.types)) == ({"a": repr}, ["soap"])
