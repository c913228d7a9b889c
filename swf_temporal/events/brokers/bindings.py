"""The fields of a binding, whose values are constants or schemas that allow a single value."""

from collections.abc import Mapping
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure


def number(binding: Mapping[str, JSON], name: str, default: int) -> int:
    value = _constant(binding.get(name))
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name, value, "a whole number")
    return value


def switch(binding: Mapping[str, JSON], name: str, *, default: bool) -> bool:
    value = _constant(binding.get(name))
    if value is None:
        return default
    if not isinstance(value, bool):
        raise _wrong(name, value, "true or false")
    return value


def word(binding: Mapping[str, JSON], name: str) -> str | None:
    """Return the string in a field of *binding*, if there is one."""
    value = _constant(binding.get(name))
    if value is not None and not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return value


def words(binding: Mapping[str, JSON], name: str) -> list[str]:
    value = binding.get(name, [])
    if not isinstance(value, list):
        raise _wrong(name, value, "a list of texts")
    return [str(item) for item in value]


def part(binding: Mapping[str, JSON], name: str) -> Mapping[str, JSON]:
    """Return the object in a field of *binding*; empty if there is none."""
    value = binding.get(name, {})
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "an object")
    return value


def _constant(value: JSON) -> Any:
    if not isinstance(value, Mapping):
        return value
    allowed = value.get("enum")
    return value.get("const", allowed[0] if isinstance(allowed, list) and len(allowed) == 1 else value.get("default"))


def _wrong(name: str, value: JSON, wanted: str) -> Exception:
    return permanent_failure(
        "BadDocument", f"the AsyncAPI document's binding '{name}' is {value!r}; it must be {wanted}"
    )
