"""Data that knows its positions in the text."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from swf_temporal.base.errors import InvalidDefinition, Position, Problem
from swf_temporal.base.strict_json import finite, write_json
from swf_temporal.text.origin import Where

LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The line endings of YAML and Python."""

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")

MAX_DEPTH = 100
"""The nesting limit of a definition: deeper ones are accidents or attacks."""


class UnreadableText(InvalidDefinition):
    """A text is neither YAML nor JSON, or contains no definition."""

    def __init__(self, problem: Problem, *, perhaps_yaml: bool = False) -> None:
        super().__init__([problem])
        self.problem = problem
        self.perhaps_yaml = perhaps_yaml
        """Whether the cause is invalid in JSON but valid in YAML, such as a key without quotes."""


class Object(dict[str, Any]):
    """An object that knows the positions of itself, its keys and their values."""

    __slots__ = ("where",)

    def __init__(self, position: Position) -> None:
        super().__init__()
        self.where = Where(position, {})

    def put(self, key: str, value: Any, places: tuple[Position, Position]) -> None:
        """Set *key*, written at the first of *places*, to *value*, written at the second."""
        self[key] = value
        self.where.keys[key] = places

    def take(self, key: str) -> tuple[Any, tuple[Position, Position]]:
        """Remove *key*; return its value and the positions of both: those of the object if they were not written."""
        return self.pop(key), self.where.keys.pop(key, (self.where.position, self.where.position))

    def rename(self, old: str, new: str) -> None:
        """Rename the key *old* to *new*, keeping its position."""
        self[new] = self.pop(old)
        if old in self.where.keys:
            self.where.keys[new] = self.where.keys.pop(old)


class Array(list[Any]):
    """A list that knows the positions of its elements."""

    __slots__ = ("positions",)

    def __init__(self, items: Sequence[Any] = (), positions: Sequence[Position] = ()) -> None:
        super().__init__(items)
        self.positions = list(positions)


def objects_in(items: Any) -> list[Object]:
    """Return the objects in the list *items*; none if it is not a list."""
    return [item for item in items if isinstance(item, Object)] if isinstance(items, list) else []


class WrittenFloat(float):
    """A number in a different notation than Python's. It keeps its text, for places that expect one, as in 1.10."""

    text: str

    def __str__(self) -> str:
        return self.text


def number_of(text: str) -> float:
    """Return *text* as a number. Raises NotJSON."""
    number = finite(text)
    if repr(number) == text or not JSON_NUMBER.fullmatch(text):
        return number
    written = WrittenFloat(number)
    written.text = text
    return written


def written(value: Any) -> str:
    """Return *value* as JSON, with numbers as they were written."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_json(key)}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return value.text if isinstance(value, WrittenFloat) else write_json(value)


def plain(value: Any) -> Any:
    """Return *value* as plain JSON without positions."""
    if isinstance(value, WrittenFloat):
        return float(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def with_floats(value: Any, convert: Callable[[float], Any]) -> Any:
    """Replace each float in *value* by the result of *convert*, in place, and return *value*."""
    if isinstance(value, float):
        return convert(value)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        value[key] = with_floats(item, convert)
    return value


def duplicate_key(key: str, first: Position, again: Position) -> tuple[str, str, Position, str]:
    """Return code, message, position and hint of a key that is written twice in one object."""
    hint = f"first at line {first.line}, column {first.column}"
    return "duplicate-key", f"the key {key!r} is written twice", again, hint
