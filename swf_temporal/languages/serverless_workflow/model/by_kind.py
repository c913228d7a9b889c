"""Nodes of one definition, by their kinds."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from swf_temporal.languages.serverless_workflow.model.node import Node

_Kind = TypeVar("_Kind", bound=Node)


class NodesByKind:
    """Nodes, each with the words that tell an author which one it is, such as `action 'charge' of state 'Pay'`."""

    def __init__(self, located: Iterable[tuple[Node, str]]) -> None:
        """Sort nodes by their kinds. Many rules ask for the same ones: what each gets is worked out here, once."""
        self._by_class: dict[type[Node], list[tuple[Node, str]]] = {}
        for one in located:
            self._by_class.setdefault(type(one[0]), []).append(one)
        self._by_kind: dict[type, list[tuple[Any, str]]] = {}
        for of, found in self._by_class.items():
            for kind in of.__mro__:
                self._by_kind.setdefault(kind, []).extend(found)

    def all(self) -> Iterator[tuple[Node, str]]:
        """Yield every node, kind by kind."""
        for found in self._by_class.values():
            yield from found

    def each(self, kind: type[_Kind]) -> Iterator[tuple[_Kind, str]]:
        """Yield every node of *kind*, or of a kind derived from it, with the words for where it is."""
        return iter(self._by_kind.get(kind, ()))
