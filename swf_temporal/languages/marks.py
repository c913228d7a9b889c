"""Names in a text, for editors: where states, functions, events and the like are defined and referred to.

They are found in the document alone, so also in a definition that cannot run yet. A language lists the keys that have
names as values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from swf_temporal.base.errors import Position
from swf_temporal.text.origin import Array, Object


class Kind(StrEnum):
    """The kind of thing that a name refers to."""

    STATE = "state"
    FUNCTION = "function"
    EVENT = "event"
    ERROR = "error"
    RETRY = "retry"
    AUTH = "auth"


_FREE: Final = frozenset({"data", "metadata", "arguments", "parameters", "input", "constants", "extensions", "log"})
"""Keys whose values are free-form."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A name in a text."""

    kind: Kind
    name: str
    position: Position
    """Its position, with its quotes."""
    defines: bool = False
    """Whether this is the definition."""


def in_order(marks: Iterator[Mark]) -> list[Mark]:
    """Return *marks* in the order of the text, each once."""
    return sorted(set(marks), key=lambda mark: (mark.position.line, mark.position.column))


@dataclass(frozen=True, slots=True)
class NameKeys:
    """The keys that have names as values."""

    defining: Mapping[str, Kind]
    """Keys of lists whose elements have names."""
    referring: Mapping[str, Kind]
    """Keys whose value is a name, or a list of names."""
    at: Mapping[tuple[str, ...], Kind] = field(default_factory=dict)
    """Paths from the top of the document at which a name is referred to."""
    free: frozenset[str] = _FREE
    """Keys whose values are free-form."""

    def kind_of(self, key: str) -> Kind | None:
        """Return the kind of the names that *key* refers to; None if it refers to none."""
        return self.referring.get(key) or next((kind for path, kind in self.at.items() if path[-1] == key), None)

    def marks(self, root: Object) -> list[Mark]:
        """Return the names in a document."""
        return in_order(iter([*self._in(root), *self._at_places(root)]))

    def _in(self, node: Any) -> Iterator[Mark]:
        if isinstance(node, Object):
            for key, value in node.items():
                if key in self.defining and isinstance(value, Array):
                    yield from _defined(self.defining[key], value)
                elif key in self.referring:
                    yield from referred(self.referring[key], node, key)
                if key not in self.free:
                    yield from self._in(value)
        elif isinstance(node, Array):
            for one in node:
                yield from self._in(one)

    def _at_places(self, root: Object) -> Iterator[Mark]:
        for (*path, key), kind in self.at.items():
            node: Any = root
            for step in path:
                node = node.get(step) if isinstance(node, Object) else None
            if isinstance(node, Object) and isinstance(node.get(key), str):
                yield from referred(kind, node, key)


def _defined(kind: Kind, elements: Array) -> Iterator[Mark]:
    for one in elements:
        if isinstance(one, Object):
            key = "name" if "name" in one else "id"
            if isinstance(one.get(key), str):
                yield Mark(kind, one[key], one.where.value(key), defines=True)


def referred(kind: Kind, node: Object, key: str) -> Iterator[Mark]:
    """Yield the names that the value of *key* in *node* refers to."""
    value = node[key]
    if isinstance(value, str):
        yield Mark(kind, value, node.where.value(key))
    elif isinstance(value, Array):
        yield from (
            Mark(kind, name, place)
            for name, place in zip(value, value.positions, strict=False)
            if isinstance(name, str)
        )
