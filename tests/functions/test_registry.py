"""How custom functions get their names."""

import pytest

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
